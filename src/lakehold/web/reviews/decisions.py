"""Decisions in a campaign: keep, remove, reopen, close; and their audited export as CSV or JSON lines."""

import csv
import io
import json
from urllib.parse import urlsplit

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.api.http.dependencies import WriteContext
from lakehold.catalog import campaign_decisions, campaigns, usage
from lakehold.catalog.campaign_decisions import DecisionResult
from lakehold.catalog.campaign_table import Campaign
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import FOREVER, Moment, format_moment
from lakehold.kit.errors import InvalidInputError
from lakehold.lake.row_formats import escape_formula
from lakehold.web import confirmation, pages
from lakehold.web.cookies import Flash
from lakehold.web.labels import format_count
from lakehold.web.routing import SubmittedForm, router

routes = router("/reviews")

_REOPENED = "undecided again"
_DECISIONS = {
    "keep": (campaign_decisions.keep, "kept"),
    "remove": (campaign_decisions.remove, "removed"),
    "reopen": (campaign_decisions.reopen, _REOPENED),
}


@routes.post("/{uid}/decide")
def decide(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Decide about one row, or about all selected rows."""
    campaign = campaigns.find(ctx, uid)
    decision, numbers = _parse_decision(sent)
    back = _return_address(request, sent, uid)
    if not numbers:
        return pages.redirect(request, back, Flash("Select at least one role.", tone="warn"))
    many = decision == "remove" and len(numbers) > 1
    question = f"Remove {format_count(len(numbers), 'role')}?"
    text = "Members lose them immediately. You can undo this."
    asked = FormData([*sent.multi_items(), ("back", back)])
    if many:
        confirmation.need_confirmation(request, asked, question, text, do="Remove", back=back)
    do, words = _DECISIONS[decision]
    return _decision_response(request, ctx, campaign, do(ctx, uid, numbers), words=words, back=back)


@routes.post("/{uid}/reopen")
def reopen(request: Request, ctx: WriteContext, uid: str, rows: str = "") -> Response:
    """Undo decisions: removed roles are granted again."""
    campaign = campaigns.find(ctx, uid)
    outcome = campaign_decisions.reopen(ctx, uid, _parse_numbers(rows.split(",")))
    return _decision_response(request, ctx, campaign, outcome, words=_REOPENED, back=f"/reviews/{uid}")


@routes.post("/{uid}/close")
def close(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Close the campaign after confirmation."""
    detail = campaigns.get(ctx, uid)
    left = detail.progress.undecided
    text = "No more decisions can be made."
    if left:
        text = f"{format_count(left, 'role')} without a decision will be kept. {text}"
    question = f"Close {detail.campaign.name}?"
    confirmation.need_confirmation(request, sent, question, text, do="Close", back=f"/reviews/{uid}")
    campaigns.close(ctx, uid)
    return pages.redirect(request, f"/reviews/{uid}", f"{detail.campaign.name} was closed.")


def _parse_decision(sent: FormData) -> tuple[str, list[int]]:
    """Return the decision and the row numbers. A row's own button names its row; the others use the selection."""
    for decision in _DECISIONS:
        if sent.get(decision):
            return decision, _parse_numbers([str(sent[decision])])
    decision = str(sent.get("do", ""))
    if decision not in _DECISIONS:
        raise InvalidInputError("No decision was sent.", "Use one of the buttons.")
    chosen = [str(each) for each in sent.getlist("rows")]
    if "all" in chosen:
        chosen = [str(each) for each in sent.getlist("shown")]
    return decision, _parse_numbers(chosen)


def _parse_numbers(texts: list[str]) -> list[int]:
    if not all(text.isascii() and text.isdigit() and len(text) < 9 for text in texts):  # noqa: PLR2004 - a row's number is short
        raise InvalidInputError("Not a row of this review.", "Use the boxes of the list.")
    return sorted({int(text) for text in texts})


def _decision_response(
    request: Request, ctx: RequestContext, campaign: Campaign, outcome: DecisionResult, *, words: str, back: str
) -> Response:
    done = f"{format_count(len(outcome.done), 'role')} {words}." if outcome.done else ""
    refused = ""
    if outcome.refused:
        reasons = dict.fromkeys(error.message for _, error in outcome.refused)
        left = "left as it was" if len(outcome.refused) == 1 else "left as they were"
        refused = f"{format_count(len(outcome.refused), 'role')} {left}: {' '.join(list(reasons)[:2])}"
    undo = ""
    if outcome.done and words != _REOPENED:
        undo = f"/reviews/{campaign.uid}/reopen?rows={','.join(str(n) for n in outcome.done)}"
    # They may have removed their own right.
    to = back if campaigns.is_participant(ctx, campaign) else "/reviews"
    return pages.redirect(
        request, to, Flash(f"{done} {refused}".strip(), tone="warn" if refused else "good", undo=undo)
    )


def _return_address(request: Request, sent: FormData, uid: str) -> str:
    """Return the address of the list with its search, filters and page."""
    parts = urlsplit(str(sent.get("back", "")) or request.headers.get("referer", ""))
    here = f"/reviews/{uid}"
    return f"{here}?{parts.query}" if parts.path == here and parts.query else here


EXPORT_FIELDS = (
    *("holder", "holder_name", "role", "resource", "resource_name", "kind", "since", "until", "last_used"),
    *("decision", "decided_by", "decided_at"),
)


@routes.get("/{uid}/result.csv")
def result_as_csv(ctx: WriteContext, uid: str) -> Response:
    """Return the decisions as CSV, one line for each role."""
    text = io.StringIO()
    writer = csv.DictWriter(text, EXPORT_FIELDS)
    writer.writeheader()
    writer.writerows(
        {name: escape_formula(value) for name, value in line.items()} for line in _export_lines(ctx, uid, "csv")
    )
    return _file_response(text.getvalue(), "text/csv; charset=utf-8", f"review-{uid}.csv")


@routes.get("/{uid}/result.jsonl")
def result_as_json(ctx: WriteContext, uid: str) -> Response:
    """Return the decisions as JSON lines, one for each role."""
    lines = [json.dumps(line, ensure_ascii=False) for line in _export_lines(ctx, uid, "jsonl")]
    return _file_response("".join(f"{line}\n" for line in lines), "application/jsonl", f"review-{uid}.jsonl")


def _export_lines(ctx: RequestContext, uid: str, format_: str) -> list[dict[str, str]]:
    ctx.need_writable()
    detail = campaigns.get(ctx, uid)
    rows = campaign_decisions.list_rows(ctx, uid)
    ctx.note("take campaign", detail.workspace.uid, after={"campaign": uid, "format": format_})
    uses = usage.last_role_uses(ctx, [(row.subject.uid, row.resource.uid) for row in rows])
    return [
        {
            "holder": row.subject.uid,
            "holder_name": row.subject.name,
            "role": row.title,
            "resource": row.resource.uid,
            "resource_name": row.resource.name,
            "kind": row.resource.kind,
            "since": _format_time(row.since),
            "until": _format_time(row.until),
            "last_used": _format_time(uses.get((row.subject.uid, row.resource.uid)))[:10],
            "decision": row.state,
            "decided_by": row.decided_by.uid if row.decided_by else "",
            "decided_at": _format_time(row.decided_at),
        }
        for row in rows
    ]


def _format_time(at: Moment | None) -> str:
    return "" if at is None or at >= FOREVER else format_moment(at)


def _file_response(text: str, media: str, name: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"', "cache-control": "no-store"}
    return Response(text, media_type=media, headers=headers)
