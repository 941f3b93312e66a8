"""Plans: the steps that bring a tenant to what files declare, their effects on people, and how they are applied."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from lakehold.access.decisions.what_if import AccessEffects
from lakehold.access.facts import tables
from lakehold.access.facts.records import Add, Change, Edge, Grant, Remove
from lakehold.access.model.errors import quote_excerpt
from lakehold.access.session import AccessSession
from lakehold.access_as_code import diff, steps
from lakehold.access_as_code.desired_state import DesiredState
from lakehold.access_as_code.file_format import IdMapping, TimeSpan
from lakehold.access_as_code.name_claims import DryRunNames
from lakehold.access_as_code.parser import ProblemList, error_at
from lakehold.access_as_code.steps import Create, Delete, MakeChange, Rename, Step
from lakehold.access_as_code.tenant_state import EntryMetadata, TenantState, load_current_state, merge_states
from lakehold.catalog.resource_metadata import without_managed
from lakehold.kit.clock import Moment
from lakehold.kit.database import TenantRows
from lakehold.kit.errors import ConflictError, InvalidInputError

_FORMAT = 1
_BATCH = 500
_MAX_LOSSES = 10


@dataclass(frozen=True, slots=True)
class ChangePlan:
    """Steps in an order in which they can be taken, for one state of the tenant and of the files."""

    tenant: str
    seq: int
    """The number of the tenant's last change when the plan was made."""
    digest: str
    """Of the files that it was made from."""
    steps: tuple[Step, ...]
    metadata: Mapping[str, EntryMetadata] = field(default_factory=dict)
    """The desired metadata by id, of those entries whose metadata differs now."""
    effects: AccessEffects | None = None
    """Who wins and loses what; None in a plan that was kept as JSON."""
    names: Mapping[str, str] = field(default_factory=dict)
    """What that which is spoken of is called."""
    kinds: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    keep: bool = False
    """Whether what the files do not name stays."""
    refusals: tuple[str, ...] = ()
    """What stands against applying it: every right that the applier lacks."""
    applier_losses: tuple[str, ...] = ()
    """What the applier would lose by it."""
    missing_credentials: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The names of secrets to be entered again afterwards, by id."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        return not self.steps and not self.metadata

    def losses(self, member: str) -> tuple[str, ...]:
        """Return what a member loses by the plan besides what is deleted, in words."""
        lost: dict[str, list[str]] = {}
        for effect in self.effects.lost_by(member) if self.effects else ():
            if effect.resource not in self.deleted:
                lost.setdefault(effect.resource, []).append(effect.action)
        ends = [
            f"{step.change.fact.role} of {step.change.fact.resource}, {TimeSpan(None, step.until)}"
            for step in self.steps
            if isinstance(step, MakeChange) and isinstance(step.change, Add) and isinstance(step.change.fact, Grant)
            if step.change.fact.subject == member and step.until is not None
        ]
        gone = ["membership in this tenant"] if member in self.deleted else []
        first = sorted(lost, key=lambda uid: (uid != self.tenant, uid))[:_MAX_LOSSES]
        return (*gone, *ends, *(f"{', '.join(lost[uid])} on {self.names.get(uid, uid)}" for uid in first))

    @property
    def deleted(self) -> frozenset[str]:
        """The ids of what is deleted."""
        return frozenset(step.uid for step in self.steps if isinstance(step, Delete))

    @property
    def later(self) -> int:
        """The number of facts that begin later, and are not among the effects."""
        return sum(isinstance(step, MakeChange) and step.since is not None for step in self.steps)


