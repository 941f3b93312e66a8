"""An act of curation, and what it says about pairs of records.

The records of an act are in groups, whose meaning depends on its kind:

| kind | groups | linked | parted |
|---|---|---|---|
| same | one record, another one | the two | |
| different | one record, another one | | the two |
| skip | one record, another one | | |
| merge | the records of each entity | every two of different groups | |
| split | those taken out, those that stay | | every two of different groups |
| move | the record, those it leaves, those it joins | it and each that it joins | it and each that it leaves |
| new_entity | those taken, then those that stay of each entity | every two taken | those taken and all that stay |
| verify, unverify | the records | | |
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain, combinations, product

from lakehold.kit.clock import Moment

RecordPair = tuple[str, str]


class ActKind(StrEnum):
    """A kind of act."""

    SAME = "same"
    DIFFERENT = "different"
    SKIP = "skip"
    MERGE = "merge"
    SPLIT = "split"
    MOVE = "move"
    NEW_ENTITY = "new_entity"
    VERIFY = "verify"
    UNVERIFY = "unverify"
    OVERRIDE = "override"
    CLEAR_OVERRIDE = "clear_override"
    COMMENT = "comment"
    UNDO = "undo"

    @property
    def action(self) -> str:
        """The action of the data product that it needs, and that undoing it needs."""
        return _ACTIONS.get(self, "curate")


_ACTIONS = {
    ActKind.OVERRIDE: "override",
    ActKind.CLEAR_OVERRIDE: "override",
    ActKind.VERIFY: "verify",
    ActKind.UNVERIFY: "verify",
}
ANSWERS = (ActKind.SAME, ActKind.DIFFERENT, ActKind.SKIP)


@dataclass(frozen=True, slots=True)
class ActContent:
    """The content of an act."""

    kind: ActKind
    entities: tuple[str, ...] = ()
    """Of a merge, the one that goes on comes first; of a move, the one that is left."""
    groups: tuple[tuple[str, ...], ...] = ()
    attribute: str = ""
    value: str | None = None
    """Of an override; None stands for no value."""
    replaced: str | None = None
    """The value that the entity had before an override."""
    text: str = ""
    """Of a comment."""
    undone: tuple[int, ...] = ()
    """The acts that an undo has undone."""

    @property
    def records(self) -> tuple[str, ...]:
        """All records that it speaks of."""
        return tuple(dict.fromkeys(chain.from_iterable(self.groups)))

    @property
    def subjects(self) -> tuple[str, ...]:
        """All records and entities that it speaks of."""
        return tuple(dict.fromkeys((*self.entities, *self.records)))


@dataclass(frozen=True, slots=True)
class CurationAct:
    """An act with its number, who made it and when."""

    number: int
    content: ActContent
    by: str = ""
    at: Moment = 0
    undone_by: int = 0
    """The number of the undo; 0 while it is in force."""

    @property
    def kind(self) -> ActKind:
        """Its kind."""
        return self.content.kind

    @property
    def in_force(self) -> bool:
        """Whether nobody has undone it."""
        return not self.undone_by


@dataclass(frozen=True, slots=True)
class PairStatements:
    """The pairs that an act links, parts, or leaves undecided, each with the smaller record first."""

    linked: frozenset[RecordPair] = field(default_factory=frozenset)
    parted: frozenset[RecordPair] = field(default_factory=frozenset)
    skipped: frozenset[RecordPair] = field(default_factory=frozenset)

    @property
    def pairs(self) -> frozenset[RecordPair]:
        """All of them."""
        return self.linked | self.parted | self.skipped


def ordered_pair(one: str, other: str) -> RecordPair:
    """Return a pair of records with the smaller one first."""
    return (one, other) if one < other else (other, one)


def pair_statements(content: ActContent) -> PairStatements:
    """Return what an act says about pairs."""
    groups = content.groups
    match content.kind:
        case ActKind.SAME | ActKind.MERGE:
            return PairStatements(linked=_across(groups))
        case ActKind.DIFFERENT | ActKind.SPLIT:
            return PairStatements(parted=_across(groups))
        case ActKind.SKIP:
            return PairStatements(skipped=_across(groups))
        case ActKind.MOVE:
            record, left, joined = groups
            return PairStatements(_across((record, joined)), _across((record, left)))
        case ActKind.NEW_ENTITY:
            taken = frozenset(ordered_pair(*pair) for pair in combinations(groups[0], 2))
            stays = tuple(chain.from_iterable(groups[1:]))
            return PairStatements(taken, _across((groups[0], stays)))
    return PairStatements()


def _across(groups: Sequence[Sequence[str]]) -> frozenset[RecordPair]:
    return frozenset(
        ordered_pair(*pair)
        for one, other in combinations(groups, 2)
        for pair in product(one, other)
        if len({*pair}) > 1
    )


def to_payload(content: ActContent) -> dict[str, object]:
    """Return the content as JSON values, without what it does not say."""
    values: dict[str, object] = {
        "entities": content.entities,
        "groups": content.groups,
        "attribute": content.attribute,
        "text": content.text,
        "undone": content.undone,
    }
    said = {name: value for name, value in values.items() if value}
    if content.attribute:
        said |= {"value": content.value, "replaced": content.replaced}
    return said


def from_payload(kind: str, payload: Mapping[str, object]) -> ActContent:
    """Return the content that these JSON values say."""
    values = dict(payload)
    for name in ("entities", "undone"):
        values[name] = tuple(_items(values.get(name)))
    values["groups"] = tuple(tuple(_items(group)) for group in _items(values.get("groups")))
    return ActContent(ActKind(kind), **values)  # type: ignore[arg-type]


def _items(value: object) -> Iterator[object]:
    yield from value if isinstance(value, list) else ()
