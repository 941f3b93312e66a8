"""Steps of a plan, their JSON form, and a dry run on the facts in memory, which finds their order and effects."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field

from lakehold.access.decisions.what_if import AccessEffects, diff_views
from lakehold.access.facts import changes
from lakehold.access.facts.changes import RowChange
from lakehold.access.facts.last_holder import refuse_removing_last_holder
from lakehold.access.facts.records import Add, Adopt, Attribute, Change, Draft, Edge, Fact, Grant, Remove, mentioned_ids
from lakehold.access.facts.view import AttributeRow, EdgeRow, FactRow, FactView, GrantRow, ResourceRow, role_names
from lakehold.access.model.policy import MEMBER
from lakehold.access_as_code import file_format
from lakehold.kit.clock import Moment
from lakehold.kit.errors import ConflictError, InvalidInputError, LakeholdError, NotFoundError
from lakehold.kit.ids import quote


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
Bundle = tuple[Step, ...]
"""Steps that are made one after the other, or not at all."""
TakeNames = Callable[[FactView, Bundle], None]
"""Refuses a bundle that takes names of others, in the view after it."""

_FACTS: Mapping[str, type[Fact]] = {"grant": Grant, "attribute": Attribute, "edge": Edge}
_STEPS: Mapping[str, type[Create | Rename | Delete]] = {"create": Create, "rename": Rename, "delete": Delete}


def to_json(step: Step) -> dict[str, object]:
    """Return the step as a JSON object."""
    if not isinstance(step, MakeChange):
        return {"step": type(step).__name__.lower(), **asdict(step)}
    if isinstance(step.change, Adopt):
        return {"step": "adopt", "model": step.change.source}
    bounds = {"from": step.since, "until": step.until}
    return {
        "step": type(step.change).__name__.lower(),
        "fact": type(step.change.fact).__name__.lower(),
        **{name: value for name, value in asdict(step.change.fact).items() if value is not None},
        **{name: file_format.format_moment(at) for name, at in bounds.items() if at is not None},
    }


def from_json(data: Mapping[str, object]) -> Step:
    """Return the step of a JSON object."""
    try:
        return _from_json(dict(data))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InvalidInputError("A step of this plan is not valid.", "Plan again.") from error


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


_FIRST = -2
"""Numbers of what is not there yet: below those of the database, and of the draft's."""