def make_plan(
    session: AccessSession,
    desired: DesiredState,
    metadata: Mapping[str, EntryMetadata] | None = None,
    *,
    keep: bool = False,
) -> ChangePlan:
    """Compare the tenant with the files, and order the changes. With `keep`, what the files do not name stays."""
    if not desired.is_whole and not keep:
        raise InvalidInputError(
            "These files have no section `tenant:`, so they do not describe a whole tenant.",
            "Begin with `lakehold export`: what files leave out is deleted. Or keep it, with --keep.",
        )
    current = load_current_state(session, metadata)
    target = merge_states(current, desired.state, session.at) if keep else desired.state
    ids = session.read_view(lambda view: IdMapping.from_view(view, session.tenant))
    _refuse_used_ids(session, current, target, ids)
    bundles = list(diff.find_changes(current, target, ids, session.at))
    ordered, effects = session.read_view(
        lambda view: steps.order_steps(view, bundles, DryRunNames(session.names, view).take)
    )
    entries = {**current.entries, **target.entries}
    return ChangePlan(
        tenant=ids.tenant,
        seq=session.seq,
        digest=desired.digest,
        steps=tuple(ordered),
        metadata={ids.uid(ref): found for ref, found in _metadata_changes(current, target)},
        effects=effects,
        names={ids.uid(ref): entry.name for ref, entry in entries.items()},
        kinds={ids.uid(ref): entry.kind for ref, entry in entries.items()},
        notes=tuple(
            f"The model {name} is not in the files and stays: models are replaced, never removed."
            for name in diff.models_to_keep(current, target)
        ),
        keep=keep,
    )


def _metadata_changes(current: TenantState, desired: TenantState) -> Iterator[tuple[str, EntryMetadata]]:
    for ref, entry in desired.entries.items():
        before = current.metadata.get(ref, EntryMetadata())
        after = desired.metadata.get(ref, EntryMetadata())
        if ref in current.entries:
            after = _with_what_stays(entry.kind, before, after)
        if ref in current.metadata and ref in current.entries and before.service != after.service:
            was = "a service account" if before.service else "a person"
            message = f"{quote_excerpt(ref)} is {was} in the tenant."
            raise error_at(entry.place, message, "This cannot be changed: create a new member.")
        if not before.is_same(after):
            yield ref, after


def _with_what_stays(kind: str, before: EntryMetadata, after: EntryMetadata) -> EntryMetadata:
    """Return the desired metadata of an existing entry with all that files cannot take away: its address, its secrets,
    its authors, the starters of its schedules, and the settings that only the platform sets.
    """
    managed = before.settings.keys() - without_managed(kind, before.settings).keys()
    settings = without_managed(kind, after.settings) | {name: before.settings[name] for name in managed}
    starters = {uid: each["starter"] for uid, each in before.schedules.items() if "starter" in each}
    return replace(
        after,
        email=after.email or before.email,
        settings=settings,
        authors=before.authors,
        schedules={
            uid: {**({"starter": starters[uid]} if uid in starters else {}), **each}
            for uid, each in after.schedules.items()
        },
        credentials=tuple(sorted({*before.credentials, *after.credentials})),
    )


def _refuse_used_ids(session: AccessSession, current: TenantState, desired: TenantState, ids: IdMapping) -> None:
    """Refuse new entries with the id of a deleted one."""
    new = {ids.uid(ref): entry for ref, entry in desired.entries.items() if ref not in current.entries}
    problems, uids = ProblemList(), list(new)
    # past the access filter: only whether an id was ever used is read, of ids that the principal named
    resources = TenantRows(session.transaction, session.tenant, tables.resource)
    column = resources.table.c.uid
    for start in range(0, len(uids), _BATCH):
        for uid in resources.select(column.in_(uids[start : start + _BATCH]), columns=(column,)).scalars():
            message = f"the id {quote_excerpt(uid)} belonged to a deleted entry."
            problems.add(new[uid].place, message, "Choose another; ids are never used twice.")
    problems.raise_any()


