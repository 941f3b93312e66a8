"""Edits of a resource, each checked as a whole before any of it is made, and its move to another parent."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from lakehold.access import Add, Attribute, Edge, Grant, Remove
from lakehold.access.decisions.what_if import AccessEffects
from lakehold.access.facts.changes import resolve_targets, validate_value
from lakehold.access.facts.records import mentioned_ids, require_mapping, require_text
from lakehold.access.facts.view import FactView
from lakehold.access.model.errors import did_you_mean
from lakehold.access.model.schema import EdgeKind, KindSchema
from lakehold.access.model.syntax import PathNode
from lakehold.catalog import change_preview, credentials, kinds, network_policy, resource_metadata, resource_view
from lakehold.directory.request_context import EdgeTargets, RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.ids import quote, valid_name
from lakehold.kit.secret_headers import split_secrets
from lakehold.workspaces import registry

FactChange = Add | Remove


@dataclass(frozen=True, slots=True)
class ResourceEdit:
    """The new values of a resource; those that are None stay as they are."""

    name: str | None = None
    description: str | None = None
    settings: Mapping[str, object] | None = None
    """All of them, but for those that only the platform sets: they stay."""
    managed: Mapping[str, object] | None = None
    """Settings that only the platform sets."""
    attributes: Mapping[str, str | bool] | None = None
    edges: EdgeTargets | None = None
    """All ends of each edge that is named. Ends that the caller may not see stay."""


@dataclass(frozen=True, slots=True)
class EditPlan:
    """An edit that the caller may make as a whole, and that has not been made."""

    uid: str
    edit: ResourceEdit
    before: resource_metadata.ResourceMetadata
    changed_fields: AbstractSet[str]
    changes: Sequence[FactChange]
    header_secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Credentials that came in the headers of the settings."""

    @property
    def is_empty(self) -> bool:
        """Whether the edit changes nothing."""
        return not self.changed_fields and not self.changes


class _EdgeChange(NamedTuple):
    """The changes of one edge, and its ends afterwards."""

    changes: Sequence[FactChange]
    ends: list[str]


def apply_edit(ctx: RequestContext, uid: str, edit: ResourceEdit, *, expect_version: int | None = None) -> int:
    """Apply the edit and return the version of the resource afterwards."""
    plan = plan_edit(ctx, uid, edit)
    resource_metadata.need_version(ctx, uid, expect_version)
    return apply_edit_plan(ctx, plan)


def plan_edit(ctx: RequestContext, uid: str, edit: ResourceEdit) -> EditPlan:
    """Plan the edit, or refuse it unless the caller may make all of it. All rights are checked in the state before it,
    so that an edit gives no right to its own other half.
    """
    ctx.need_writable()
    ctx.need_visible(uid, "edit")
    if edit.settings is not None:
        # Also if they are the same: to learn that would be to read them.
        kinds.need_right(ctx, uid, "edit")
    kind = kinds.catalog_kind(ctx.view.policy, kinds.schema_of(ctx.view, uid).id).id
    before = resource_metadata.load(ctx, uid)
    edit, secrets = _with_valid_settings(kind, before.settings, edit), dict[str, str]()
    if edit.settings is not None:
        resource_view.need_references(ctx, kind, before.settings, edit.settings, uid)
        network_policy.need_allowed(ctx, kind, edit.settings)
        settings, secrets = split_secrets(edit.settings)
        edit = replace(edit, settings=settings)
    if edit.settings is not None or edit.edges:
        # Also if only edges are given: those that follow settings are not cut loose from them.
        after = before.settings if edit.settings is None else edit.settings
        follow = resource_view.reference_edges(kind, after, before.settings)
        edit = replace(edit, edges={**(edit.edges or {}), **follow})
    changed_fields = _changed_fields(ctx, uid, edit, before) | ({"settings"} if secrets else set())
    values = find_attribute_changes(ctx, uid, edit.attributes)
    edge_changes = _edge_changes(ctx, uid, edit.edges)
    for change in values:
        ctx.need_change(change)
    _need_edges(ctx, uid, edge_changes)
    if changed_fields:
        kinds.need_right(ctx, uid, "edit")
    changes = (*values, *(change for each in edge_changes.values() for change in each.changes))
    return EditPlan(uid, edit, before, changed_fields, changes, secrets)


def _with_valid_settings(kind: str, before: Mapping[str, object], edit: ResourceEdit) -> ResourceEdit:
    if edit.settings is None and edit.managed is None:
        return edit
    resource_metadata.valid_settings(before if edit.settings is None else edit.settings)
    after = resource_metadata.valid_for_kind(kind, before, edit.settings, edit.managed)
    return replace(edit, settings=after, managed=None)