class DryRun:
    """Steps on top of a view, which stays as it is.

    New entries exist from the beginning without facts, and deleted members stay without facts: so members keep their
    numbers, and the difference is that of the facts.
    """

    def __init__(self, before: FactView, steps: Iterable[Step], take_names: TakeNames) -> None:
        self._take_names = take_names
        self._before = FactView(before.policy, before)
        self._waiting: set[str] = set()
        for number, step in enumerate(step for step in steps if isinstance(step, Create)):
            if before.ids.get(step.uid) is None:
                self._before.open(ResourceRow(_FIRST - number, step.uid, step.kind, step.name))
                self._waiting.add(step.uid)
        self._before.touch()
        self.view = FactView(before.policy, self._before)
        self._changed: list[FactRow] = []

    def effects(self) -> AccessEffects:
        """Return who gains and loses what by the steps that were taken."""
        self.view.touch()
        return diff_views(self._before, self.view, self._changed)

    def take(self, bundle: Bundle) -> None:
        """Take all steps of a bundle, or none."""
        done: list[RowChange] = []
        waiting = set(self._waiting)
        try:
            for step in bundle:
                for opening in self._openings(step):
                    self._open(opening)
                    done.append(opening)
            self._take_names(self.view, bundle)
        except LakeholdError:
            self._waiting = waiting
            for opens, row in reversed(done):
                self._open((not opens, row))
            raise
        self._changed.extend(row for _, row in done)

    def _open(self, opening: RowChange) -> None:
        opens, row = opening
        (self.view.open if opens else self.view.close)(row)

    def _openings(self, step: Step) -> Iterable[RowChange]:
        match step:
            case Create():
                return self._create(step)
            case Delete(_, uid, _):
                return self._delete(uid)
            case MakeChange(Adopt(source)):
                self.view = changes.with_models(self.view, [source])
                return ()
            case MakeChange():
                return self._make(step)
            case Rename():
                return ()

    def _need_created(self, uids: Iterable[str]) -> None:
        for uid in uids:
            if uid in self._waiting:
                raise NotFoundError(f"There is no resource {quote(uid)} yet.")

    def _create(self, step: Create) -> list[RowChange]:
        self._need_created(end for ends in step.edges.values() for end in ends)
        if step.uid not in self._waiting:
            raise ConflictError(f"The id {quote(step.uid)} is taken.", "Choose another; ids are never used twice.")
        changes.with_draft(self.view, Draft(step.kind, step.edges, step.attributes))
        self._waiting.discard(step.uid)
        here = self.view.resource(step.uid)
        found: list[FactRow] = [AttributeRow(here, 0, name, value) for name, value in step.attributes.items()]
        found += [EdgeRow(name, here, self.view.resource(end)) for name, ends in step.edges.items() for end in ends]
        return [(True, row) for row in found]

    def _make(self, step: MakeChange) -> Sequence[RowChange]:
        change = step.change
        assert not isinstance(change, Adopt)  # noqa: S101 - handled above
        self._need_created(mentioned_ids(change.fact))
        if step.since is None or isinstance(change, Remove):
            return changes.resolve_change(self.view, change)
        changes.resolve_fact(self.view, change.fact)  # what can never be is refused now; nothing changes yet
        return ()

    def _delete(self, uid: str) -> list[RowChange]:
        here = self.view.resource(uid)
        inside = self.view.children(here)
        if inside:
            raise ConflictError(f"{quote(uid)} still holds {quote(self.view.uid(inside[0]))}.", "Delete that first.")
        for resource, mask in (self.view.grants_by_subject.get(here) or {}).items():
            for role in role_names(mask):
                refuse_removing_last_holder(self.view, GrantRow(here, role, resource))
        found = list(dict.fromkeys(self._facts_about(here)))
        if self.view.kind(here) != MEMBER:
            found.append(ResourceRow(here, uid, self.view.kind(here), self.view.names.get(here) or ""))
        return [(False, row) for row in found]

    def _facts_about(self, here: int) -> Iterator[FactRow]:
        view = self.view
        for subject, mask in (view.grants.get(here) or {}).items():
            yield from (GrantRow(subject, role, here) for role in role_names(mask))
        for resource, mask in (view.grants_by_subject.get(here) or {}).items():
            yield from (GrantRow(here, role, resource) for role in role_names(mask))
        for name in {edge for kind in view.policy.kinds.values() for edge in kind.schema.edges}:
            yield from (EdgeRow(name, here, end) for end in view.edges_out[name].get(here) or ())
            yield from (EdgeRow(name, source, here) for source in view.edges_in[name].get(here) or ())
        schemas = [kind.schema for kind in view.policy.kinds.values()]
        for name in {name for schema in schemas for name in schema.attributes}:
            value = view.attributes[name].get(here)
            if value is not None:
                yield AttributeRow(here, 0, name, value)
        for name in {name for schema in schemas for name in schema.membership}:
            yield from (AttributeRow(here, m, name, v) for m, v in (view.memberships[name].get(here) or {}).items())


def order_steps(view: FactView, bundles: Sequence[Bundle], take_names: TakeNames) -> tuple[list[Step], AccessEffects]:
    """Return the steps in an order in which each can be taken, and their effects; raise what stops the rest."""
    dry_run = DryRun(view, [step for bundle in bundles for step in bundle], take_names)
    steps: list[Step] = []
    left = list(bundles)
    while left:
        waiting: list[Bundle] = []
        first: LakeholdError | None = None
        for bundle in left:
            try:
                dry_run.take(bundle)
                steps.extend(bundle)
            except LakeholdError as error:
                first = first or error
                waiting.append(bundle)
        if first is not None and len(waiting) == len(left):
            raise first
        left = waiting
    return steps, dry_run.effects()
