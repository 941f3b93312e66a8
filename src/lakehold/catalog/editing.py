"""One edit of a resource: all of it is checked first, then all of it is made, or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from lakehold.access import Add, Attribute, Edge, Remove
from lakehold.access.facts.changes import resolve_targets, validate_value
from lakehold.access.facts.records import require_mapping, require_text
from lakehold.access.model.errors import did_you_mean
from lakehold.access.model.schema import EdgeKind
from lakehold.access.model.syntax import PathNode
from lakehold.catalog import credentials, details, kinds, shapes
from lakehold.directory.request_context import RequestContext, Targets
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote, valid_name

Change = Add | Remove


@dataclass(frozen=True, slots=True)
class Edit:
    """What is to be so afterwards; what is None stays as it is."""

    name: str | None = None
    description: str | None = None
    settings: Mapping[str, object] | None = None
    attributes: Mapping[str, str | bool] | None = None
    edges: Targets | None = None
    """All ends of each edge that is named. Ends that the caller may not see stay."""


@dataclass(frozen=True, slots=True)
class Plan:
    """An edit that the caller may make as a whole, and that has not been made."""

    uid: str
    wanted: Edit
    before: details.Detail
    told: AbstractSet[str]
    changes: Sequence[Change]

    @property
    def is_empty(self) -> bool:
        """Whether all of it is so already."""
        return not self.told and not self.changes


def edit(ctx: RequestContext, uid: str, wanted: Edit, *, expect_version: int | None = None) -> int:
    """Make the edit. Returns the version of the resource afterwards."""
    plan = planned(ctx, uid, wanted)
    details.expect(ctx, uid, expect_version)
    return make(ctx, plan)


def planned(ctx: RequestContext, uid: str, wanted: Edit) -> Plan:
    """The edit, refused unless the caller may make all of it. All is asked of the state before it: an edit gives
    no right to its own other half.
    """
    ctx.writing()
    ctx.see(uid, "edit")
    kinds.kept_here(ctx.view.policy, kinds.schema_of(ctx.view, uid).id)
    before = details.read(ctx, uid)
    told = _told(ctx, uid, wanted, before)
    switched = _attributes(ctx, uid, wanted.attributes)
    pointed = _edges(ctx, uid, wanted.edges)
    for change in switched:
        ctx.need_change(change)
    _need_edges(ctx, uid, pointed)
    if told:
        kinds.need(ctx, ctx.session.read_view(lambda view: kinds.editing(view, uid)), uid, "edit")
    changes = (*switched, *(change for some in pointed.values() for change in some))
    return Plan(uid, wanted, before, told, changes)


def make(ctx: RequestContext, plan: Plan) -> int:
    """Make what was planned in the same transaction. Returns the version afterwards."""
    if plan.is_empty:
        return plan.before.version
    if "name" in plan.told:
        ctx.renamed(plan.uid, str(plan.wanted.name))
    for change in plan.changes:
        ctx.made(change)
    if plan.told - {"name"}:
        _note(ctx, plan)
    if plan.wanted.settings is not None:
        credentials.directed(ctx, plan.uid, plan.before.settings, plan.wanted.settings)
    return details.changed(ctx, plan.uid, description=plan.wanted.description, settings=plan.wanted.settings)


def _told(ctx: RequestContext, uid: str, wanted: Edit, before: details.Detail) -> set[str]:
    """Which of name, description and settings are to be others than now."""
    found: set[str] = set()
    if wanted.name is not None and valid_name(wanted.name) != shapes.ref(ctx.view, uid).name:
        found.add("name")
    if wanted.description is not None and details.valid_description(wanted.description) != before.description:
        found.add("description")
    if wanted.settings is not None and details.valid_settings(wanted.settings) != details.valid_settings(
        before.settings
    ):
        found.add("settings")
    return found


def _note(ctx: RequestContext, plan: Plan) -> None:
    wanted, before = plan.wanted, plan.before
    was: dict[str, object] = {}
    will: dict[str, object] = {}
    if wanted.description is not None and wanted.description != before.description:
        was["description"], will["description"] = before.description, wanted.description
    if wanted.settings is not None and wanted.settings != before.settings:
        # Which of them, not what they say: a setting may be nobody else's business.
        names = sorted({*wanted.settings, *before.settings})
        will["settings"] = [name for name in names if wanted.settings.get(name) != before.settings.get(name)]
    ctx.note("edit", plan.uid, before=was, after=will)


def _attributes(ctx: RequestContext, uid: str, wanted: Mapping[str, str | bool] | None) -> list[Change]:
    """What is to be set, without what is so already."""
    schema = kinds.schema_of(ctx.view, uid)
    present = ctx.session.read_view(lambda view: shapes.attributes_of(view, uid))
    found: list[Change] = []
    for name, value in require_mapping({} if wanted is None else wanted, "attributes").items():
        known = schema.attributes.get(require_text(name, "attribute"))
        if known is None:
            raise InvalidInputError(
                f"{schema.id} has no attribute {quote(str(name))}.", did_you_mean(str(name), schema.attributes)
            )
        kept = validate_value(known, value)  # type: ignore[arg-type]
        if present[known.name] != kept:
            found.append(Add(Attribute(uid, known.name, kept)))
    return found


def _edges(ctx: RequestContext, uid: str, wanted: Targets | None) -> dict[str, list[Change]]:
    """What is to be added and removed of each edge."""
    schema = kinds.schema_of(ctx.view, uid)
    found: dict[str, list[Change]] = {}
    for name, targets in require_mapping({} if wanted is None else wanted, "edges").items():
        if name == schema.parent:
            raise InvalidInputError(f"{quote(str(name))} is what it lies in.", "Move it to change that.")
        declared = ctx.view.policy.edge(schema.id, require_text(name, "edge"))
        given = [targets] if isinstance(targets, str) else list(targets)  # type: ignore[call-overload]
        for target in given:
            ctx.see(require_text(target, "id"), f"link {name}")
        changes = list(_repointed(ctx, uid, declared, _ends(ctx, schema.id, declared.name, given)))
        if changes and not given and declared.name in kinds.made_with(schema):
            raise InvalidInputError(
                f"A {schema.title.lower()} is not without a {declared.name}.", "Name another one instead."
            )
        found[declared.name] = changes
    return found


def _ends(ctx: RequestContext, kind: str, edge: str, targets: Sequence[str]) -> list[str]:
    return ctx.session.read_view(lambda view: [view.uid(end) for end in resolve_targets(view, kind, edge, targets)])


def _repointed(ctx: RequestContext, uid: str, edge: EdgeKind, ends: Sequence[str]) -> Iterable[Change]:
    there = ctx.session.read_view(lambda view: shapes.edges_of(view, uid)[edge.name])
    eyes = shapes.VisibleRefs(ctx)
    # New ends first: where there is one only, it takes the place of the old one by itself.
    yield from (Add(Edge(edge.name, uid, end)) for end in ends if end not in there)
    if edge.many or not ends:
        yield from (Remove(Edge(edge.name, uid, end)) for end in there if end not in ends and eyes.sees(end))


def _need_edges(ctx: RequestContext, uid: str, pointed: Mapping[str, Sequence[Change]]) -> None:
    """Edges that are set with the same action are asked about together: before, at their ends, and after."""
    together: dict[str, dict[str, list[str]]] = {}
    schema = kinds.schema_of(ctx.view, uid)
    for name, changes in pointed.items():
        if not changes:
            continue
        action = _own_action(schema.edges[name], schema.actions)
        if action is None:
            for change in changes:
                ctx.need_change(change)
        else:
            together.setdefault(action, {})[name] = _after(ctx, uid, name, changes)
    for action, edges in together.items():
        ctx.need(action, uid, edges=edges)


def _own_action(edge: EdgeKind, actions: Sequence[str]) -> str | None:
    """The action of the resource itself that the edge is set with."""
    tree = edge.set_with.tree if edge.set_with else None
    if isinstance(tree, PathNode) and tree.equals is None and len(tree.names) == 1 and tree.names[0] in actions:
        return tree.names[0]
    return None


def _after(ctx: RequestContext, uid: str, edge: str, changes: Sequence[Change]) -> list[str]:
    ends = dict.fromkeys(ctx.session.read_view(lambda view: shapes.edges_of(view, uid)[edge]))
    declared = kinds.schema_of(ctx.view, uid).edges[edge]
    for change in changes:
        fact = change.fact
        assert isinstance(fact, Edge)  # noqa: S101 - only edges are re-pointed
        if isinstance(change, Remove):
            ends.pop(fact.target, None)
        elif declared.many:
            ends[fact.target] = None
        else:
            ends = {fact.target: None}
    return list(ends)