def dump_plan(plan: ChangePlan) -> str:
    """Return the plan as JSON text, with its effects for people."""
    data = {
        "format": _FORMAT,
        "tenant": plan.tenant,
        "seq": plan.seq,
        "digest": plan.digest,
        "steps": [steps.to_json(step) for step in plan.steps],
        "told": {uid: found.to_json() for uid, found in plan.metadata.items()},
        "notes": list(plan.notes),
        "keep": plan.keep,
        "effects": [
            {name: getattr(group, name) for name in ("gained", "action", "kind", "members", "resources", "pairs")}
            for group in (plan.effects.groups if plan.effects else ())
        ],
        "refusals": list(plan.refusals),
        "applier_losses": list(plan.applier_losses),
        "missing_credentials": {uid: list(names) for uid, names in plan.missing_credentials.items()},
    }
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def load_plan(text: str) -> ChangePlan:
    """Return the plan of a JSON text."""
    try:
        data = json.loads(text)
        if data["format"] != _FORMAT:
            raise InvalidInputError("This plan is of another version of Lakehold.", "Plan again.")
        return ChangePlan(
            tenant=str(data["tenant"]),
            seq=int(data["seq"]),
            digest=str(data["digest"]),
            steps=tuple(steps.from_json(step) for step in data["steps"]),
            metadata={
                str(uid): replace(EntryMetadata(**found), credentials=tuple(found.get("credentials", ())))
                for uid, found in data["told"].items()
            },
            notes=tuple(map(str, data["notes"])),
            keep=data.get("keep") is True,
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidInputError("This is not a plan.", "Create one with `lakehold plan`.") from error


_AGAIN = "Create a new plan, check it, and apply it."


class ChangeWriter(Protocol):
    """The target of a plan: checks the right to each change, makes it, and audits it."""

    @property
    def session(self) -> AccessSession:
        """The transaction."""

    def create(
        self,
        kind: str,
        name: str,
        *,
        uid: str | None = None,
        edges: Mapping[str, str | Sequence[str]] | None = None,
        attributes: Mapping[str, str | bool] | None = None,
    ) -> str:
        """Create a resource."""

    def make(self, change: Change, *, since: Moment | None = None, until: Moment | None = None) -> None:
        """Make a change of facts or models."""

    def rename(self, uid: str, name: str) -> None:
        """Rename a resource."""

    def delete(self, uid: str) -> None:
        """Delete a resource and end every fact about it."""


def apply_plan(
    ctx: ChangeWriter,
    plan: ChangePlan,
    desired: DesiredState | None = None,
    *,
    applier: str = "",
    before_last: Callable[[], None] | None = None,
) -> None:
    """Take every step, or raise and leave the rollback to the caller.

    With the files, it is also refused when they are not those of the plan, and when in the end the tenant differs
    from them. The metadata of the plan is for the caller to set, in `before_last`: after that come the steps that take
    something from the applier, who could not take the others any more.
    """
    refuse_outdated(ctx.session, plan, desired)
    last = [step for step in plan.steps if _takes_from(step, applier)]
    for step in plan.steps:
        if step not in last:
            _take_step(ctx, step)
    if before_last is not None:
        before_last()
    for step in last:
        _take_step(ctx, step)
    if desired is not None:
        left = make_plan(ctx.session, desired, keep=plan.keep).steps
        if left:
            raise ConflictError(f"{len(left)} steps were taken without effect; nothing was changed.", _AGAIN)


def _takes_from(step: Step, member: str) -> bool:
    match step:
        case MakeChange(Remove(Grant(subject) | Edge(_, subject))) | Delete(_, subject, _):
            return subject == member
        case _:
            return False


def refuse_outdated(session: AccessSession, plan: ChangePlan, desired: DesiredState | None) -> None:
    """Refuse a plan of another tenant, of another state of it, or of other files."""
    tenant = session.read_view(lambda view: view.uid(session.tenant))
    if tenant != plan.tenant:
        raise ConflictError(f"This plan is for the tenant {plan.tenant!r}.", "Apply it there.")
    if session.seq != plan.seq:
        message = f"The tenant has changed since the plan was made: it was at {plan.seq} and is at {session.seq}."
        raise ConflictError(message, _AGAIN)
    if desired is not None and desired.digest != plan.digest:
        raise ConflictError("The files have changed since the plan was made.", _AGAIN)


def _take_step(ctx: ChangeWriter, step: Step) -> None:
    match step:
        case Create(kind, uid, name, edges, attributes):
            ctx.create(kind, name, uid=uid, edges=edges, attributes=attributes)
        case Rename(uid, name, _):
            ctx.rename(uid, name)
        case Delete(_, uid, _):
            ctx.delete(uid)
        case MakeChange(change, since, until):
            at = ctx.session.at
            if until is not None and until <= at:
                return  # it would be over already
            ctx.make(change, since=None if since is not None and since <= at else since, until=until)
