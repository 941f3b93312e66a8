"""Validation of files that can be parsed: unknown ids, impossible ends, overlapping facts and cycles are refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise

from lakehold.access.facts.records import Attribute, Edge, Fact, Grant, mentioned_ids
from lakehold.access.model.errors import SourceLocation, did_you_mean, quote_excerpt
from lakehold.access.model.policy import MEMBER
from lakehold.access_as_code.parser import ProblemList, error_at
from lakehold.access_as_code.tenant_state import SUBJECTS, ResourceEntry, Slot, TenantState, TimedFact, slot_of
from lakehold.kit.clock import FOREVER, Moment

_MOST_NAMED = 5


def validate(state: TenantState, problems: ProblemList) -> None:
    """Add all inconsistencies to the problems."""
    good: list[TimedFact] = []
    for timed in state.facts:
        with problems.collect():
            _refuse_unknown(state, timed)
            good.append(timed)
    _refuse_overlaps(state, good, problems)
    edges = [timed for timed in good if isinstance(timed.fact, Edge)]
    for name in dict.fromkeys(timed.fact.name for timed in edges if isinstance(timed.fact, Edge)):
        with problems.collect():
            _refuse_cycles([timed for timed in edges if isinstance(timed.fact, Edge) and timed.fact.name == name])


def _refuse_unknown(state: TenantState, timed: TimedFact) -> None:
    entries, place = state.entries, _place_of(timed)
    match timed.fact:
        case Grant(subject, role, resource):
            holder = _need_known(entries, subject, "member or group", place, SUBJECTS)
            declared = state.policy.kinds[entries[resource].kind].schema.roles[role]
            if declared.person_only and holder.kind != MEMBER:
                message = f"{role} is held by a person, and {quote_excerpt(subject)} is a group."
                raise error_at(place, message, "Name members.")
        case Attribute(_, _, _, member):
            if member is not None:
                _need_known(entries, member, "member", place, (MEMBER,))
        case Edge(name, source, target):
            _need_known(entries, source, "member", place, None)
            kind = state.policy.kinds[entries[source].kind]
            if name not in kind.schema.edges:
                raise error_at(
                    place, f"{quote_excerpt(source)} is a {kind.id}, and cannot be in a group.", "Name members."
                )
            _need_known(entries, target, f"{name} of a {kind.id}", place, kind.steps[name].kinds)


def _need_known(
    entries: Mapping[str, ResourceEntry], ref: str, what: str, place: SourceLocation, kinds: tuple[str, ...] | None
) -> ResourceEntry:
    found = entries.get(ref)
    if found is None:
        near = [other for other, entry in entries.items() if kinds is None or entry.kind in kinds]
        hint = did_you_mean(ref, near, "" if len(near) <= _MOST_NAMED else "Declare it, or remove it here.")
        raise error_at(place, f"there is no {what} {quote_excerpt(ref)} in these files.", hint)
    if kinds is not None and found.kind not in kinds:
        raise error_at(place, f"{quote_excerpt(ref)} is a {found.kind}.", f"It has to be a {' or '.join(kinds)}.")
    return found


def _place_of(timed: TimedFact) -> SourceLocation:
    return timed.place or SourceLocation("", 0)


def _refuse_overlaps(state: TenantState, facts: Iterable[TimedFact], problems: ProblemList) -> None:
    slots: dict[Slot, list[TimedFact]] = {}
    for timed in facts:
        slot = slot_of(state.policy, state.entries, timed.fact)
        if slot is not None:
            slots.setdefault(slot, []).append(timed)
    for line in slots.values():
        if len(line) > 1:
            line.sort(key=lambda timed: timed.span.begin)
            for before, after in pairwise(line):
                if after.span.begin < before.span.end:
                    _add_overlap(before, after, problems)


def _add_overlap(before: TimedFact, after: TimedFact, problems: ProblemList) -> None:
    line = before.place.line if before.place else 0
    if before.fact == after.fact:
        message = f"{_describe(after.fact)} stands twice for the same time; first in line {line}."
        problems.add(_place_of(after), message, "Keep one of them.")
    else:
        message = (
            f"{_describe(after.fact)}: there is already another at the same time in line {line}, and only one can be."
        )
        problems.add(
            _place_of(after), message, "Keep one of them, or let one end with `until:` before the other begins."
        )


def _describe(fact: Fact) -> str:
    match fact:
        case Grant(subject, role, resource):
            return f"{role} of {quote_excerpt(resource)} for {quote_excerpt(subject)}"
        case Edge(name, source, target):
            return f"{name} of {quote_excerpt(source)} to {quote_excerpt(target)}"
        case Attribute(resource, name, value, _):
            return f"{name} {value} of {quote_excerpt(resource)}"


def _refuse_cycles(edges: list[TimedFact]) -> None:
    """Refuse cycles at every moment at which one of the edges begins."""
    for at in sorted({timed.span.begin for timed in edges}):
        _refuse_cycle([timed for timed in edges if _covers(timed, at)])


def _covers(timed: TimedFact, at: Moment) -> bool:
    return timed.span.begin <= at < timed.span.end or (at == -FOREVER and timed.span.since is None)


def _refuse_cycle(edges: list[TimedFact]) -> None:
    ahead: dict[str, list[tuple[str, TimedFact]]] = {}
    for timed in edges:
        source, target = mentioned_ids(timed.fact)
        ahead.setdefault(source, []).append((target, timed))
    done: set[str] = set()
    for start in ahead:
        path: dict[str, None] = {}
        todo: list[tuple[str, TimedFact | None, bool]] = [(start, None, False)]
        while todo:
            here, by, left = todo.pop()
            if left:
                del path[here]
                done.add(here)
            elif by is not None and here in path:
                circle = [*list(path)[list(path).index(here) :], here]
                message = f"{' → '.join(map(quote_excerpt, circle[:8]))}: this goes in a circle."
                raise error_at(_place_of(by), message, "Take one of the edges out.")
            elif here not in done:
                path[here] = None
                todo.append((here, by, True))
                todo.extend((target, timed, False) for target, timed in ahead.get(here, ()))