def apply_edit_plan(ctx: RequestContext, plan: EditPlan) -> int:
    """Apply a plan within the transaction that planned it, and return the version afterwards."""
    if plan.is_empty:
        return plan.before.version
    if "name" in plan.changed_fields:
        ctx.rename_unchecked(plan.uid, str(plan.edit.name))
    for change in plan.changes:
        ctx.make_unchecked(change)
    if plan.changed_fields - {"name"}:
        _audit(ctx, plan)
    if plan.edit.settings is not None:
        credentials.drop_if_redirected(ctx, plan.uid, plan.before.settings, plan.edit.settings)
        credentials.save_headers(ctx, plan.uid, plan.edit.settings, plan.header_secrets)
    return resource_metadata.save(
        ctx,
        plan.uid,
        description=plan.edit.description,
        settings=plan.edit.settings,
        authored=_authored_parts(ctx, plan),
    )


def _authored_parts(ctx: RequestContext, plan: EditPlan) -> set[str]:
    """Return the parts of the definition that the edit changes: what runs, and not what it is called."""
    parts = {part for change in plan.changes if (part := part_of_change(ctx.view, change)) is not None}
    if plan.header_secrets:
        parts.add(resource_metadata.WHOLE)
    if plan.edit.settings is None:
        return parts
    kind = kinds.schema_of(ctx.view, plan.uid).id
    return parts | resource_metadata.changed_parts(kind, plan.before.settings, plan.edit.settings)


def part_of_change(view: FactView, change: FactChange) -> str | None:
    """Return the part of a definition that a change of facts is of: edges that editors set, and switches; None if it
    changes nothing that runs.
    """
    fact = change.fact
    if isinstance(fact, Grant):
        return None
    schema = kinds.schema_of(view, mentioned_ids(fact)[0])
    settings = registry.find_settings_schema(schema.id)
    part = settings.part_of(fact.name) if settings else resource_metadata.WHOLE
    is_definition = _is_definition_edge(schema, fact.name) if isinstance(fact, Edge) else bool(part)
    return part if is_definition else None


def has_definition(view: FactView, uid: str, settings: Mapping[str, object]) -> bool:
    """Return whether settings or edges of a resource say what runs."""
    schema, edges = kinds.schema_of(view, uid), resource_view.edges_of(view, uid)
    if registry.find_settings_schema(schema.id) is None and schema.id not in registry.runnable_kinds():
        return False
    return bool(settings) or any(_is_definition_edge(schema, name) for name, ends in edges.items() if ends)


def _is_definition_edge(schema: KindSchema, name: str) -> bool:
    """Return whether an edge says what runs. Sharing labels and the place of a table have rights of their own, and the
    directory defines nothing.
    """
    return schema.model != kinds.DIRECTORY_MODEL and _own_action(schema.edges[name], schema.actions) in {None, "edit"}


def take_over(ctx: RequestContext, uid: str) -> int:
    """Make the caller the author of a definition that they may edit, as it is; return the version afterwards."""
    ctx.need_writable()
    ctx.need_visible(uid, "edit")
    kinds.need_right(ctx, uid, "edit")
    before = resource_metadata.load_author(ctx, uid)
    version = resource_metadata.take_over(ctx, uid)
    ctx.note("take over", uid, before={"author": before.caller.member if before else ""})
    return version


def _changed_fields(
    ctx: RequestContext, uid: str, edit: ResourceEdit, before: resource_metadata.ResourceMetadata
) -> set[str]:
    """Return which of name, description and settings change."""
    found: set[str] = set()
    if edit.name is not None and valid_name(edit.name) != resource_view.make_ref(ctx.view, uid).name:
        found.add("name")
    if edit.description is not None and resource_metadata.valid_description(edit.description) != before.description:
        found.add("description")
    if edit.settings is not None and resource_metadata.valid_settings(
        edit.settings
    ) != resource_metadata.valid_settings(before.settings):
        found.add("settings")
    return found


def _audit(ctx: RequestContext, plan: EditPlan) -> None:
    edit, before = plan.edit, plan.before
    was: dict[str, object] = {}
    will: dict[str, object] = {}
    if edit.description is not None and edit.description != before.description:
        was["description"], will["description"] = before.description, edit.description
    if edit.settings is not None and edit.settings != before.settings:
        # Which of them, not what they say: a setting may be nobody else's business.
        names = sorted({*edit.settings, *before.settings})
        will["settings"] = [name for name in names if edit.settings.get(name) != before.settings.get(name)]
    ctx.note("edit", plan.uid, before=was, after=will)


def find_attribute_changes(
    ctx: RequestContext, uid: str, attributes: Mapping[str, str | bool] | None, member: str | None = None
) -> list[FactChange]:
    """Return the changes of attributes, or of those of a member's membership, without those that hold already."""
    schema = kinds.schema_of(ctx.view, uid)
    declared = schema.attributes if member is None else schema.membership
    present = ctx.session.read_view(
        lambda view: (
            resource_view.attributes_of(view, uid) if member is None else resource_view.membership_of(view, uid, member)
        )
    )
    found: list[FactChange] = []
    for name, value in require_mapping({} if attributes is None else attributes, "attributes").items():
        known = declared.get(require_text(name, "attribute"))
        if known is None:
            what = "attribute" if member is None else "membership attribute"
            message = f"{schema.id} has no {what} {quote(str(name))}."
            raise InvalidInputError(message, did_you_mean(str(name), declared))
        valid = validate_value(known, value)  # type: ignore[arg-type]
        if present.get(known.name) != valid:
            found.append(Add(Attribute(uid, known.name, valid, member)))
    return found


