"""What has to be done so that a tenant becomes what files say, as bundles of steps that belong together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from lakehold.access.facts.records import Add, Adopt, Attribute, Change, Edge, Fact, Grant, Remove, mentioned_ids
from lakehold.access.model.errors import SourceLocation, quote_excerpt
from lakehold.access.model.loader import parse_model
from lakehold.code.company import (
    Company,
    Line,
    Lines,
    Slot,
    Thing,
    is_default,
    lines,
    shipped_sources,
    slot_of,
    timelines,
)
from lakehold.code.making import Making
from lakehold.code.problems import wrong
from lakehold.code.refs import Ids
from lakehold.code.slots import changes
from lakehold.code.steps import Create, Delete, Make, Rename, Step
from lakehold.code.times import ALWAYS
from lakehold.kit.clock import Moment

Bundle = tuple[Step, ...]
"""Steps that are made one after the other, or not at all."""


class _Slots(NamedTuple):
    there: Lines
    wanted: Mapping[Slot, Line]


def bundles(present: Company, declared: Company, ids: Ids, at: Moment) -> Iterator[Bundle]:
    """Everything that differs, in the order in which it is best made."""
    _refuse_other_kinds(present, declared)
    policy = declared.policy
    yield from ((Make(Adopt(source)),) for source in models(present, declared))
    wanted = timelines(declared, policy, at)
    there = lines(present, policy, at)
    for create in Making(declared, wanted, present.things).creates():
        there |= _begun(declared, create)
        yield (_with_ids(create, ids),)
    yield from _facts(present, declared, _Slots(there, wanted), ids)
    yield from _renames(present, declared, ids)
    yield from _deletes(present, declared, ids)


def _refuse_other_kinds(present: Company, declared: Company) -> None:
    for ref, thing in declared.things.items():
        before = present.things.get(ref)
        if before is not None and before.kind != thing.kind:
            raise wrong(
                thing.place or SourceLocation("", 0),
                f"{quote_excerpt(ref)} is a {before.kind} in the tenant, and a {thing.kind} here.",
                "Choose another id: what has an id keeps its kind.",
            )


# Models


def models(present: Company, declared: Company) -> list[str]:
    """The models to adopt, each after those that it stands on."""
    there, wanted = present.policy.sources, declared.policy.sources
    used = {thing.kind.partition(".")[0] for thing in declared.things.values()}
    new = {
        name
        for name, source in wanted.items()
        if there.get(name) != source and (name in there or name in declared.models or name in used)
    }
    order: dict[str, None] = {}
    todo = [(name, False) for name in sorted(new, reverse=True)]
    begun: set[str] = set()
    while todo:
        name, done = todo.pop()
        if done:
            order[name] = None
        elif name not in begun and (name in new or name not in there):
            begun.add(name)
            todo.append((name, True))
            todo.extend((str(base), False) for base in declared.policy.models[name].extends)
    return [wanted[name] for name in order]


def staying(present: Company, declared: Company) -> list[str]:
    """Models of the tenant that the files do not name. They stay: a model can be replaced, not taken away."""
    shipped = shipped_sources()
    return [name for name in present.models if name not in declared.models and name not in shipped]


def model_name(source: str) -> str:
    """What a model is called."""
    return parse_model(source).name


# Facts


def _begun(declared: Company, create: Create) -> Lines:
    """The slots that a thing has from its making on."""
    facts: list[Fact] = [Edge(edge, create.uid, end) for edge, ends in create.edges.items() for end in ends]
    facts += [Attribute(create.uid, name, value) for name, value in create.attributes.items()]
    slots = {fact: slot_of(declared.policy, declared.things, fact) for fact in facts}
    return {slot: [(fact, ALWAYS)] for fact, slot in slots.items() if slot is not None}


def _with_ids(create: Create, ids: Ids) -> Create:
    edges = {edge: tuple(map(ids.uid, targets)) for edge, targets in create.edges.items()}
    return Create(create.kind, ids.uid(create.uid), create.name, edges, create.attributes)


def _facts(present: Company, declared: Company, known: _Slots, ids: Ids) -> Iterator[Bundle]:
    gone = present.things.keys() - declared.things.keys()
    everything = {**present.things, **declared.things}
    found: list[tuple[int, Bundle]] = []
    for slot in dict.fromkeys((*known.wanted, *known.there)):
        there = known.there.get(slot, [])
        made = changes(there, known.wanted.get(slot, ()), lambda fact: _is_default(declared, everything, fact))
        kept = [make for make in made if not _ends_anyway(present, make.change, gone)]
        if kept:
            found.append((_rank(kept), tuple(_told(make, ids) for make in kept)))
    found.sort(key=lambda entry: entry[0])
    yield from (bundle for _, bundle in found)


def _is_default(declared: Company, things: Mapping[str, Thing], fact: Fact) -> bool:
    return is_default(declared.policy, things, fact)


def _ends_anyway(present: Company, change: Change, gone: set[str]) -> bool:
    """What is about something that comes to its end, ends with it; but what stays is taken out of it first."""
    if not isinstance(change, Remove):
        return False
    fact = change.fact
    moves_out = isinstance(fact, Edge) and fact.source not in gone and _is_parent(present, fact)
    return not moves_out and not gone.isdisjoint(mentioned_ids(fact))


def _told(make: Make, ids: Ids) -> Make:
    change = make.change
    assert not isinstance(change, Adopt)  # noqa: S101 - slots hold facts only
    return Make(type(change)(ids.fact(change.fact)), make.since, make.until)


def _rank(made: list[Make]) -> int:
    """Edges that end, edges that begin, attributes; then roles that are given, and only then those that are taken."""
    adds = any(isinstance(make.change, Add) for make in made)
    match made[0].change:
        case Add(Edge()) | Remove(Edge()):
            return 1 if adds else 0
        case Add(Grant()) | Remove(Grant()):
            return 3 if adds else 4
        case _:
            return 2


# Names and ends


def _renames(present: Company, declared: Company, ids: Ids) -> Iterator[Bundle]:
    for ref, thing in declared.things.items():
        before = present.things.get(ref)
        if before is not None and before.name != thing.name:
            yield (Rename(ids.uid(ref), thing.name, before.name),)


def _deletes(present: Company, declared: Company, ids: Ids) -> Iterator[Bundle]:
    """The inner ones first."""
    above = {
        held.fact.source: held.fact.target
        for held in present.facts
        if isinstance(held.fact, Edge) and _is_parent(present, held.fact)
    }

    def depth(ref: str) -> int:
        steps, here = 0, ref
        while here in above and steps < len(above):
            here, steps = above[here], steps + 1
        return steps

    gone = [thing for ref, thing in present.things.items() if ref not in declared.things]
    for thing in sorted(gone, key=lambda thing: (-depth(thing.ref), thing.ref)):
        yield (Delete(thing.kind, ids.uid(thing.ref), thing.name),)


def _is_parent(company: Company, edge: Edge) -> bool:
    source = company.things.get(edge.source)
    parent = company.policy.kinds[source.kind].parent if source else None
    return parent is not None and parent.edge == edge.name
