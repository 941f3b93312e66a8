"""One campaign: who holds what, and what was decided about it."""

from __future__ import annotations

from fastapi import Request, Response

from lakehold.access import Remove
from lakehold.access.model.policy import MEMBER
from lakehold.api.http.dependencies import ReadContext
from lakehold.catalog import campaign_decisions, campaigns, usage
from lakehold.catalog.campaign_visibility import UNDECIDED, CampaignRow
from lakehold.directory.errors import DeniedError
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import FOREVER
from lakehold.web import pages
from lakehold.web.components import PageAction
from lakehold.web.list_view import ListColumn
from lakehold.web.navigation import Breadcrumb
from lakehold.web.reviews import working_out
from lakehold.web.reviews.asking import STATES, fitting, listed
from lakehold.web.reviews.lists import crumbs
from lakehold.web.routing import router

routes = router("/reviews")

_COLUMNS = (
    ListColumn("Holder", "holder"),
    ListColumn("Role", "role"),
    ListColumn("On", "resource"),
    ListColumn("Since", "since", wide=True),
    ListColumn("Last used"),
    ListColumn("Decision"),
)


@routes.get("/{uid}")
def campaign_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Who holds what, as the address asks for it."""
    told = campaigns.get(ctx, uid)
    rows = campaign_decisions.list_rows(ctx, uid)
    listing = listed(request, rows, ctx.view.policy)
    found = fitting(listing, rows)
    shown = listing.slice_page(found)
    is_open = campaigns.is_open(ctx, told.campaign)
    values: dict[str, object] = {
        "told": told,
        "campaign": told.campaign,
        "listing": listing,
        "columns": (ListColumn("Select"), *_COLUMNS) if is_open else _COLUMNS,
        "rows": shown,
        "total": len(found),
        "uses": usage.last_role_uses(ctx, [(row.subject.uid, row.resource.uid) for row in shown]),
        "refusals": {row.n: _refusal(ctx, row) for row in shown} if is_open else {},
        "states": STATES,
        "files": _files(uid),
        "is_open": is_open,
        "reviewers": campaigns.reviewers(ctx, told.workspace.uid),
        "forever": FOREVER,
        "member_kind": MEMBER,
        "crumbs": crumbs(ctx, Breadcrumb(told.campaign.name)),
        **working_out.values(ctx, told),
    }
    return pages.render(request, "reviews/campaign.html", values)


def _files(uid: str) -> list[PageAction]:
    at = f"/reviews/{uid}/result"
    return [
        PageAction("As CSV", f"{at}.csv", icon="download"),
        PageAction("As JSON lines", f"{at}.jsonl", icon="download"),
    ]


def _refusal(ctx: RequestContext, row: CampaignRow) -> PageAction | None:
    """Why the caller may not take a role away; None if they may."""
    if row.state != UNDECIDED:
        return None
    try:
        ctx.need_change(Remove(row.grant))
    except DeniedError as error:
        return PageAction("Remove", why_not=error.hint or error.message)
    return None
