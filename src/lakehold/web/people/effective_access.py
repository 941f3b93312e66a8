"""A member's effective access: every resource that they can access, by workspace and kind, and through which grant.

Everybody may see their own; that of others needs the right `ask_about_others`. Resources that the caller may not see
are neither named nor counted.
"""

import heapq
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from fastapi import Request, Response

from lakehold.access.facts.view import FactView
from lakehold.access.model.schema import KindSchema
from lakehold.access.query.listing import ListedResource, ListingPage, to_cursor
from lakehold.api.access.question_scope import QuestionScope
from lakehold.api.http.dependencies import ReadContext
from lakehold.catalog import kinds, workspaces
from lakehold.catalog.resource_view import ResourceRef, VisibleRefs
from lakehold.directory import members
from lakehold.directory.request_context import RequestContext
from lakehold.kit.ids import fold_name
from lakehold.web import pages, urls
from lakehold.web.access.fact_labels import AccessReason, find_reason
from lakehold.web.list_view import ListFilter, ListState
from lakehold.web.routing import router

routes = router("/people")

_MAX_WORKSPACES = 200
_SIZE = 25
"""Each row is explained."""
_MAX_SINGLE_CHECKS = 2_000
"""Up to this many are checked one by one; of more, both sides are listed."""


KindCounts = list[tuple[KindSchema, int]]
"""The number of accessible resources of each kind."""
WorkspaceCounts = list[tuple[ResourceRef | None, KindCounts]]
"""The counts of each workspace; None for what lies in a workspace that the caller may not see."""
AccessRow = tuple[ListedResource, ResourceRef | None, Sequence[str], AccessReason, str]
"""A resource that the member can access, where it is, the actions, how they are held, and where that is explained."""


@routes.get("/{uid:path}/counts")
def counts_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Show the number of accessible resources by workspace and kind."""
    QuestionScope(ctx).resolve_subject(uid)
    member = members.get(ctx, uid)
    # For 100,000 resources this takes a third of a second, so the result is cached until something changes.
    counts = ctx.session.cached((_count_by_workspace, uid, ctx.principal), lambda: _count_by_workspace(ctx, uid))
    return pages.render(request, "people/counts.html", {"member": member, "shelves": counts})


@routes.get("/{uid:path}/reach")
def effective_access_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Show the list of accessible resources."""
    asking = QuestionScope(ctx)
    principal = asking.resolve_subject(uid)
    member = members.get(ctx, uid)
    listing = ListState.from_request(request, sorts=("name",), filters=_filters(ctx), size=_SIZE)
    listing = replace(listing, path=urls.member(uid, "reach"))
    within = listing.chosen["workspace"] or None
    listed = [
        asking.allowed_page(principal, kind.visible, kind.id, within=within, **listing.query)
        for kind in _chosen_kinds(ctx, listing)
        if kind.actions
    ]
    found, after = _merge_pages(listed, listing.order, listing.size)
    visible = VisibleRefs(ctx)
    values: dict[str, object] = {
        "member": member,
        "mine": uid == ctx.caller.member,
        **listing.cursor_values([_resource_row(ctx, uid, visible, each) for each in found], after),
    }
    return pages.render(request, "people/reach.html", values)


def _count_by_workspace(ctx: RequestContext, uid: str) -> WorkspaceCounts:
    """Count the resources that a member can access and the caller may know of, by workspace and kind."""
    counted: dict[str | None, KindCounts] = {}
    above: dict[int, str | None] = {}
    roots = {root.id for root in kinds.workspace_kinds(ctx.view.policy)}
    for kind in kinds.all_kinds(ctx.view.policy):
        if kind.id in roots or not kind.actions:
            continue
        numbers = _accessible_numbers(ctx, uid, kind)
        places = ctx.session.read_view(lambda view, k=kind, n=numbers: _counts_per_workspace(view, k.id, n, above))  # type: ignore[misc]
        for place, count in places.items():
            counted.setdefault(place, []).append((kind, count))
    visible = VisibleRefs(ctx)
    found = [(visible.ref(place), counts) for place, counts in counted.items()]
    return sorted(found, key=lambda shelf: (shelf[0] is None, shelf[0].name if shelf[0] else ""))


def _accessible_numbers(ctx: RequestContext, uid: str, kind: KindSchema) -> Iterable[int]:
    if uid == ctx.caller.member:
        return ctx.session.ids(ctx.principal, kind.visible, kind.id)
    theirs = ctx.session.ids(uid, kind.visible, kind.id)
    if len(theirs) > _MAX_SINGLE_CHECKS:
        return set(theirs).intersection(ctx.session.ids(ctx.principal, kind.visible, kind.id))
    return [number for number in theirs if ctx.session.can_see(ctx.principal, ctx.view.uid(number))]


def _counts_per_workspace(
    view: FactView, kind: str, numbers: Iterable[int], above: dict[int, str | None]
) -> Counter[str | None]:
    """Count resources by workspace, through their parents, which are few; `above` caches the parents' workspaces."""
    counts: Counter[str | None] = Counter()
    parent = view.policy.kinds[kind].parent
    if parent is None:
        return counts
    up = view.edges_out[parent.edge].get
    direct = Counter(ends[0] if (ends := up(number)) else None for number in numbers)
    for place, count in direct.items():
        if place is not None and place not in above:
            above[place] = kinds.workspace_of(view, view.uid(place))
        counts[above[place] if place is not None else None] += count
    return counts


def _filters(ctx: RequestContext) -> list[ListFilter]:
    spaces = workspaces.page(ctx, limit=_MAX_WORKSPACES).items
    known = [kind for kind in kinds.all_kinds(ctx.view.policy) if kind.actions]
    models = ctx.view.policy.models
    return [
        ListFilter("workspace", "Workspace", tuple((space.uid, space.name) for space in spaces)),
        ListFilter("kind", "Kind", tuple((kind.id, f"{kind.title} ({models[kind.model].title})") for kind in known)),
    ]


def _chosen_kinds(ctx: RequestContext, listing: ListState) -> list[KindSchema]:
    policy, chosen = ctx.view.policy, listing.chosen
    if chosen["kind"]:
        return [kinds.catalog_kind(policy, chosen["kind"])]
    if chosen["workspace"]:
        model = kinds.schema_of(ctx.view, chosen["workspace"]).model
        return list(policy.models[model].kinds.values())
    return list(kinds.all_kinds(policy))


def _merge_pages(listed: Sequence[ListingPage], sort: str, limit: int) -> tuple[list[ListedResource], str | None]:
    """Merge the first page of each list into one order. A cursor is valid for each of them."""
    parts = (page.items for page in listed)
    found = list(heapq.merge(*parts, key=lambda item: (fold_name(item.name), item.id), reverse=sort.startswith("-")))
    more = len(found) > limit or any(page.after for page in listed)
    return found[:limit], to_cursor(found[limit - 1], sort) if more else None


def _resource_row(ctx: RequestContext, uid: str, visible: VisibleRefs, resource: ListedResource) -> AccessRow:
    sight = ctx.view.policy.kind(resource.kind).schema.visible
    principal = ctx.principal if uid == ctx.caller.member else uid
    explanation = ctx.session.explain(principal, sight, resource.uid, viewer=ctx.principal)
    return (
        resource,
        visible.parent(resource.uid),
        ctx.session.actions(principal, resource.uid),
        find_reason(ctx, uid, explanation),
        urls.why(resource.uid, sight, "" if uid == ctx.caller.member else uid),
    )
