"""What was decided in a campaign, as a file: CSV or JSON lines. Taking it is written down."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable

from fastapi import Response

from lakehold.api.http.dependencies import WriteContext
from lakehold.catalog import campaign_decisions, campaigns, usage
from lakehold.catalog.campaign_visibility import CampaignRow
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import FOREVER, Moment, format_moment
from lakehold.web.routing import router

routes = router("/reviews")

FIELDS = (
    *("holder", "holder_name", "role", "resource", "resource_name", "kind", "since", "until", "last_used"),
    *("decision", "decided_by", "decided_at"),
)
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")

Line = dict[str, str]


@routes.get("/{uid}/result.csv")
def result_as_csv(ctx: WriteContext, uid: str) -> Response:
    """One line for each role."""
    text = io.StringIO()
    writer = csv.DictWriter(text, FIELDS)
    writer.writeheader()
    writer.writerows({name: _plain(value) for name, value in line.items()} for line in _lines(ctx, uid, "csv"))
    return _file(text.getvalue(), "text/csv; charset=utf-8", f"review-{uid}.csv")


@routes.get("/{uid}/result.jsonl")
def result_as_json(ctx: WriteContext, uid: str) -> Response:
    """The same as JSON lines."""
    lines = [json.dumps(line, ensure_ascii=False) for line in _lines(ctx, uid, "jsonl")]
    return _file("".join(f"{line}\n" for line in lines), "application/jsonl", f"review-{uid}.jsonl")


def _lines(ctx: RequestContext, uid: str, format_: str) -> list[Line]:
    ctx.need_writable()
    told = campaigns.get(ctx, uid)
    rows = campaign_decisions.list_rows(ctx, uid)
    ctx.note("take campaign", told.workspace.uid, after={"campaign": uid, "format": format_})
    return list(_told(ctx, rows))


def _told(ctx: RequestContext, rows: list[CampaignRow]) -> Iterable[Line]:
    uses = usage.last_role_uses(ctx, [(row.subject.uid, row.resource.uid) for row in rows])
    for row in rows:
        yield {
            "holder": row.subject.uid,
            "holder_name": row.subject.name,
            "role": row.title,
            "resource": row.resource.uid,
            "resource_name": row.resource.name,
            "kind": row.resource.kind,
            "since": _at(row.since),
            "until": _at(row.until),
            "last_used": _at(uses.get((row.subject.uid, row.resource.uid)))[:10],
            "decision": row.state,
            "decided_by": row.decided_by.uid if row.decided_by else "",
            "decided_at": _at(row.decided_at),
        }


def _at(at: Moment | None) -> str:
    return "" if at is None or at >= FOREVER else format_moment(at)


def _plain(value: str) -> str:
    """A name must not become a formula in whoever's spreadsheet."""
    return f"'{value}" if value.startswith(_FORMULAS) else value


def _file(text: str, media: str, name: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"', "cache-control": "no-store"}
    return Response(text, media_type=media, headers=headers)
