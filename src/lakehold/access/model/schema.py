"""The declarations of a model, before names in expressions are resolved; and kinds with the ends of their edges."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from lakehold.access.model.errors import LocatedName, ModelError, SourceLocation, did_you_mean
from lakehold.access.model.expressions import EdgeStep
from lakehold.access.model.syntax import AndNode, PathNode, SyntaxTree

FLAG = ("false", "true")


@dataclass(frozen=True, slots=True)
class Clause:
    """An expression with its text and its line, as a reader of the file sees it."""

    text: str
    tree: SyntaxTree
    place: SourceLocation


@dataclass(frozen=True, slots=True)
class RoleKind:
    """A role that a subject can hold on a resource."""

    name: str
    title: str
    place: SourceLocation
    description: str = ""
    """What its holders can do, for those who give it."""
    implies: LocatedName | None = None
    derived: Clause | None = None
    when: Clause | None = None
    given_with: Clause | None = None
    invited_with: str | None = None
    person_only: bool = False
    single: bool = False
    last_stays: bool = False
    """Whether it cannot be taken from the last one who holds it."""


@dataclass(frozen=True, slots=True)
class AttributeKind:
    """An attribute of a resource, or, for a membership, of a member in a resource."""

    name: str
    values: tuple[str, ...]
    default: str
    place: SourceLocation
    set_with: Mapping[str, Clause] = field(default_factory=dict)
    imported: str = ""
    """What it is of a resource that files tell of and that they do not say it of; empty if that is the default."""

    @property
    def import_default(self) -> str:
        """The value where imported files do not state it."""
        return self.imported or self.default

    @property
    def is_flag(self) -> bool:
        """Whether it is on or off, and can be asked for by its bare name."""
        return set(self.values) == set(FLAG)


@dataclass(frozen=True, slots=True)
class EdgeKind:
    """An edge by which resources of one kind may point at others."""

    name: str
    to: tuple[LocatedName, ...]
    place: SourceLocation
    many: bool = False
    back: str | None = None
    set_with: Clause | None = None
    needs: LocatedName | None = None
    """What one must be allowed at the other end."""
    also_after: bool = False
    """Whether the right to set it must still be held once it is set."""
    beside: bool = False
    """Whether its ends lie in the same parent as the resource itself."""


@dataclass(frozen=True, slots=True)
class PolicyRule:
    """A rule: those for whom it holds, its condition, and the actions that it allows."""

    who: Clause | None
    when: Clause | None
    may: tuple[str, ...]
    place: SourceLocation


@dataclass(frozen=True, slots=True)
class KindSchema:
    """A kind of resource: its declarations, and who may do what with it."""

    name: str
    title: str
    model: str
    place: SourceLocation
    parent: str | None
    visible: str
    creator: str | None
    roles: Mapping[str, RoleKind]
    attributes: Mapping[str, AttributeKind]
    membership: Mapping[str, AttributeKind]
    edges: Mapping[str, EdgeKind]
    define: Mapping[str, Clause]
    create: Clause | None
    edited_with: Clause | None
    """The action, on it or an ancestor, that is needed to edit its name and metadata."""
    deleted_with: Clause | None
    """The action, on it or an ancestor, that is needed to delete it."""
    actions: tuple[str, ...]
    gates: tuple[PolicyRule, ...]
    allow: tuple[PolicyRule, ...]

    @property
    def id(self) -> str:
        """The name that is unique among all models: `marts.data_mart`."""
        return f"{self.model}.{self.name}"

    @property
    def required_edges(self) -> frozenset[str]:
        """The edges that a resource must have when it is created, because that needs a right at their end."""
        tree = self.create.tree if self.create else None
        asked = tree.trees if isinstance(tree, AndNode) else (tree,)
        names = {part.names[0] for part in asked if isinstance(part, PathNode) and len(part.names) > 1}
        return frozenset(name for name in names & set(self.edges) if name != self.parent and not self.edges[name].many)


@dataclass(frozen=True, slots=True)
class AccessModel:
    """One access model: one YAML file."""

    name: str
    title: str
    root: str
    extends: tuple[LocatedName, ...]
    everyone: str | None
    kinds: Mapping[str, KindSchema]
    source: str
    place: SourceLocation
    request: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The properties that a question may bring along, by side: what conditions may read."""
    released: frozenset[str] = frozenset()
    """The hashes of all texts that a release shipped; empty for a model that came with none."""

    def is_release(self, source: str) -> bool:
        """Return whether a text is this model as this release or an earlier one shipped it."""
        return source == self.source or hash_source(source) in self.released


