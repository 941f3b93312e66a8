"""A workspace: what is in it, kind by kind."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from fastapi import Request, Response

from lakehold.access import Draft
from lakehold.access.model.schema import KindSchema
from lakehold.api.http.dependencies import ReadContext
from lakehold.catalog import kinds, resources, workspaces
from lakehold.catalog.resource_view import ResourceSummary
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import LakeholdError
from lakehold.web import addresses, pages, views
from lakehold.web.access import acting
from lakehold.web.actions import Action
from lakehold.web.around import listed_kinds
from lakehold.web.listing import Column, Listing
from lakehold.web.routes import router
from lakehold.web.words import plural
from lakehold.web.workspaces import tabs

routes = router("/workspaces")

_MOST_SHOWN = 5
_SORTS = ("name", "created")
_COLUMNS = [Column("Name", "name"), Column("In", wide=True), Column("Since", "created"), Column("You may", wide=True)]


@dataclass(frozen=True, slots=True)
class Shelf:
    """The first few of a kind."""

    kind: KindSchema
    label: str
    href: str
    items: list[ResourceSummary]
    more: bool


@routes.get("/{uid:path}/{kind}")
def list_of_kind(request: Request, ctx: ReadContext, uid: str, kind: str) -> Response:
    """All resources of one kind in a workspace."""
    schema = _kind_of(ctx, uid, kind)
    if schema is None:
        return workspace_page(request, ctx, f"{uid}/{kind}")
    listing = Listing.of(request, _SORTS)
    found = resources.page(
        ctx,
        schema.id,
        within=uid,
        search=listing.search,
        sort=f"-{listing.sort}" if listing.descending else listing.sort,
        after=listing.after or None,
    )
    values: dict[str, object] = {
        "crumbs": acting.crumbs(ctx, uid, plural(schema.title)),
        "schema": schema,
        "label": plural(schema.title),
        "new": new(ctx, schema, uid),
        "listing": listing,
        "columns": _COLUMNS,
        "found": found,
    }
    return pages.page(request, "resources/kind.html", values)


@routes.get("/{uid:path}")
def workspace_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """A workspace at a glance."""
    workspaces.need_workspace(ctx, uid)
    found = resources.get(ctx, uid)
    schema = kinds.catalog_kind(ctx.view.policy, found.kind)
    if own := views.overview(uid, found.kind):
        return pages.go(request, own)
    values: dict[str, object] = {
        "crumbs": acting.crumbs(ctx, uid),
        "found": found,
        **tabs.shown(uid, found.kind),
        "places": views.places(uid, schema.id),
        "shelves": [_shelf(ctx, uid, kind) for kind in listed_kinds(ctx, schema)],
        "makes": [new(ctx, kind, uid) for kind in listed_kinds(ctx, schema) if kind.create is not None],
    }
    return pages.page(request, "resources/workspace.html", values)


def new(ctx: RequestContext, kind: KindSchema, uid: str) -> Action:
    """Make one of the kind in the workspace. Where only its edges can tell, the form says whether one may."""
    href = views.form(uid, kind.id) or f"/resources/new?{urlencode({'kind': kind.id, 'in': uid})}"
    label = f"New {kind.title.lower()}"
    if kind.create is None:
        return Action(label, icon="plus", why_not=f"A {kind.title.lower()} comes into being by itself.")
    return Action(label, href, icon="plus", why_not="" if _may_make(ctx, kind, uid) else _WHY_NOT)


_WHY_NOT = "Your role here does not let you make one."


def _may_make(ctx: RequestContext, kind: KindSchema, uid: str) -> bool:
    """Whether they may, as far as can be told before the form is filled in."""
    parent = kind.edges[kind.parent] if kind.parent else None
    here = kinds.schema_of(ctx.view, uid).name
    if kind.parent is None or parent is None or here not in parent.to:
        return True
    try:
        may = ctx.session.check(ctx.asker, "create", Draft(kind.id, {kind.parent: uid}))
    except LakeholdError:
        return True
    return may or len(kind.edges) > 1


def _shelf(ctx: RequestContext, uid: str, kind: KindSchema) -> Shelf:
    found = resources.page(ctx, kind.id, within=uid, limit=_MOST_SHOWN)
    href = addresses.workspace(uid, kind.name)
    return Shelf(kind, plural(kind.title), href, found.items, found.after is not None)


def _kind_of(ctx: RequestContext, uid: str, name: str) -> KindSchema | None:
    """The kind of this name in the workspace; None if the two are the id of a workspace with a slash in it."""
    try:
        workspaces.need_workspace(ctx, uid)
    except LakeholdError:
        return None
    root = kinds.schema_of(ctx.view, uid)
    return next((kind for kind in listed_kinds(ctx, root) if kind.name == name), None)
