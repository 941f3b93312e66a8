"""Create, get, list, search, delete and restore resources of every kind."""

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from lakehold.access import Add, Attribute
from lakehold.access.facts.descriptions import describe_resource
from lakehold.access.facts.view import FactView
from lakehold.access.query.listing import ListedResource, to_cursor
from lakehold.catalog import credentials, kinds, network_policy, resource_metadata, resource_view
from lakehold.catalog.resource_view import ResourceSummary, ResourceView
from lakehold.directory.request_context import EdgeTargets, RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.database import CursorPage
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.ids import fold_name, quote
from lakehold.kit.secret_headers import split_secrets
from lakehold.workspaces import registry


def create(
    ctx: RequestContext,
    kind: str,
    name: str,
    *,
    uid: str | None = None,
    edges: EdgeTargets | None = None,
    attributes: Mapping[str, str | bool] | None = None,
    description: str = "",
    settings: Mapping[str, object] | None = None,
    managed: Mapping[str, object] | None = None,
) -> str:
    """Create a resource, and return its id. `managed` are settings that only the platform sets."""
    schema = kinds.catalog_kind(ctx.view.policy, kind)
    if registry.describe_kind(kind).is_trigger:
        raise InvalidInputError(
            f"A {schema.title.lower()} is created with its schedule.",
            "Add a trigger to what it runs (POST /api/v1/triggers).",
            field="kind",
        )
    resource_metadata.valid_description(description)
    resource_metadata.valid_settings({} if settings is None else settings)
    settings = resource_metadata.valid_for_kind(kind, {}, settings or {}, managed)
    resource_view.need_references(ctx, kind, {}, settings)
    network_policy.need_allowed(ctx, kind, settings)
    edges = {**(edges or {}), **resource_view.reference_edges(kind, settings)}
    settings, secrets = split_secrets(settings)
    registry.describe_kind(kind).refuse_new(ctx, attributes or {})
    created = ctx.create(kind, name, uid=uid, edges=edges, attributes=attributes)
    resource_metadata.create(ctx, created, description=description, settings=settings)
    if secrets:
        credentials.save_headers(ctx, created, settings, secrets)
    return created


def get(ctx: RequestContext, uid: str) -> ResourceView:
    """Return a resource as the caller may see it."""
    ctx.need_visible(uid)
    kinds.catalog_kind(ctx.view.policy, kinds.schema_of(ctx.view, uid).id)
    return resource_view.load_resource(ctx, uid)


def find(
    ctx: RequestContext,
    search: str = "",
    *,
    among: Iterable[str] | None = None,
    action: str | None = None,
    within: str | None = None,
    sort: str = "name",
    after: str | None = None,
    limit: int = 50,
) -> CursorPage[ResourceSummary]:
    """Return a page of resources of several kinds, or of all, that the caller may see or do the action with."""
    policy = ctx.view.policy
    schemas = kinds.all_kinds(policy) if among is None else [kinds.catalog_kind(policy, kind) for kind in among]
    if within is not None:
        ctx.need_visible(within)
    load = partial(ctx.session.list, ctx.principal, within=within, search=search, sort=sort, after=after, limit=limit)
    by_kind = [load(action or schema.visible, schema.id) for schema in schemas if schema.actions]
    more = any(found.after is not None for found in by_kind)
    lists = (found.items for found in by_kind)
    merged = list(heapq.merge(*lists, key=_sort_key(sort), reverse=sort.startswith("-")))
    items = merged[:limit]
    following = to_cursor(items[-1], sort) if more or len(merged) > limit else None
    return CursorPage(resource_view.load_summaries(ctx, items), following)


