"""From what holds in a slot to what is to hold: the fewest changes that the store can make of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from lakehold.access.facts.records import Add, Attribute, Fact, Remove
from lakehold.code.company import Line, joined
from lakehold.code.steps import Make
from lakehold.code.times import Span
from lakehold.kit.clock import FOREVER

_NOW = -FOREVER
Entry = tuple[Fact, Span]


def changes(there: Sequence[Entry], wanted: Line, is_default: Callable[[Fact], bool]) -> list[Make]:
    """Changes that lead from one to the other, in their order."""
    adds = [_add(entry) for entry in wanted]
    new = [_add(entry) for entry in wanted if entry not in there]
    facts = dict.fromkeys(fact for fact, _ in there)
    kept = {fact for fact, _ in wanted}
    gone = [Make(Remove(fact)) for fact in facts if fact not in kept]
    everything = [Make(Remove(fact)) for fact in facts]
    for tried in ([], new, adds, gone, [*gone, *new], [*gone, *adds]):
        if joined(entry for entry in _after(there, tried) if not is_default(entry[0])) == wanted:
            return tried
    return [*everything, *adds]


def _add(entry: Entry) -> Make:
    fact, span = entry
    return Make(Add(fact), span.since, span.until)


def _after(there: Sequence[Entry], changes: Iterable[Make]) -> Sequence[Entry]:
    """What the store makes of it: whatever begins takes the place of all that is in the slot."""
    line = list(there)
    for made in changes:
        change, span = made.change, Span(made.since, made.until)
        if isinstance(change, Remove):
            is_value = isinstance(change.fact, Attribute)
            line = [entry for entry in line if not is_value and entry[0] != change.fact]
        elif isinstance(change, Add) and not any(_is_open(entry, change.fact, span) for entry in line):
            line = [*_cut(line, span.begin), (change.fact, span)]
    return line


def _is_open(entry: Entry, fact: Fact, span: Span) -> bool:
    return entry[0] == fact and entry[1].begin <= span.begin and entry[1].end == span.end


def _cut(line: Sequence[Entry], at: int) -> list[Entry]:
    return [
        (fact, span if span.end <= at else Span(span.since, at))
        for fact, span in line
        if span.begin < at and at != _NOW
    ]
