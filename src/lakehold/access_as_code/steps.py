"""Steps of a plan, their JSON form, and the order in which new entries are created."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from lakehold.access.facts.records import Add, Adopt, Attribute, Change, Edge, Fact, Grant, Remove
from lakehold.access.model.errors import SourceLocation, quote_excerpt
from lakehold.access_as_code import file_format
from lakehold.access_as_code.file_format import ALWAYS
from lakehold.access_as_code.parser import error_at
from lakehold.access_as_code.tenant_state import SUBJECTS, ResourceEntry, Slot, TenantState, Timeline
from lakehold.kit.clock import Moment
from lakehold.kit.errors import InvalidInputError


@dataclass(frozen=True, slots=True)
class Create:
    """Creates an entry, with its parent, and the edges and attributes that it can have from the start."""

    kind: str
    uid: str
    name: str
    edges: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rename:
    """Renames an entry."""

    uid: str
    name: str
    was: str


@dataclass(frozen=True, slots=True)
class Delete:
    """Deletes an entry and ends every fact about it."""

    kind: str
    uid: str
    name: str


@dataclass(frozen=True, slots=True)
class MakeChange:
    """Adds or removes a fact, or adopts a model."""

    change: Change
    since: Moment | None = None
    until: Moment | None = None


Step = Create | Rename | Delete | MakeChange

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
    """Return the step as a JSON object."""
    if not isinstance(step, MakeChange):
        name = type(step).__name__.lower()
        return {"step": name, **{key: _to_plain(getattr(step, key)) for key in step.__dataclass_fields__}}
    if isinstance(step.change, Adopt):
        return {"step": "adopt", "model": step.change.source}
    bounds = {"from": step.since, "until": step.until}
    return {
        "step": type(step.change).__name__.lower(),
        **fact_to_json(step.change.fact),
        **{name: file_format.format_moment(at) for name, at in bounds.items() if at is not None},
    }


def fact_to_json(fact: Fact) -> dict[str, object]:
    """Return the fact as a JSON object."""
    fields = {key: getattr(fact, key) for key in fact.__dataclass_fields__}
    return {"fact": type(fact).__name__.lower(), **{key: value for key, value in fields.items() if value is not None}}


def _to_plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _to_plain(part) for key, part in value.items()}
    return list(value) if isinstance(value, tuple) else value


def from_json(data: Mapping[str, object]) -> Step:
    """Return the step of a JSON object."""
    try:
        return _from_json(dict(data))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InvalidInputError("A step of this plan cannot be read.", "Plan again.") from error


def _from_json(data: dict[str, object]) -> Step:
    kind = str(data.pop("step"))
    if kind == "adopt":
        return MakeChange(Adopt(str(data["model"])))
    if kind in _STEPS:
        if "edges" in data:
            data["edges"] = {edge: tuple(ends) for edge, ends in data["edges"].items()}  # type: ignore[attr-defined]
        return _STEPS[kind](**data)  # type: ignore[arg-type]
    bounds = {name: file_format.parse_moment(str(data.pop(key))) if key in data else None for name, key in _BOUNDS}
    fact = _FACTS[str(data.pop("fact"))](**data)  # type: ignore[arg-type]
    change: Change = Add(fact) if kind == "add" else Remove(fact)
    if kind not in {"add", "remove"}:
        raise ValueError(kind)
    return MakeChange(change, **bounds)


_BOUNDS = (("since", "from"), ("until", "until"))


class CreationOrder:
    """Orders the creation of entries that are in the files and not in the tenant yet."""

    def __init__(self, desired: TenantState, desired_facts: Mapping[Slot, Timeline], existing: Collection[str]) -> None:
        self._desired = desired
        self._existing = existing
        new = [entry for ref, entry in desired.entries.items() if ref not in existing]
        # People first.
        self._new = [entry.ref for entry in sorted(new, key=lambda entry: (entry.kind not in SUBJECTS, entry.ref))]
        self._edges: dict[str, dict[str, list[str]]] = {ref: {} for ref in self._new}
        self._attributes: dict[str, dict[str, str]] = {ref: {} for ref in self._new}
        for line in desired_facts.values():
            fact, span = line[0]
            if len(line) > 1 or span != ALWAYS:
                continue
            if isinstance(fact, Edge) and fact.source in self._edges:
                self._edges[fact.source].setdefault(fact.name, []).append(fact.target)
            elif isinstance(fact, Attribute) and fact.member is None and fact.resource in self._attributes:
                self._attributes[fact.resource][fact.name] = fact.value
        self._parents = self._find_parents()

    def create_steps(self) -> list[Create]:
        """Return the steps that create the entries, parents and ends of edges first as far as possible."""
        done: dict[str, Create] = {}
        begun: set[str] = set()
        for start in self._new:
            todo = [(start, False)]
            while todo:
                ref, is_ready = todo.pop()
                if is_ready:
                    done[ref] = self._create(self._desired.entries[ref], done)
                elif ref in self._edges and ref not in begun and not self._is_inside(ref, begun - done.keys()):
                    begun.add(ref)
                    todo.append((ref, True))
                    todo.extend((end, False) for ends in self._edges[ref].values() for end in reversed(ends))
                    todo.append((self._parents[ref], False))
        return list(done.values())

    def _create(self, entry: ResourceEntry, done: Collection[str]) -> Create:
        """Return one step, with the edges whose ends exist by then."""
        known = {
            name: tuple(sorted(end for end in ends if end in self._existing or end in done))
            for name, ends in self._edges[entry.ref].items()
        }
        edges = {name: ends for name, ends in known.items() if ends}
        parent = self._desired.policy.kinds[entry.kind].parent
        if parent is not None:
            edges[parent.edge] = (self._parents[entry.ref],)
        return Create(entry.kind, entry.ref, entry.name, edges, self._attributes[entry.ref])

    def _is_inside(self, ref: str, unfinished: Collection[str]) -> bool:
        """Whether it lies in something that waits for the ends of its edges, and so has to wait itself."""
        while ref in self._parents:
            ref = self._parents[ref]
            if ref in unfinished:
                return True
        return False

    def _find_parents(self) -> dict[str, str]:
        """Return the parent in which each entry is created. Nothing is created without a parent, so what is to lie in
        nothing, or in something only later, is created somewhere and taken out again.
        """
        found: dict[str, str] = {}
        left = self._new
        while left:
            waiting = [ref for ref in left if not self._find_parent(ref, found)]
            if len(waiting) == len(left):
                raise self._no_parent_error(self._desired.entries[waiting[0]])
            left = waiting
        return found

    def _find_parent(self, ref: str, found: dict[str, str]) -> bool:
        """Find a parent that exists or is created before, and return whether there is one."""
        things = self._desired.entries
        parent = self._desired.policy.kinds[things[ref].kind].parent
        if parent is None:
            found[ref] = ""
            return True
        possible = self._edges[ref].get(parent.edge) or [r for r, other in things.items() if other.kind in parent.kinds]
        ready = [end for end in possible if end in self._existing or end in found]
        if ready:
            found[ref] = min(ready)
        return bool(ready)

    def _no_parent_error(self, entry: ResourceEntry) -> Exception:
        parent = self._desired.policy.kinds[entry.kind].parent
        kinds = " or ".join(parent.kinds) if parent else ""
        message = f"there is no {kinds} in which {quote_excerpt(entry.ref)} could be made."
        return error_at(entry.place or SourceLocation("", 0), message, "Declare one.")
