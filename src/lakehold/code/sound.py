"""What is refused although every line of it can be read: ids that nothing stands for, ends that cannot be, two where
there can be one, circles.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise

from lakehold.access.facts.records import Attribute, Edge, Fact, Grant, mentioned_ids
from lakehold.access.model.errors import SourceLocation, did_you_mean, quote_excerpt
from lakehold.access.model.policy import MEMBER
from lakehold.code.company import SUBJECTS, Company, Held, Slot, Thing, slot_of
from lakehold.code.problems import Problems, wrong
from lakehold.kit.clock import FOREVER, Moment

_MOST_NAMED = 5


def check(company: Company, problems: Problems) -> None:
    """Note everything that cannot be."""
    good: list[Held] = []
    for held in company.facts:
        with problems.caught():
            _refuse_unknown(company, held)
            good.append(held)
    _refuse_two_at_once(company, good, problems)
    edges = [held for held in good if isinstance(held.fact, Edge)]
    for name in dict.fromkeys(held.fact.name for held in edges if isinstance(held.fact, Edge)):
        with problems.caught():
            _refuse_circles([held for held in edges if isinstance(held.fact, Edge) and held.fact.name == name])


def _refuse_unknown(company: Company, held: Held) -> None:
    things, place = company.things, _placed(held)
    match held.fact:
        case Grant(subject, role, resource):
            holder = _known(things, subject, "member or group", place, SUBJECTS)
            declared = company.policy.kinds[things[resource].kind].schema.roles[role]
            if declared.person_only and holder.kind != MEMBER:
                message = f"{role} is held by a person, and {quote_excerpt(subject)} is a group."
                raise wrong(place, message, "Name members.")
        case Attribute(_, _, _, member):
            if member is not None:
                _known(things, member, "member", place, (MEMBER,))
        case Edge(name, source, target):
            _known(things, source, "member", place, None)
            kind = company.policy.kinds[things[source].kind]
            if name not in kind.schema.edges:
                raise wrong(
                    place, f"{quote_excerpt(source)} is a {kind.id}, and cannot be in a group.", "Name members."
                )
            _known(things, target, f"{name} of a {kind.id}", place, kind.steps[name].kinds)


def _known(
    things: Mapping[str, Thing], ref: str, what: str, place: SourceLocation, kinds: tuple[str, ...] | None
) -> Thing:
    found = things.get(ref)
    if found is None:
        near = [other for other, thing in things.items() if kinds is None or thing.kind in kinds]
        hint = did_you_mean(ref, near) if len(near) <= _MOST_NAMED else _nearest(ref, near)
        raise wrong(place, f"there is no {what} {quote_excerpt(ref)} in these files.", hint)
    if kinds is not None and found.kind not in kinds:
        raise wrong(place, f"{quote_excerpt(ref)} is a {found.kind}.", f"It has to be a {' or '.join(kinds)}.")
    return found


def _nearest(ref: str, known: Iterable[str]) -> str:
    hint = did_you_mean(ref, known)
    return hint if hint.startswith("Did") else "Declare it, or remove it here."


def _placed(held: Held) -> SourceLocation:
    return held.place or SourceLocation("", 0)


def _refuse_two_at_once(company: Company, facts: Iterable[Held], problems: Problems) -> None:
    slots: dict[Slot, list[Held]] = {}
    for held in facts:
        slot = slot_of(company.policy, company.things, held.fact)
        if slot is not None:
            slots.setdefault(slot, []).append(held)
    for line in slots.values():
        if len(line) > 1:
            line.sort(key=lambda held: held.span.begin)
            for before, after in pairwise(line):
                if after.span.begin < before.span.end:
                    _note_two(before, after, problems)


def _note_two(before: Held, after: Held, problems: Problems) -> None:
    line = before.place.line if before.place else 0
    if before.fact == after.fact:
        message = f"{_spoken(after.fact)} stands twice for the same time; first in line {line}."
        problems.add(_placed(after), message, "Keep one of them.")
    else:
        message = (
            f"{_spoken(after.fact)}: there is already another at the same time in line {line}, and only one can be."
        )
        problems.add(_placed(after), message, "Keep one of them, or let one end with `until:` before the other begins.")


def _spoken(fact: Fact) -> str:
    match fact:
        case Grant(subject, role, resource):
            return f"{role} of {quote_excerpt(resource)} for {quote_excerpt(subject)}"
        case Edge(name, source, target):
            return f"{name} of {quote_excerpt(source)} to {quote_excerpt(target)}"
        case Attribute(resource, name, value, _):
            return f"{name} {value} of {quote_excerpt(resource)}"


def _refuse_circles(edges: list[Held]) -> None:
    """At every moment at which one of the edges begins."""
    for at in sorted({held.span.begin for held in edges}):
        _refuse_circle([held for held in edges if _covers(held, at)])


def _covers(held: Held, at: Moment) -> bool:
    return held.span.begin <= at < held.span.end or (at == -FOREVER and held.span.since is None)


def _refuse_circle(edges: list[Held]) -> None:
    ahead: dict[str, list[tuple[str, Held]]] = {}
    for held in edges:
        source, target = mentioned_ids(held.fact)
        ahead.setdefault(source, []).append((target, held))
    done: set[str] = set()
    for start in ahead:
        path: dict[str, None] = {}
        todo: list[tuple[str, Held | None, bool]] = [(start, None, False)]
        while todo:
            here, by, left = todo.pop()
            if left:
                del path[here]
                done.add(here)
            elif by is not None and here in path:
                circle = [*list(path)[list(path).index(here) :], here]
                message = f"{' → '.join(map(quote_excerpt, circle[:8]))}: this goes in a circle."
                raise wrong(_placed(by), message, "Take one of the edges out.")
            elif here not in done:
                path[here] = None
                todo.append((here, by, True))
                todo.extend((target, held, False) for target, held in ahead.get(here, ()))
