"""Routes of impersonation: choosing a member, starting and ending."""

from urllib.parse import unquote, urlsplit

from fastapi import Request, Response
from starlette.routing import Match

from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.catalog import impersonation
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory import members
from lakehold.directory.members import Member
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import LakeholdError
from lakehold.web import pages
from lakehold.web.list_view import ListState
from lakehold.web.routing import SubmittedForm, router

routes = router("/view-as")


@routes.get("")
def impersonation_page(request: Request, ctx: ReadContext) -> Response:
    """Show the members to choose from, or, during impersonation, when it ends."""
    if ctx.caller.impersonator:
        return pages.render(request, "impersonation/active.html", {"until": impersonation.active_until(ctx)})
    ctx.need(impersonation.VIEW_AS, ctx.caller.tenant)
    listing = ListState.from_request(request, sorts=("name",))
    found = members.page(ctx, **listing.query)
    visible = VisibleRefs(ctx)
    rows = [(person, _refusal_reason(ctx, person), visible.refs(person.groups)) for person in found.items]
    return pages.render(request, "impersonation/choose.html", listing.cursor_values(rows, found.after))


@routes.post("")
def start_impersonation(request: Request, ctx: WriteContext, sent: SubmittedForm) -> Response:
    """Start the impersonation, which is recorded in the audit log."""
    seen = impersonation.start(ctx, str(sent.get("member", "")))
    name = ctx.view.names.get(ctx.view.member(seen.member)) or seen.member
    return pages.redirect(request, "/", f"Viewing as {name}. Ends automatically after an hour.")


@routes.post("/end")
def end_impersonation(request: Request, ctx: WriteContext, sent: SubmittedForm) -> Response:
    """End the impersonation, and go back to the page."""
    impersonation.stop(ctx)
    return pages.redirect(request, _return_address(request, str(sent.get("back", "/"))), "View as ended.")


def _refusal_reason(ctx: RequestContext, person: Member) -> str:
    try:
        impersonation.impersonate(ctx, person.uid)
    except LakeholdError as error:
        return error.message
    return ""


def _return_address(request: Request, address: str) -> str:
    """Return the address if a page is there. Addresses that only accept forms lead to the home page."""
    own = pages.safe_redirect_url(address)
    scope = {"type": "http", "method": "GET", "path": unquote(urlsplit(own).path), "headers": []}
    is_page = any(route.matches(scope)[0] is Match.FULL for route in request.app.routes)
    return own if is_page else "/"
