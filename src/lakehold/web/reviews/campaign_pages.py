"""Access reviews: the list of campaigns, starting one, and the page of one with its roles, decisions and report."""

from collections.abc import Callable, Sequence

from fastapi import Request, Response
from fastapi.responses import FileResponse

from lakehold.access import Remove
from lakehold.api.http.dependencies import FormContext, ReadContext, WriteContext, get_platform
from lakehold.catalog import campaign_decisions, campaigns, change_preview, usage
from lakehold.catalog.campaign_table import ENDED, KEPT, REMOVED, UNDECIDED, CampaignRow
from lakehold.catalog.campaigns import CampaignView
from lakehold.directory.errors import DeniedError
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError
from lakehold.kit.ids import fold_name
from lakehold.runs.jobs import service, table
from lakehold.runs.jobs.service import ACCESS_REVIEW, FORMATS, MEDIA_TYPES, Job
from lakehold.web import form_values, pages, urls
from lakehold.web.components import PageAction
from lakehold.web.form_values import FieldErrors, collect_errors
from lakehold.web.list_view import ListFilter, ListState
from lakehold.web.routing import FORM_METHODS, SubmittedForm, router

routes = router("/reviews")

_SIZE = 25
_STATES = ListFilter("state", "State", (("open", "Open"), ("closed", "Closed")))
_MAX_LISTED = 3
_MAX_SEARCHED = 50
_FORMAT_LABELS = {"csv": "CSV", "parquet": "Parquet", "arrow": "Arrow"}


@routes.get("")
def reviews_page(request: Request, ctx: ReadContext) -> Response:
    """Show the campaigns in which the caller takes part."""
    listing = ListState.from_request(request, sorts=("newest",), filters=[_STATES], size=_SIZE)
    closed = {"open": False, "closed": True}.get(listing.chosen["state"])
    found = campaigns.page(ctx, closed=closed, before=listing.before, limit=_SIZE)
    values: dict[str, object] = {
        **listing.cursor_values(found.items, str(found.before or "")),
        "may_start": change_preview.may_ask_about_others(ctx) or bool(campaigns.reviewable_workspaces(ctx)),
        "request_url": urls.request(ctx.caller.tenant, change_preview.ASK),
        "now": ctx.at,
    }
    return pages.render(request, "reviews/list.html", values)


@routes.api_route("/new", methods=FORM_METHODS)
def start_campaign(request: Request, ctx: FormContext, sent: SubmittedForm, workspace: str = "") -> Response:
    """Show the form for a new campaign; start it."""
    filled, errors = {"workspace": workspace, "asks": campaigns.EVERYTHING, "name": "", "due": ""}, FieldErrors()
    if request.method == "POST":
        filled = {name: form_values.text_field(sent, name).strip() for name in filled}
        required = {"name": "Enter a name.", "workspace": "Select a workspace."}
        errors.update({name: message for name, message in required.items() if not filled[name]})
        errors |= collect_errors(due=lambda: form_values.parse_end_of_day(ctx, filled["due"]))
    if request.method == "POST" and not errors:
        due, settings = form_values.parse_end_of_day(ctx, filled["due"]), get_platform(request).settings
        own_fields = {name: name for name in ("name", "asks", "due")}
        with errors.at("workspace", InvalidInputError, ConflictError, fields=own_fields):
            started = campaigns.start(
                ctx, filled["workspace"], filled["name"], asks=filled["asks"], due=due, settings=settings
            )
            return pages.redirect(request, f"/reviews/{started.campaign.uid}", f"{started.campaign.name} was started.")
    spaces = campaigns.reviewable_workspaces(ctx)
    if not spaces:
        ctx.need(change_preview.ASK, ctx.caller.tenant)
    kind = ctx.view.policy.kind
    chosen = filled["workspace"] if any(one.uid == filled["workspace"] for one in spaces) else ""
    values: dict[str, object] = {
        "filled": {**filled, "workspace": chosen},
        "options": [("", "Choose …"), *((one.uid, f"{one.name} · {kind(one.kind).schema.title}") for one in spaces)],
        "reviewers": campaigns.reviewers(ctx, chosen) if chosen else [],
        "today": form_values.today(ctx),
    }
    return pages.render_form(request, "reviews/new.html", values, errors)


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