def _edge_changes(ctx: RequestContext, uid: str, edges: EdgeTargets | None) -> dict[str, _EdgeChange]:
    """Return how each edge changes, of those that do."""
    schema = kinds.schema_of(ctx.view, uid)
    found: dict[str, _EdgeChange] = {}
    for name, targets in require_mapping({} if edges is None else edges, "edges").items():
        if name == schema.parent:
            raise InvalidInputError(f"{quote(str(name))} is its parent.", "Move it to change that.")
        declared = ctx.view.policy.edge(schema.id, require_text(name, "edge"))
        given = [targets] if isinstance(targets, str) else list(targets)  # type: ignore[call-overload]
        for target in given:
            ctx.need_visible(require_text(target, "id"), f"link {name}")
        change = _edge_change(ctx, uid, declared, given)
        if change.changes and not given and declared.name in schema.required_edges:
            raise InvalidInputError(f"A {schema.title.lower()} needs a {declared.name}.", "Name another one instead.")
        if change.changes:
            found[declared.name] = change
    return found


def _edge_change(ctx: RequestContext, uid: str, edge: EdgeKind, targets: Sequence[str]) -> _EdgeChange:
    kind = kinds.schema_of(ctx.view, uid).id
    ends = ctx.session.read_view(lambda view: list(map(view.uid, resolve_targets(view, kind, edge.name, targets))))
    there = ctx.session.read_view(lambda view: resource_view.edges_of(view, uid)[edge.name])
    new = [Add(Edge(edge.name, uid, end)) for end in ends if end not in there]
    if ends and not edge.many:
        # The new end takes the place of the old one by itself.
        return _EdgeChange(new, ends)
    visible_refs = resource_view.VisibleRefs(ctx)
    gone = [end for end in there if end not in ends and visible_refs.sees(end)]
    after = [end for end in dict.fromkeys((*there, *ends)) if end not in gone]
    return _EdgeChange([*new, *(Remove(Edge(edge.name, uid, end)) for end in gone)], after)


def _need_edges(ctx: RequestContext, uid: str, edge_changes: Mapping[str, _EdgeChange]) -> None:
    """Check edges that are set with the same action together, before, at their ends, and after."""
    together: dict[str, dict[str, list[str]]] = {}
    schema = kinds.schema_of(ctx.view, uid)
    for name, edge_change in edge_changes.items():
        action = _own_action(schema.edges[name], schema.actions)
        if action is None:
            for change in edge_change.changes:
                ctx.need_change(change)
        else:
            together.setdefault(action, {})[name] = edge_change.ends
    for action, edges in together.items():
        ctx.need(action, uid, edges=edges)


def _own_action(edge: EdgeKind, actions: Sequence[str]) -> str | None:
    """Return the action of the resource itself that the edge is set with."""
    tree = edge.set_with.tree if edge.set_with else None
    if isinstance(tree, PathNode) and tree.equals is None and len(tree.names) == 1 and tree.names[0] in actions:
        return tree.names[0]
    return None


def preview_reparent(ctx: RequestContext, uid: str, to: str) -> AccessEffects:
    """Return who would gain and lose what by the move, for those who may make it."""
    change = need_reparent(ctx, uid, to)
    return change_preview.visible_effects(ctx, ctx.session.what_if([change]))


def reparent(ctx: RequestContext, uid: str, to: str, *, expect_version: int | None = None) -> int:
    """Move the resource, with all that lies in it, to another parent, and return its version."""
    change = need_reparent(ctx, uid, to)
    resource_metadata.need_version(ctx, uid, expect_version)
    if kinds.parent_of(ctx.view, uid) == to:
        return resource_metadata.load(ctx, uid).version
    ctx.make_unchecked(change)
    # What a report reads is what it lies in.
    part = part_of_change(ctx.view, change)
    return resource_metadata.save(ctx, uid, authored=() if part is None else {part})


def need_reparent(ctx: RequestContext, uid: str, to: str) -> Add:
    """Return the change that moves the resource, or refuse unless the caller may make it."""
    ctx.need_visible(uid, "move")
    ctx.need_visible(to, "move")
    schema = kinds.schema_of(ctx.view, uid)
    parent = schema.parent
    if parent is None or schema.edges[parent].set_with is None:
        raise ConflictError(f"A {schema.title.lower()} stays where it is; {quote(uid)} cannot be moved.", "Copy it.")
    change = Add(Edge(parent, uid, to))
    ctx.need_change(change)
    return change
