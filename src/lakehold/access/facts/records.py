"""The three facts that give access, and changes to them, as callers name them; and the validation of their input."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import datetime

from lakehold.access.model.schema import FLAG
from lakehold.kit.clock import FOREVER, Moment, to_moment
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import valid_id


def require_text(value: object, what: str) -> str:
    """Return the value if it is a text; raise `InvalidInputError` otherwise."""
    return value if type(value) is str else valid_id(value, what)


def require_mapping(value: object, what: str) -> Mapping[object, object]:
    """Return the value if it is a mapping; raise `InvalidInputError` otherwise."""
    if not isinstance(value, Mapping):
        raise InvalidInputError(f"The {what} are a mapping of names, not {type(value).__name__}.", "Write {name: …}.")
    return value


def to_texts(value: object, what: str) -> tuple[str, ...]:
    """Return one text, or several in a collection, as a tuple."""
    if isinstance(value, str):
        return (value,)
    return tuple(require_text(part, what) for part in require_collection(value, what))


def require_collection(value: object, what: str) -> Iterable[object]:
    """Return the value if it is a sequence or a set; raise `InvalidInputError` otherwise."""
    if isinstance(value, str | bytes) or not isinstance(value, Sequence | AbstractSet):
        raise InvalidInputError(f"A list of {what} is expected, not {type(value).__name__}.", "Put them into a list.")
    return value


def require_moment(value: object) -> Moment:
    """Convert the value to a moment: whole microseconds since 1970, or a datetime with a time zone."""
    if isinstance(value, datetime):
        return to_moment(value)
    if type(value) is not int or not -FOREVER < value <= FOREVER:
        raise InvalidInputError(
            f"A time is a datetime or whole microseconds since 1970, not {repr(value)[:40]}.",
            "For example 2026-01-31 12:00+00:00.",
        )
    return value


@dataclass(frozen=True, slots=True, order=True)
class Grant:
    """A subject (member, group or All) holds a role on a resource."""

    subject: str
    role: str
    resource: str


@dataclass(frozen=True, slots=True)
class Attribute:
    """The value of a resource's attribute, or with `member` of that member's membership in it."""

    resource: str
    name: str
    value: str
    member: str | None = None

    def __post_init__(self) -> None:
        """Take the value of a flag in its stored form: `True` and `"true"` are the same fact."""
        if isinstance(self.value, bool):
            object.__setattr__(self, "value", FLAG[self.value])


@dataclass(frozen=True, slots=True, order=True)
class Edge:
    """One resource points at another: a table at its layer, a member at a group."""

    name: str
    source: str
    target: str


Fact = Grant | Attribute | Edge


def mentioned_ids(fact: Fact) -> tuple[str, ...]:
    """Return the ids that a fact names, the resource that it is about first."""
    match fact:
        case Grant(subject, _, resource):
            return resource, subject
        case Edge(_, source, target):
            return source, target
        case Attribute(resource, _, _, member):
            return (resource,) if member is None else (resource, member)


@dataclass(frozen=True, slots=True)
class Add:
    """Adds a fact. An attribute, or an edge of which there is one, replaces the old one."""

    fact: Fact


@dataclass(frozen=True, slots=True)
class Remove:
    """Removes a fact. An attribute goes back to its default, whatever its value is."""

    fact: Fact


@dataclass(frozen=True, slots=True)
class Adopt:
    """Adopts a model as YAML, new or in place of the one of the same name."""

    source: str


Change = Add | Remove | Adopt


@dataclass(frozen=True, slots=True)
class Draft:
    """A resource that does not exist yet, with the parent and edges that are proposed for it."""

    kind: str
    edges: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    attributes: Mapping[str, str | bool] = field(default_factory=dict)