def _filter_rows(
    request: Request, ctx: RequestContext, rows: Sequence[CampaignRow]
) -> tuple[ListState, list[CampaignRow]]:
    """Return the listing of the address, and the rows that match it. Filters offer only values that the rows have."""
    holders = {row.subject.uid: row.subject.name for row in rows}
    kinds = {row.resource.kind: ctx.view.policy.kind(row.resource.kind).schema.title for row in rows}
    filters = [
        ListFilter("state", "Decision", tuple((state, words) for state, (words, _) in STATES.items())),
        ListFilter("member", "Member", _filter_options(holders)[:_MAX_HOLDERS]),
        ListFilter("kind", "Kind", _filter_options(kinds)),
    ]
    listing = ListState.from_request(request, sorts=tuple(_SORT_KEYS), filters=filters)
    words, chosen = fold_name(listing.search).split(), listing.chosen
    found = [
        row
        for row in rows
        if chosen["state"] in {"", row.state}
        and chosen["member"] in {"", row.subject.uid}
        and chosen["kind"] in {"", row.resource.kind}
        and all(word in fold_name(f"{row.subject.name} {row.resource.name} {row.title}") for word in words)
    ]
    return listing, sorted(found, key=_SORT_KEYS[listing.sort], reverse=listing.descending)


def _filter_options(named: dict[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(named.items(), key=lambda option: (fold_name(option[1]), option[0])))


@routes.get("/{uid}")
def campaign_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Show the rows of a campaign that match the address."""
    detail = campaigns.get(ctx, uid)
    listing, found = _filter_rows(request, ctx, campaign_decisions.list_rows(ctx, uid))
    visible_rows = listing.slice_page(found)
    is_open = campaigns.is_open(ctx, detail.campaign)
    values: dict[str, object] = {
        "review": detail,
        "campaign": detail.campaign,
        **listing.page_values(found),
        "uses": usage.last_role_uses(ctx, [(row.subject.uid, row.resource.uid) for row in visible_rows]),
        "refusals": {row.n: _removal_refusal(ctx, row) for row in visible_rows} if is_open else {},
        "states": STATES,
        "is_open": is_open,
        "reviewers": campaigns.reviewers(ctx, detail.workspace.uid),
        **report_values(ctx, detail),
    }
    return pages.render(request, "reviews/campaign.html", values)


def _removal_refusal(ctx: RequestContext, row: CampaignRow) -> PageAction | None:
    """Return why the caller may not remove a role, or None if they may."""
    if row.state != UNDECIDED:
        return None
    try:
        ctx.need_change(Remove(row.grant))
    except DeniedError as error:
        return PageAction("Remove", why_not=error.hint or error.message)
    return None


@routes.post("/{uid}/work-out")
def start_report(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Start the job that computes the report."""
    detail = campaigns.get(ctx, uid)
    service.start_job(ctx, ACCESS_REVIEW, {"format": str(sent.get("format", "csv")), "inside": detail.workspace.uid})
    return pages.redirect(request, f"/reviews/{uid}", "The report was queued.")


@routes.get("/{uid}/worked-out")
def report_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Show the progress of the job. The campaign's page polls this fragment while the job runs."""
    detail = campaigns.get(ctx, uid)
    return pages.render(request, "reviews/report.html", {"review": detail, **report_values(ctx, detail)})


@routes.get("/{uid}/worked-out/{job}")
def download_report(request: Request, ctx: WriteContext, uid: str, job: str) -> Response:
    """Download the report. Every download is recorded in the audit log."""
    detail = campaigns.get(ctx, uid)
    found = service.get_job(ctx, job)
    if not _is_report_of(found, detail):
        raise NotFoundError("There is no such file.", "Open the review again.")
    file = service.get_result(ctx, job, get_platform(request).settings.data)
    name, media_type = f"who-could-do-what{file.suffix}", MEDIA_TYPES[file.suffix]
    return FileResponse(file, media_type=media_type, filename=name, headers={"cache-control": "no-store"})


def report_values(ctx: RequestContext, detail: CampaignView) -> dict[str, object]:
    """Return the template values of the report's part of the page."""
    jobs = service.list_jobs(ctx, kind=ACCESS_REVIEW, limit=_MAX_SEARCHED)
    found = [job for job in jobs if _is_report_of(job, detail)][:_MAX_LISTED]
    return {
        "jobs": found,
        "running": any(job.state not in table.ENDED for job in found),
        "may_work_out": change_preview.may_ask_about_others(ctx),
        "request_url": urls.request(ctx.caller.tenant, change_preview.ASK),
        "formats": [(each, _FORMAT_LABELS.get(each, each)) for each in sorted(FORMATS, key=lambda each: each != "csv")],
    }


def _is_report_of(job: Job, detail: CampaignView) -> bool:
    return job.kind == ACCESS_REVIEW and job.options.get("inside") == detail.workspace.uid
