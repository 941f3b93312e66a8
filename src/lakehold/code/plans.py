"""What would have to be done so that a tenant becomes what files say, and what that would do to people."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import sqlalchemy as sa

from lakehold.access.decisions.what_if import AccessEffects
from lakehold.access.facts import tables
from lakehold.access.model.errors import SourceLocation, quote_excerpt
from lakehold.access.session import AccessSession
from lakehold.code import differences, steps
from lakehold.code.company import Company
from lakehold.code.declared import Declared
from lakehold.code.present import present
from lakehold.code.problems import Problems, wrong
from lakehold.code.refs import Ids
from lakehold.code.steps import Make, Step
from lakehold.code.told import Told
from lakehold.code.trial import in_order
from lakehold.kit.errors import InvalidInputError

_FORMAT = 1
_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Plan:
    """Steps in an order in which they can be made, for one tenant as it is and files as they are."""

    tenant: str
    seq: int
    """The number of the tenant's last change when the plan was made."""
    digest: str
    """Of the files that it was made from."""
    steps: tuple[Step, ...]
    told: Mapping[str, Told] = field(default_factory=dict)
    """What is to be told beside the facts, by id, of all of which something else is told now."""
    effects: AccessEffects | None = None
    """Who wins and loses what; None in a plan that was kept as JSON."""
    names: Mapping[str, str] = field(default_factory=dict)
    """What that which is spoken of is called."""
    kinds: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        return not self.steps and not self.told

    @property
    def later(self) -> int:
        """How many facts begin later, and are not among the effects."""
        return sum(isinstance(step, Make) and step.since is not None for step in self.steps)


def plan(session: AccessSession, declared: Declared, told: Mapping[str, Told] | None = None) -> Plan:
    """Compare, and put the changes in order. What is told beside the facts of the tenant is given by id."""
    if not declared.is_whole:
        raise InvalidInputError(
            "These files have no section `tenant:`, so they do not tell of a whole company.",
            "Begin with `lakehold export`: what files leave out is deleted.",
        )
    there = present(session, told)
    ids = session.read_view(lambda view: Ids.of(view, session.tenant))
    _refuse_used_ids(session, there, declared.company, ids)
    bundles = list(differences.bundles(there, declared.company, ids, session.at))
    ordered, effects = session.read_view(lambda view: in_order(view, bundles))
    everything = {**there.things, **declared.company.things}
    return Plan(
        tenant=ids.tenant,
        seq=session.seq,
        digest=declared.digest,
        steps=tuple(ordered),
        told={ids.uid(ref): found for ref, found in _told(there, declared.company)},
        effects=effects,
        names={ids.uid(ref): thing.name for ref, thing in everything.items()},
        kinds={ids.uid(ref): thing.kind for ref, thing in everything.items()},
        notes=tuple(
            f"The model {name} is not in the files and stays: models are replaced, never taken away."
            for name in differences.staying(there, declared.company)
        ),
    )


def _told(there: Company, declared: Company) -> Iterator[tuple[str, Told]]:
    """Of whom or what something else is to be told."""
    for ref, thing in declared.things.items():
        before = there.told.get(ref, Told())
        after = declared.told.get(ref, Told()).over(before)
        if ref in there.told and ref in there.things and before.service != after.service:
            was = "a service account" if before.service else "a person"
            message = f"{quote_excerpt(ref)} is {was} in the tenant."
            raise wrong(
                thing.place or SourceLocation("", 0), message, "One never becomes the other: make a new member."
            )
        if not before.same(after):
            yield ref, after


def _refuse_used_ids(session: AccessSession, there: Company, declared: Company, ids: Ids) -> None:
    """An id is never used twice, not even after a deletion."""
    new = {ids.uid(ref): thing for ref, thing in declared.things.items() if ref not in there.things}
    problems = Problems()
    for uid in _used(session, new):
        problems.add(
            new[uid].place or SourceLocation("", 0),
            f"the id {quote_excerpt(uid)} belonged to something that was deleted.",
            "Choose another; ids are never used twice.",
        )
    problems.raise_any()


def _used(session: AccessSession, uids: Iterable[str]) -> Iterable[str]:
    # past the access filter: only whether an id was ever used is asked, of ids that the asker named
    wanted, table = list(uids), tables.resource
    for start in range(0, len(wanted), _AT_ONCE):
        query = sa.select(table.c.uid).where(
            table.c.tenant_id == session.tenant, table.c.uid.in_(wanted[start : start + _AT_ONCE])
        )
        yield from session.transaction.connection.execute(query).scalars()


# Plans that are kept


def dumps(kept: Plan) -> str:
    """The plan as JSON: what is to be done, and for people what it does."""
    data = {
        "format": _FORMAT,
        "tenant": kept.tenant,
        "seq": kept.seq,
        "digest": kept.digest,
        "steps": [steps.to_json(step) for step in kept.steps],
        "told": {uid: found.to_json() for uid, found in kept.told.items()},
        "notes": list(kept.notes),
        "effects": effects_json(kept.effects),
    }
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def effects_json(effects: AccessEffects | None) -> list[dict[str, object]]:
    """Groups of effects as JSON can hold them."""
    return [
        {
            "gained": group.gained,
            "action": group.action,
            "kind": group.kind,
            "members": group.members,
            "resources": group.resources,
            "pairs": group.pairs,
        }
        for group in (effects.groups if effects else ())
    ]


def loads(text: str) -> Plan:
    """The plan that was kept."""
    try:
        data = json.loads(text)
        if data["format"] != _FORMAT:
            raise InvalidInputError("This plan is of another version of Lakehold.", "Plan again.")
        return Plan(
            tenant=str(data["tenant"]),
            seq=int(data["seq"]),
            digest=str(data["digest"]),
            steps=tuple(steps.from_json(step) for step in data["steps"]),
            told={str(uid): Told(**found) for uid, found in data["told"].items()},
            names={step["uid"]: step["name"] for step in data["steps"] if step.get("name") and step.get("uid")},
            kinds={step["uid"]: step["kind"] for step in data["steps"] if step.get("kind") and step.get("uid")},
            notes=tuple(map(str, data["notes"])),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidInputError("This is no plan.", "Make one with `lakehold plan`.") from error