def hash_source(source: str) -> str:
    """Return the hash of a model's text, as the file `model.versions` lists it."""
    return sha256(source.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class KindPolicy:
    """A kind with the ends of its edges resolved."""

    schema: KindSchema
    steps: Mapping[str, EdgeStep]
    parent: EdgeStep | None
    everyone: tuple[EdgeStep, ...] | None
    """The way to the resource whose role holders the group All means here; None: everybody in the tenant."""

    @property
    def id(self) -> str:
        """`marts.data_mart`."""
        return self.schema.id


def _resolve_kind(models: Mapping[str, AccessModel], model: AccessModel, kind: LocatedName) -> str:
    for name in (model.name, *model.extends):
        if kind in models[name].kinds:
            return f"{name}.{kind}"
    known = {kind for name in (model.name, *model.extends) for kind in models[name].kinds}
    other = next((name for name in models if kind in models[name].kinds), None)
    hint = f"It is a kind of {other!r}: add that to `extends:`." if other else did_you_mean(kind, known)
    raise ModelError(kind.place, f"no kind {kind!r}.", hint)


def resolve_kinds(models: Mapping[str, AccessModel]) -> dict[str, KindPolicy]:
    """Return every kind of every model, by its id."""
    declared = [(model, kind) for model in models.values() for kind in model.kinds.values()]
    steps: dict[str, dict[str, EdgeStep]] = {}
    for model, kind in declared:
        steps[kind.id] = {
            edge.name: EdgeStep(edge.name, False, tuple(_resolve_kind(models, model, to) for to in edge.to))
            for edge in kind.edges.values()
        }
    for _, kind in declared:
        _add_back_steps(kind, steps)
    kinds: dict[str, KindPolicy] = {}
    for model, kind in declared:
        parent = steps[kind.id][kind.parent] if kind.parent else None
        kinds[kind.id] = KindPolicy(kind, steps[kind.id], parent, _everyone_steps(model, kind, steps))
    return kinds


def _add_back_steps(kind: KindSchema, steps: dict[str, dict[str, EdgeStep]]) -> None:
    for edge in kind.edges.values():
        if edge.back is None:
            continue
        for target in steps[kind.id][edge.name].kinds:
            there = steps[target].get(edge.back)
            if there is None:
                steps[target][edge.back] = EdgeStep(edge.name, True, (kind.id,))
            elif there.back and there.edge == edge.name:
                steps[target][edge.back] = EdgeStep(edge.name, True, (*there.kinds, kind.id))
            else:
                raise ModelError(edge.place, f"{target} already has an edge {edge.back!r}.", "Choose another name.")


def _everyone_steps(
    model: AccessModel, kind: KindSchema, steps: Mapping[str, Mapping[str, EdgeStep]]
) -> tuple[EdgeStep, ...] | None:
    if model.everyone is None:
        return None
    steps_up: list[EdgeStep] = []
    here = kind
    while here.name != model.everyone:
        step = steps[here.id][here.parent] if here.parent else None
        if (
            step is None
            or len(step.kinds) != 1
            or step.kinds[0].split(".")[0] != model.name
            or len(steps_up) > len(steps)
        ):
            raise ModelError(
                kind.place,
                f"{kind.name!r} does not lie in a {model.everyone!r}, whose members the group All means.",
                "Give it an `in:` that leads there.",
            )
        steps_up.append(step)
        here = model.kinds[step.kinds[0].split(".")[1]]
    return tuple(steps_up)
