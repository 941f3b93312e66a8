"""A reason, which is a tree, as the single ways through it: each a few strands that hold together."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, product

from lakehold.access import Attribute, Edge, Grant
from lakehold.access.decisions.explanation import HIDDEN, Reason
from lakehold.access.model.policy import MEMBER_OF

_MOST_TRIED = 200
_NONE_OF = re.compile(r"not: any of the (.+) of .+")


@dataclass(frozen=True, slots=True)
class Strand:
    """One thing that has to be so: a grant, an attribute, or a condition that is told in words."""

    steps: tuple[Edge, ...]
    """From the thing that is asked about to where the grant is held, or the attribute set."""
    grant: Grant | None = None
    group: Edge | None = None
    """The place in the group that holds the grant."""
    attribute: Attribute | None = None
    words: str = ""


Alternative = tuple[Strand, ...]


def alternatives(reason: Reason) -> list[Alternative]:
    """The ways through what held, shortest first. Those that come back to where they have been are left out."""
    found = dict.fromkeys(islice(_through(reason, ()), _MOST_TRIED))
    straight = [way for way in found if not any(_comes_back(strand) for strand in way)]
    return sorted(straight or found, key=_length)


def _through(reason: Reason, way: tuple[Edge, ...]) -> Iterator[Alternative]:
    steps = (*way, *(fact for fact in reason.facts if isinstance(fact, Edge) and fact.name != MEMBER_OF))
    held = [part for part in reason.parts if part.held]
    own = list(_own(reason, steps))
    if own:
        yield from ((strand,) for strand in own)
    elif not held:
        yield (Strand(steps, words=_words(reason.text)),)
    elif reason.together:
        for chosen in product(*(list(islice(_through(part, steps), _MOST_TRIED)) for part in held)):
            yield tuple(dict.fromkeys(strand for some in chosen for strand in some))
    else:
        for part in held:
            yield from _through(part, steps)


def _own(reason: Reason, steps: tuple[Edge, ...]) -> Iterator[Strand]:
    """A strand for each of the grants: any of them is enough. An attribute is asked for alone."""
    place: Edge | None = None
    for fact in reason.facts:
        match fact:
            case Edge(name) if name == MEMBER_OF:
                place = fact
            case Grant(subject):
                yield Strand(steps, fact, place if place and place.target == subject else None)
            case Attribute():
                yield Strand(steps, attribute=fact)
            case _:
                pass


def _words(text: str) -> str:
    none_of = _NONE_OF.fullmatch(text)
    if none_of:
        return f"No {none_of[1]}"
    words = text.removeprefix("not: ")
    return words[:1].upper() + words[1:] if text != HIDDEN else HIDDEN


def _comes_back(strand: Strand) -> bool:
    been = [uid for step in strand.steps for uid in (step.source, step.target)]
    # A way of n steps that goes straight on has n + 1 stations.
    return bool(strand.steps) and len(set(been)) <= len(strand.steps)


def _length(way: Alternative) -> int:
    return sum(len(strand.steps) + 1 + (strand.group is not None) for strand in way)
