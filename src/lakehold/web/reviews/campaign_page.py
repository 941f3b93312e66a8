"""The page of one campaign: who holds which role, and the decisions, with the filters of its list; and the report of
everybody's effective access in its workspace, computed by Spark in a background job.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fastapi import Request, Response
from fastapi.responses import FileResponse

from lakehold.access import Remove
from lakehold.access.model.policy import MEMBER, Policy
from lakehold.api.http.dependencies import ReadContext, WriteContext, get_platform
from lakehold.catalog import campaign_decisions, campaigns, change_preview, usage
from lakehold.catalog.campaign_table import ENDED, KEPT, REMOVED, UNDECIDED, CampaignRow
from lakehold.catalog.campaigns import CampaignView
from lakehold.directory.errors import DeniedError
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import FOREVER, Moment
from lakehold.kit.errors import NotFoundError
from lakehold.kit.ids import fold_name
from lakehold.runs.jobs import service, table
from lakehold.runs.jobs.registry import ACCESS_REVIEW, FORMATS
from lakehold.runs.jobs.service import Job
from lakehold.web import pages, urls
from lakehold.web.components import PageAction
from lakehold.web.cookies import Flash
from lakehold.web.list_view import ListColumn, ListFilter, ListState
from lakehold.web.navigation import Breadcrumb
from lakehold.web.reviews.campaign_list import review_breadcrumbs
from lakehold.web.routing import SubmittedForm, router

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
        ListFilter("member", "Member", _filter_options(holders)[:_MAX_HOLDERS]),
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
        and all(word in fold_name(f"{row.subject.name} {row.resource.name} {row.title}") for word in words)
    ]
    return sorted(found, key=_SORT_KEYS[listing.sort], reverse=listing.descending)


def _filter_options(named: dict[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(named.items(), key=lambda option: (fold_name(option[1]), option[0])))


routes = router("/reviews")

_COLUMNS = (
    ListColumn("Member", "holder"),
    ListColumn("Role", "role"),
    ListColumn("Resource", "resource"),
    ListColumn("Granted", "since", wide=True),
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
        **report_values(ctx, detail),
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


_MAX_LISTED = 3
_MAX_SEARCHED = 50
_FORMAT_LABELS = {"csv": "CSV", "parquet": "Parquet", "arrow": "Arrow"}


@routes.post("/{uid}/work-out")
def start_report(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Start the job that computes the report."""
    detail = campaigns.get(ctx, uid)
    service.start_job(ctx, ACCESS_REVIEW, {"format": str(sent.get("format", "csv")), "inside": detail.workspace.uid})
    return pages.redirect(request, f"/reviews/{uid}", Flash("The report was queued."))


@routes.get("/{uid}/worked-out")
def report_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Show the progress of the job. The campaign's page polls this fragment while the job runs."""
    detail = campaigns.get(ctx, uid)
    breadcrumbs = review_breadcrumbs(
        ctx, Breadcrumb(detail.campaign.name, f"/reviews/{uid}"), Breadcrumb("Access report")
    )
    return pages.render(
        request, "reviews/worked_out.html", {"told": detail, "crumbs": breadcrumbs, **report_values(ctx, detail)}
    )


@routes.get("/{uid}/worked-out/{job}")
def download_report(request: Request, ctx: WriteContext, uid: str, job: str) -> Response:
    """Download the report. Every download is recorded in the audit log."""
    detail = campaigns.get(ctx, uid)
    found = service.get_job(ctx, job)
    if not _is_report_of(found, detail):
        raise NotFoundError("There is no such file.", "Open the review again.")
    result = service.get_result(ctx, job, get_platform(request).settings.data)
    name = f"who-could-do-what{result.file.suffix}"
    return FileResponse(result.file, media_type=result.media_type, filename=name, headers={"cache-control": "no-store"})


def report_values(ctx: RequestContext, detail: CampaignView) -> dict[str, object]:
    """Return the template values of the report's part of the page."""
    found = [
        job for job in service.list_jobs(ctx, kind=ACCESS_REVIEW, limit=_MAX_SEARCHED) if _is_report_of(job, detail)
    ][:_MAX_LISTED]
    may = change_preview.may_ask_about_others(ctx)
    return {
        "jobs": found,
        "running": any(job.state not in table.ENDED for job in found),
        "may_work_out": may,
        "work_out": PageAction("Create report") if may else _refused_action(ctx),
        "formats": [(each, _FORMAT_LABELS.get(each, each)) for each in sorted(FORMATS, key=lambda each: each != "csv")],
    }


def _is_report_of(job: Job, detail: CampaignView) -> bool:
    return job.kind == ACCESS_REVIEW and job.wanted.get("inside") == detail.workspace.uid


def _refused_action(ctx: RequestContext) -> PageAction:
    return PageAction(
        "Create report",
        why_not="Only members who can view others' access can create it.",
        request=urls.request(ctx.caller.tenant, change_preview.ASK),
    )
