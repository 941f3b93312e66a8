"""Everything that a member can reach, by workspace and kind, and through what.

About oneself everybody may ask; about others those who `ask_about_others`. What the caller may not see is neither
named nor counted.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from fastapi import Request, Response

from lakehold.access.facts.view import FactView
from lakehold.access.model.schema import KindSchema
from lakehold.access.query.listing import ListedResource, to_cursor
from lakehold.api.access.listings import AllowedResourcePages
from lakehold.api.access.question_scope import QuestionScope
from lakehold.api.http.dependencies import ReadContext
from lakehold.catalog import kinds, workspaces
from lakehold.catalog.resource_view import ResourceRef, VisibleRefs
from lakehold.directory import members
from lakehold.directory.request_context import RequestContext
from lakehold.kit.ids import fold_name
from lakehold.web import pages, urls
from lakehold.web.access_reason import AccessReason, find_reason
from lakehold.web.list_view import ListColumn, ListFilter, ListState
from lakehold.web.people.one import trail
from lakehold.web.routing import router

routes = router("/people")

_COLUMNS = (
    ListColumn("Name", "name"),
    ListColumn("In", wide=True),
    ListColumn("May", wide=True),
    ListColumn("Through"),
)
_MOST_WORKSPACES = 200
_SIZE = 25
"""Each row is explained."""
_FEW = 2_000
"""So many are looked at one by one; of more, both sides are listed."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """A workspace, and how many of each kind in it can be reached."""

    workspace: ResourceRef | None
    """None for what lies in a workspace that the caller may not see."""
    counts: list[tuple[KindSchema, int]]


@dataclass(frozen=True, slots=True)
class Row:
    """One thing that can be reached."""

    thing: ListedResource
    place: ResourceRef | None
    actions: Sequence[str]
    through: AccessReason
    why: str


@routes.get("/{uid:path}/counts")
def counts_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """How much of what, where."""
    asking = QuestionScope(ctx)
    asking.resolve_subject(uid)
    member = members.get(ctx, uid)
    values: dict[str, object] = {
        "crumbs": trail(ctx, member, "Reach"),
        "member": member,
        "shelves": shelves(ctx, uid),
        "list": urls.member(uid, "reach"),
    }
    return pages.render(request, "people/counts.html", values)


@routes.get("/{uid:path}/reach")
def reach_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """The things themselves."""
    asking = QuestionScope(ctx)
    asker = asking.resolve_subject(uid)
    member = members.get(ctx, uid)
    listing = ListState.from_request(request, sorts=("name",), filters=_filters(ctx), size=_SIZE)
    listing = replace(listing, path=urls.member(uid, "reach"))
    wanted = _wanted(ctx, listing)
    within = listing.chosen["workspace"] or None
    sort = "-name" if listing.descending else "name"
    listed = [
        AllowedResourcePages(asking, asker, kind.visible, kind.id, within=within, search=listing.search, sort=sort)
        for kind in wanted
        if kind.actions
    ]
    found, after = _page(listed, sort, listing.after or None, listing.size)
    eyes = VisibleRefs(ctx)
    values: dict[str, object] = {
        "crumbs": trail(ctx, member, "Reach"),
        "member": member,
        "mine": uid == ctx.caller.member,
        "listing": listing,
        "columns": _COLUMNS,
        "rows": [_row(ctx, uid, eyes, each) for each in found],
        "after": after or "",
    }
    return pages.render(request, "people/reach.html", values)


def shelves(ctx: RequestContext, uid: str) -> list[Shelf]:
    """What a member can reach and the caller may know of, counted by workspace and kind. Of a hundred thousand things
    that takes a third of a second, so it is kept until something changes.
    """
    return ctx.session.cached((shelves, uid, ctx.asker), lambda: _shelves(ctx, uid))


def _shelves(ctx: RequestContext, uid: str) -> list[Shelf]:
    counted: dict[int | None, list[tuple[KindSchema, int]]] = {}
    above: dict[int, int | None] = {}
    roots = {root.id for root in kinds.workspace_kinds(ctx.view.policy)}
    for kind in kinds.all_kinds(ctx.view.policy):
        if kind.id in roots or not kind.actions:
            continue
        numbers = _reached(ctx, uid, kind)
        places = ctx.session.read_view(lambda view, k=kind, n=numbers: _by_place(view, k.id, n, above))  # type: ignore[misc]
        for place, count in places.items():
            counted.setdefault(place, []).append((kind, count))
    eyes = VisibleRefs(ctx)
    found = [Shelf(eyes.by_number(place) if place else None, counts) for place, counts in counted.items()]
    return sorted(found, key=lambda shelf: (shelf.workspace is None, shelf.workspace.name if shelf.workspace else ""))


def _reached(ctx: RequestContext, uid: str, kind: KindSchema) -> Iterable[int]:
    if uid == ctx.caller.member:
        return ctx.session.ids(ctx.asker, kind.visible, kind.id)
    theirs = ctx.session.ids(uid, kind.visible, kind.id)
    if len(theirs) > _FEW:
        return set(theirs).intersection(ctx.session.ids(ctx.asker, kind.visible, kind.id))
    return [number for number in theirs if ctx.session.can_see(ctx.asker, ctx.view.uid(number))]


def _by_place(view: FactView, kind: str, numbers: Iterable[int], above: dict[int, int | None]) -> Counter[int | None]:
    """Counted by what they lie in directly first: that is few, and they may be many."""
    counts: Counter[int | None] = Counter()
    parent = view.policy.kinds[kind].parent
    if parent is None:
        return counts
    up = view.edges_out[parent.edge].get
    direct = Counter(ends[0] if (ends := up(number)) else None for number in numbers)
    for place, count in direct.items():
        counts[_workspace(view, place, above) if place is not None else None] += count
    return counts


def _workspace(view: FactView, number: int, above: dict[int, int | None]) -> int | None:
    """The workspace that a resource lies in. What others lie in is remembered."""
    kind = view.policy.kinds[view.kind(number)]
    if kind.schema.name == view.policy.models[kind.schema.model].root:
        return number
    ends = view.edges_out[kind.parent.edge].get(number) if kind.parent else None
    if not ends:
        return None
    if ends[0] not in above:
        above[ends[0]] = _workspace(view, ends[0], above)
    return above[ends[0]]


def _filters(ctx: RequestContext) -> list[ListFilter]:
    spaces = workspaces.page(ctx, limit=_MOST_WORKSPACES).items
    known = [kind for kind in kinds.all_kinds(ctx.view.policy) if kind.actions]
    models = ctx.view.policy.models
    return [
        ListFilter("workspace", "Workspace", tuple((space.uid, space.name) for space in spaces)),
        ListFilter("kind", "Kind", tuple((kind.id, f"{kind.title} ({models[kind.model].title})") for kind in known)),
    ]


def _wanted(ctx: RequestContext, listing: ListState) -> list[KindSchema]:
    policy, chosen = ctx.view.policy, listing.chosen
    if chosen["kind"]:
        return [kinds.catalog_kind(policy, chosen["kind"])]
    if chosen["workspace"]:
        model = kinds.schema_of(ctx.view, chosen["workspace"]).model
        return list(policy.models[model].kinds.values())
    return list(kinds.all_kinds(policy))


def _page(
    listed: Sequence[AllowedResourcePages], sort: str, after: str | None, limit: int
) -> tuple[list[ListedResource], str | None]:
    """The first of all lists in one order; a cursor is good for each of them."""
    parts = [each.page(after, limit) for each in listed]
    merged = heapq.merge(
        *(items for items, _ in parts), key=lambda item: (fold_name(item.name), item.id), reverse=sort.startswith("-")
    )
    found = list(merged)
    more = len(found) > limit or any(following for _, following in parts)
    return found[:limit], to_cursor(found[limit - 1], sort) if more else None


def _row(ctx: RequestContext, uid: str, eyes: VisibleRefs, thing: ListedResource) -> Row:
    visible = ctx.view.policy.kind(thing.kind).schema.visible
    asker = ctx.asker if uid == ctx.caller.member else uid
    told = ctx.session.explain(asker, visible, thing.uid, viewer=ctx.asker)
    return Row(
        thing,
        eyes.parent(thing.uid),
        ctx.session.actions(asker, thing.uid),
        find_reason(ctx, uid, told),
        urls.why(thing.uid, visible, "" if uid == ctx.caller.member else uid),
    )
