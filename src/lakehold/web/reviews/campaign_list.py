"""The list of campaigns, and starting one."""

from __future__ import annotations

from fastapi import Request, Response

from lakehold.api.http.dependencies import ReadContext, WriteContext, get_platform
from lakehold.catalog import campaigns, change_preview
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.web import form_values, pages, urls
from lakehold.web.components import PageAction
from lakehold.web.cookies import Flash
from lakehold.web.list_view import ListColumn, ListFilter, ListState
from lakehold.web.navigation import Breadcrumb, breadcrumb_trail
from lakehold.web.routing import SubmittedForm, router

routes = router("/reviews")

_SIZE = 25
_COLUMNS = (
    ListColumn("Review"),
    ListColumn("Workspace", wide=True),
    ListColumn("Progress"),
    ListColumn("Due"),
    ListColumn("Started", wide=True),
)
_STATES = ListFilter("state", "State", (("open", "Open"), ("closed", "Closed")))
_SCOPES = (
    (campaigns.EVERYTHING, "All roles", "On the workspace and on every resource in it."),
    (campaigns.WORKSPACE, "Workspace roles only", "Roles on the workspace itself."),
)


@routes.get("")
def reviews_page(request: Request, ctx: ReadContext) -> Response:
    """Show the campaigns in which the caller takes part."""
    listing = ListState.from_request(request, sorts=("newest",), filters=[_STATES], size=_SIZE)
    closed = {"open": False, "closed": True}.get(listing.chosen["state"])
    before = int(listing.after) if listing.after.isascii() and listing.after.isdigit() else None
    found = campaigns.page(ctx, closed=closed, before=before, limit=_SIZE)
    values: dict[str, object] = {
        "listing": listing,
        "columns": _COLUMNS,
        "reviews": found.items,
        "after": str(found.before or ""),
        "new": _new_action(ctx),
        "now": ctx.at,
    }
    return pages.render(request, "reviews/list.html", values)


@routes.get("/new")
def new_campaign_page(request: Request, ctx: ReadContext, workspace: str = "") -> Response:
    """Show the form for a new campaign."""
    return _campaign_form(
        request, ctx, {"workspace": workspace, "asks": campaigns.EVERYTHING, "name": "", "due": ""}, {}
    )


@routes.post("/new")
def start_campaign(request: Request, ctx: WriteContext, sent: SubmittedForm) -> Response:
    """Start a campaign."""
    filled = {name: str(sent.get(name, "")).strip() for name in ("workspace", "name", "asks", "due")}
    errors = {
        **({} if filled["name"] else {"name": "Enter a name."}),
        **({} if filled["workspace"] else {"workspace": "Select a workspace."}),
    }
    try:
        due = form_values.parse_end_of_day(ctx, filled["due"])
    except InvalidInputError as error:
        errors["due"] = str(error)
    if errors:
        return _campaign_form(request, ctx, filled, errors)
    settings = get_platform(request).settings
    try:
        made = campaigns.start(
            ctx, filled["workspace"], filled["name"], asks=filled["asks"], due=due, settings=settings
        )
    except (InvalidInputError, ConflictError) as error:
        return _campaign_form(request, ctx, filled, form_values.errors_by_field(error, _FIELDS, "workspace"))
    return pages.redirect(request, f"/reviews/{made.campaign.uid}", Flash(f"{made.campaign.name} was started."))


def _campaign_form(request: Request, ctx: RequestContext, filled: dict[str, str], errors: dict[str, str]) -> Response:
    spaces = campaigns.reviewable_workspaces(ctx)
    if not spaces:
        ctx.need(change_preview.ASK, ctx.caller.tenant)
    kind = ctx.view.policy.kind
    chosen = filled["workspace"] if any(one.uid == filled["workspace"] for one in spaces) else ""
    values: dict[str, object] = {
        "filled": {**filled, "workspace": chosen},
        "errors": errors,
        "options": [("", "Choose …"), *((one.uid, f"{one.name} · {kind(one.kind).schema.title}") for one in spaces)],
        "asks": _SCOPES,
        "reviewers": campaigns.reviewers(ctx, chosen) if chosen else [],
        "today": form_values.today(ctx),
        "crumbs": review_breadcrumbs(ctx, Breadcrumb("New review")),
    }
    return pages.render(request, "reviews/new.html", values, status=422 if errors else 200)


def review_breadcrumbs(ctx: RequestContext, *here: Breadcrumb) -> list[Breadcrumb]:
    """Return the breadcrumbs of a page of access reviews."""
    return breadcrumb_trail(ctx, Breadcrumb("Access reviews", "/reviews"), *here)


def _new_action(ctx: RequestContext) -> PageAction:
    if change_preview.may_ask_about_others(ctx) or campaigns.reviewable_workspaces(ctx):
        return PageAction("New review", "/reviews/new", icon="plus")
    why_not = "Only members who can grant roles, or view others' access, can start a review."
    return PageAction("New review", why_not=why_not, request=urls.request(ctx.caller.tenant, change_preview.ASK))


_FIELDS = {name: name for name in ("name", "asks", "due")}
"""The form fields of what a campaign is started with."""
