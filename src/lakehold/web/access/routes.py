"""The access page of anything: who may do what with it, and what is given on it."""

from __future__ import annotations

from fastapi import Request, Response

from lakehold.access.model.schema import KindSchema
from lakehold.api.http.dependencies import ReadContext
from lakehold.catalog import change_preview, grants, kinds
from lakehold.catalog.resource_view import make_ref
from lakehold.directory.request_context import RequestContext
from lakehold.web import addresses, pages
from lakehold.web.access import acting, given, holding
from lakehold.web.actions import Action
from lakehold.web.listing import Column, Listing
from lakehold.web.routes import router

routes = router()

_MOST_GIVEN = 12


@routes.get("/resources/{uid:path}/access")
def access_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Members × actions; and beside it what is given here."""
    ctx.need_visible(uid)
    schema = ctx.session.read_view(lambda view: kinds.schema_of(view, uid))
    listing = Listing.of(request, ("name",), holding.filters(schema.actions), holding.SIZE)
    held, gives = grants.list_direct(ctx, uid), change_preview.gives_roles_on(ctx, uid)
    roles = [each for each in held if not schema.roles[each.role].person_only]
    values: dict[str, object] = {
        **frame(ctx, uid, "Access"),
        "listing": listing,
        "matrix": holding.matrix(ctx, uid, listing, held),
        "given": given.grants(ctx, uid, roles[:_MOST_GIVEN]),
        "given_total": len(roles),
        "owners": given.owners(ctx, uid, held),
        "settings": given.settings(ctx, uid),
        "edges": given.edges(ctx, uid),
        "gives": gives,
        "give": _give(ctx, uid, schema, gives=gives),
        "has_roles": any(not role.person_only for role in schema.roles.values()),
    }
    return pages.page(request, "access/access.html", values)


@routes.get("/resources/{uid:path}/access/given")
def given_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """All that is given here."""
    listing = Listing.of(request, ("name",))
    found = [each for each in grants.list_direct(ctx, uid) if listing.search.casefold() in each.subject.name.casefold()]
    values: dict[str, object] = {
        **frame(ctx, uid, "Given here"),
        "listing": listing,
        "columns": [Column("Who"), Column("Role"), Column("Since", wide=True), Column("Until")],
        "rows": [given.given(ctx, uid, each) for each in listing.part(found)],
        "total": len(found),
    }
    return pages.page(request, "access/given.html", values)


def _give(ctx: RequestContext, uid: str, schema: KindSchema, *, gives: bool) -> Action | None:
    """Giving access, or why one cannot; None where nothing can be given."""
    act = Action("Give access", addresses.resource(uid, "access/give"), icon="user-plus")
    rights = [role.given_with.text for role in schema.roles.values() if role.given_with]
    wanted = next((right for right in reversed(rights) if right in schema.actions), None)
    if gives or wanted is None:
        return act if gives else None
    return acting.refused(ctx, uid, wanted, act)


def frame(ctx: RequestContext, uid: str, *crumbs: str) -> dict[str, object]:
    """What all pages about one thing show around themselves."""
    return {
        "it": ctx.session.read_view(lambda view: make_ref(view, uid)),
        "crumbs": acting.crumbs(ctx, uid, *crumbs),
        "tabs": acting.tabs(ctx, uid),
        "path": addresses.resource(uid, "access"),
    }
