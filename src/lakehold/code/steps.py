"""What a plan is made of: small steps, each of which can be made, shown, and kept as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lakehold.access.facts.records import Add, Adopt, Attribute, Change, Edge, Fact, Grant, Remove
from lakehold.code import times
from lakehold.kit.clock import Moment
from lakehold.kit.errors import InvalidInputError


@dataclass(frozen=True, slots=True)
class Create:
    """Something new, with its parent, and the edges and attributes that it can have from the start."""

    kind: str
    uid: str
    name: str
    edges: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rename:
    """Another name for what stays the same."""

    uid: str
    name: str
    was: str


@dataclass(frozen=True, slots=True)
class Delete:
    """The end of something, and of every fact about it."""

    kind: str
    uid: str
    name: str


@dataclass(frozen=True, slots=True)
class Make:
    """A fact that begins or ends, or a model that is adopted."""

    change: Change
    since: Moment | None = None
    until: Moment | None = None


Step = Create | Rename | Delete | Make

_FACTS: Mapping[str, type[Fact]] = {
    "grant": Grant,
    "attribute": Attribute,
    "edge": Edge,
}
_STEPS: Mapping[str, type[Create | Rename | Delete]] = {
    "create": Create,
    "rename": Rename,
    "delete": Delete,
}


def to_json(step: Step) -> dict[str, object]:
    """The step as JSON can hold it."""
    if not isinstance(step, Make):
        name = type(step).__name__.lower()
        return {"step": name, **{key: _plain(getattr(step, key)) for key in step.__dataclass_fields__}}
    if isinstance(step.change, Adopt):
        return {"step": "adopt", "model": step.change.source}
    bounds = {"from": step.since, "until": step.until}
    return {
        "step": type(step.change).__name__.lower(),
        **fact_to_json(step.change.fact),
        **{name: times.told(at) for name, at in bounds.items() if at is not None},
    }


def fact_to_json(fact: Fact) -> dict[str, object]:
    """The fact as JSON can hold it."""
    fields = {key: getattr(fact, key) for key in fact.__dataclass_fields__}
    return {"fact": type(fact).__name__.lower(), **{key: value for key, value in fields.items() if value is not None}}


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    return list(value) if isinstance(value, tuple) else value


def from_json(data: Mapping[str, object]) -> Step:
    """The step that was kept."""
    try:
        return _from_json(dict(data))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InvalidInputError("A step of this plan cannot be read.", "Plan again.") from error


def _from_json(data: dict[str, object]) -> Step:
    kind = str(data.pop("step"))
    if kind == "adopt":
        return Make(Adopt(str(data["model"])))
    if kind in _STEPS:
        if "edges" in data:
            data["edges"] = {edge: tuple(ends) for edge, ends in data["edges"].items()}  # type: ignore[attr-defined]
        return _STEPS[kind](**data)  # type: ignore[arg-type]
    bounds = {name: times.read(str(data.pop(key))) if key in data else None for name, key in _BOUNDS}
    fact = _FACTS[str(data.pop("fact"))](**data)  # type: ignore[arg-type]
    change: Change = Add(fact) if kind == "add" else Remove(fact)
    if kind not in {"add", "remove"}:
        raise ValueError(kind)
    return Make(change, **bounds)


_BOUNDS = (("since", "from"), ("until", "until"))