def delete(ctx: RequestContext, uid: str) -> bool:
    """Delete a resource. Returns False if others point at it: then it is only marked, and can be restored."""
    ctx.need_writable()
    view = ctx.view
    kinds.need_right(ctx, uid, "delete")
    kinds.catalog_kind(view.policy, kinds.schema_of(view, uid).id)
    can_be_marked = kinds.DELETED in kinds.schema_of(view, uid).attributes
    if can_be_marked and ctx.session.read_view(lambda view: _in_use(view, uid)):
        ctx.make(Add(Attribute(uid, kinds.DELETED, "true")))
        resource_metadata.save(ctx, uid)
        return False
    own, inside = _children(ctx, uid)
    _refuse_any(ctx, uid, inside, "still contains others", "They must be deleted or moved first.")
    needed = ctx.session.read_view(lambda view: _dependents(view, uid))
    _refuse_any(ctx, uid, needed, "is still needed by others", "Let them point at another one first, or delete them.")
    for each in (*own, uid):
        _delete_one(ctx, each)
    return True


def _children(ctx: RequestContext, uid: str) -> tuple[list[str], list[str]]:
    """Return what is deleted with a resource, and what else lies in it."""

    def split(view: FactView) -> tuple[list[str], list[str]]:
        found: tuple[list[str], list[str]] = ([], [])
        for child in view.children(view.resource(uid)):
            found[not registry.describe_kind(view.kind(child)).deleted_with_parent].append(view.uid(child))
        return found

    return ctx.session.read_view(split)


def _delete_one(ctx: RequestContext, uid: str) -> None:
    number = ctx.view.resource(uid)
    kind = ctx.view.kind(number)
    ctx.delete_unchecked(uid)
    resource_metadata.clear_deleted(ctx, number, kind)
    credentials.delete_all(ctx, number)


def restore(ctx: RequestContext, uid: str, name: str = "") -> int:
    """Restore a resource that was marked as deleted, also for those who may though they do not see it: they see what
    points at it. Another name is for when its own was taken meanwhile. Returns its version.
    """
    may = may_restore(ctx, uid)
    if not may:
        ctx.need_visible(uid, "restore")
    if not is_deleted(ctx.view, uid):
        raise ConflictError(f"{quote(uid)} is not deleted.", "Only what was deleted can be restored.")
    back = Add(Attribute(uid, kinds.DELETED, "false"))
    if not may:
        ctx.need_change(back)
    if name:
        ctx.rename_unchecked(uid, name)
    ctx.make_unchecked(back)
    return resource_metadata.save(ctx, uid)


def may_restore(ctx: RequestContext, uid: str) -> bool:
    """Whether the caller may restore the resource."""
    if ctx.view.ids.get(uid) is None or kinds.DELETED not in kinds.schema_of(ctx.view, uid).attributes:
        return False
    return ctx.session.check_change(ctx.principal, Add(Attribute(uid, kinds.DELETED, "false")))


def is_deleted(view: FactView, uid: str) -> bool:
    """Whether the resource is marked as deleted."""
    return resource_view.attributes_of(view, uid).get(kinds.DELETED) == "true"


def _in_use(view: FactView, uid: str) -> bool:
    """Whether something that does not lie in it points at it."""
    number = view.resource(uid)
    here = view.kind(number)
    return any(
        view.edges_in[edge].get(number)
        for kind in view.policy.kinds.values()
        for edge, step in kind.steps.items()
        if not step.back and here in step.kinds and edge != kind.schema.parent
    )


def _refuse_any(ctx: RequestContext, uid: str, others: Sequence[str], why: str, hint: str) -> None:
    """Refuse to delete a resource because of others, one of which is named if the caller may see it."""
    if not others:
        return
    visible_refs = resource_view.VisibleRefs(ctx)
    seen = next((uid for uid in others if visible_refs.sees(uid)), None)
    example = f"{describe_resource(ctx.view, seen)} among them" if seen else "none of which you may see"
    raise ConflictError(f"The {describe_resource(ctx.view, uid)} {why}, {example}.", hint)


def _dependents(view: FactView, uid: str) -> list[str]:
    number = view.resource(uid)
    return [
        view.uid(source)
        for kind in view.policy.kinds.values()
        for edge in kind.schema.required_edges
        if view.kind(number) in kind.steps[edge].kinds
        for source in view.edges_in[edge].get(number) or ()
    ]


def _sort_key(sort: str) -> Callable[[ListedResource], tuple[str | Moment, int]]:
    if sort in {"name", "-name"}:
        return lambda item: (fold_name(item.name), item.id)
    return lambda item: (item.since, item.id)
