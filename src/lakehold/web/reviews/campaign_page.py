"""The page of one campaign: who holds which role, and the decisions; with the filters of its list."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fastapi import Request, Response

from lakehold.access import Remove
from lakehold.access.model.policy import MEMBER, Policy
from lakehold.api.http.dependencies import ReadContext
from lakehold.catalog import campaign_decisions, campaigns, usage
from lakehold.catalog.campaign_visibility import ENDED, KEPT, REMOVED, UNDECIDED, CampaignRow
from lakehold.catalog.resource_view import ResourceRef
from lakehold.directory.errors import DeniedError
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import FOREVER, Moment
from lakehold.kit.ids import fold_name
from lakehold.web import pages
from lakehold.web.components import PageAction
from lakehold.web.list_view import ListColumn, ListFilter, ListState
from lakehold.web.navigation import Breadcrumb
from lakehold.web.reviews import access_report
from lakehold.web.reviews.campaign_list import review_breadcrumbs
from lakehold.web.routing import router

STATES = {
    UNDECIDED: ("Undecided", "neutral"),
    KEPT: ("Kept", "good"),
    REMOVED: ("Removed", "bad"),
    ENDED: ("No longer held", "outline"),
}
"""Words and tones of what was decided."""
_MAX_HOLDERS = 200

_SORT_KEYS: dict[str, Callable[[CampaignRow], tuple[str | Moment, ...]]] = {
    "resource": lambda row: (fold_name(row.resource.name), row.resource.uid, fold_name(row.subject.name)),
    "holder": lambda row: (fold_name(row.subject.name), row.subject.uid, fold_name(row.resource.name)),
    "role": lambda row: (fold_name(row.title), fold_name(row.resource.name), fold_name(row.subject.name)),
    "since": lambda row: (row.since, row.n),
}


def parse_listing(request: Request, rows: Sequence[CampaignRow], policy: Policy) -> ListState:
    """Parse the listing from the address. Filters offer only values that the rows have."""
    holders = {row.subject.uid: row.subject.name for row in rows}
    kinds = {row.resource.kind: policy.kind(row.resource.kind).schema.title for row in rows}
    filters = [
        ListFilter("state", "Decision", tuple((state, words) for state, (words, _) in STATES.items())),
        ListFilter("member", "Holder", _filter_options(holders)[:_MAX_HOLDERS]),
        ListFilter("kind", "Kind", _filter_options(kinds)),
    ]
    return ListState.from_request(request, sorts=tuple(_SORT_KEYS), filters=filters)


def filter_rows(listing: ListState, rows: Sequence[CampaignRow]) -> list[CampaignRow]:
    """Return the rows that match the listing, sorted."""
    words = fold_name(listing.search).split()
    chosen = listing.chosen
    found = [
        row
        for row in rows
        if chosen["state"] in {"", row.state}
        and chosen["member"] in {"", row.subject.uid}
        and chosen["kind"] in {"", row.resource.kind}
        and all(word in _search_text(row.subject, row.resource, row.title) for word in words)
    ]
    return sorted(found, key=_SORT_KEYS[listing.sort], reverse=listing.descending)


def _search_text(who: ResourceRef, what: ResourceRef, title: str) -> str:
    return fold_name(f"{who.name} {what.name} {title}")


def _filter_options(named: dict[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(named.items(), key=lambda option: (fold_name(option[1]), option[0])))


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
    """Show the rows of a campaign that match the address."""
    detail = campaigns.get(ctx, uid)
    rows = campaign_decisions.list_rows(ctx, uid)
    listing = parse_listing(request, rows, ctx.view.policy)
    found = filter_rows(listing, rows)
    visible_rows = listing.slice_page(found)
    is_open = campaigns.is_open(ctx, detail.campaign)
    values: dict[str, object] = {
        "told": detail,
        "campaign": detail.campaign,
        "listing": listing,
        "columns": (ListColumn("Select"), *_COLUMNS) if is_open else _COLUMNS,
        "rows": visible_rows,
        "total": len(found),
        "uses": usage.last_role_uses(ctx, [(row.subject.uid, row.resource.uid) for row in visible_rows]),
        "refusals": {row.n: _removal_refusal(ctx, row) for row in visible_rows} if is_open else {},
        "states": STATES,
        "files": _export_actions(uid),
        "is_open": is_open,
        "reviewers": campaigns.reviewers(ctx, detail.workspace.uid),
        "forever": FOREVER,
        "member_kind": MEMBER,
        "crumbs": review_breadcrumbs(ctx, Breadcrumb(detail.campaign.name)),
        **access_report.report_values(ctx, detail),
    }
    return pages.render(request, "reviews/campaign.html", values)


def _export_actions(uid: str) -> list[PageAction]:
    at = f"/reviews/{uid}/result"
    return [
        PageAction("As CSV", f"{at}.csv", icon="download"),
        PageAction("As JSON lines", f"{at}.jsonl", icon="download"),
    ]


def _removal_refusal(ctx: RequestContext, row: CampaignRow) -> PageAction | None:
    """Return why the caller may not remove a role, or None if they may."""
    if row.state != UNDECIDED:
        return None
    try:
        ctx.need_change(Remove(row.grant))
    except DeniedError as error:
        return PageAction("Remove", why_not=error.hint or error.message)
    return None
