"""A company as files tell it: what there is, what is so from when until when, and its models. Files and tenants are
both brought into this form, so that they can be compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from lakehold import workspaces
from lakehold.access.facts.records import Attribute, Edge, Fact, Grant
from lakehold.access.facts.view import ALL_MEMBERS
from lakehold.access.model.errors import SourceLocation
from lakehold.access.model.policy import GROUP, MEMBER, Policy
from lakehold.code.times import Span
from lakehold.code.told import Told
from lakehold.kit.clock import FOREVER, Moment

SUBJECTS = (MEMBER, GROUP, ALL_MEMBERS)


@dataclass(frozen=True, slots=True)
class Thing:
    """Something that exists."""

    ref: str
    kind: str
    name: str
    place: SourceLocation | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Held:
    """A fact with the span in which it holds."""

    fact: Fact
    span: Span
    place: SourceLocation | None = field(default=None, compare=False)


@dataclass(slots=True)
class Company:
    """All of a tenant, named as files name it."""

    policy: Policy
    models: Mapping[str, str]
    """The models that are not those that come with Lakehold, as texts."""
    things: dict[str, Thing] = field(default_factory=dict)
    facts: list[Held] = field(default_factory=list)
    told: dict[str, Told] = field(default_factory=dict)

    @property
    def names(self) -> dict[str, str]:
        """What everything is called."""
        return {ref: thing.name for ref, thing in self.things.items()}


Slot = tuple[str, ...]
"""Where only one fact can hold at a time: the value of an attribute, the end of an edge of which there is one."""

Line = tuple[tuple[Fact, Span], ...]
"""What holds in a slot, one after the other."""

Lines = dict[Slot, list[tuple[Fact, Span]]]


def slot_of(policy: Policy, kinds: Mapping[str, Thing], fact: Fact) -> Slot | None:
    """The slot of a fact; None for one that the models do not know (any more)."""
    owner = kinds.get(fact.source if isinstance(fact, Edge) else fact.resource)
    if owner is None or owner.kind not in policy.kinds:
        return None
    schema = policy.kinds[owner.kind].schema
    match fact:
        case Attribute(resource, name, value, member):
            declared = (schema.attributes if member is None else schema.membership).get(name)
            known = declared is not None and value in declared.values
            return ("attribute", resource, name, member or "") if known else None
        case Edge(name, source, target):
            end = kinds.get(target)
            if name not in schema.edges or end is None or end.kind not in policy.kinds[owner.kind].steps[name].kinds:
                return None
            return ("edge", source, name, target if schema.edges[name].many else "")
        case Grant(subject, role, resource):
            holder = kinds.get(subject)
            if role not in schema.roles or holder is None or holder.kind not in SUBJECTS:
                return None
            if schema.roles[role].person_only and holder.kind != MEMBER:
                return None
            return ("grant", resource, role, "" if schema.roles[role].single else subject)


def lines(company: Company, policy: Policy, at: Moment) -> Lines:
    """What holds from a moment on, slot by slot, as it is kept."""
    found: Lines = {}
    for held in company.facts:
        slot, span = slot_of(policy, company.things, held.fact), held.span.seen_from(at)
        if slot is not None and span is not None:
            found.setdefault(slot, []).append((held.fact, span))
    return found


def timelines(company: Company, policy: Policy, at: Moment) -> dict[Slot, Line]:
    """The same in a form that is alike for all ways of saying the same: without what is so anyway."""
    found = {
        slot: joined(entry for entry in line if not is_default(policy, company.things, entry[0]))
        for slot, line in lines(company, policy, at).items()
    }
    return {slot: line for slot, line in found.items() if line}


def is_default(policy: Policy, things: Mapping[str, Thing], fact: Fact) -> bool:
    """Whether it says of an attribute what is so anyway."""
    if not isinstance(fact, Attribute):
        return False
    schema = policy.kinds[things[fact.resource].kind].schema
    known = schema.attributes if fact.member is None else schema.membership
    return known[fact.name].default == fact.value


def joined(line: Iterable[tuple[Fact, Span]]) -> Line:
    """In order of time, with spans of the same fact that touch made into one."""
    done: list[tuple[Fact, Span]] = []
    for fact, span in sorted(line, key=lambda entry: (entry[1].begin, entry[1].end, repr(entry[0]))):
        before = next((n for n, (other, was) in enumerate(done) if other == fact and span.begin <= was.end), None)
        if before is None:
            done.append((fact, span))
        else:
            was = done[before][1]
            end = max(was.end, span.end)
            done[before] = (fact, Span(was.since, None if end == FOREVER else end))
    return tuple(done)


def shipped_sources() -> Mapping[str, str]:
    """The texts of the models that come with Lakehold."""
    return workspaces.policy().sources


def children(policy: Policy, kind: str) -> Sequence[str]:
    """The kinds that may lie in this one, in the order of the models."""
    return [other.id for other in policy.kinds.values() if other.parent and kind in other.parent.kinds]
