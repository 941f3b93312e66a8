"""The SQL editor: one asks as oneself, sees the rows, draws them, takes them along."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

from fastapi import Request, Response
from fastapi.responses import StreamingResponse

from lakehold.api.http.authentication import read_credentials
from lakehold.api.http.dependencies import CurrentPlatform, PendingRequest, ReadContext
from lakehold.catalog import resources
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError, LakeholdError, NotFoundError
from lakehold.lake import readable_tables, row_formats
from lakehold.runs import queries, worker_client
from lakehold.web import pages, urls
from lakehold.web.access import resource_header
from lakehold.web.lakehouse import answers, asked, charts, saved, saying
from lakehold.web.lakehouse.answers import Answer
from lakehold.web.lakehouse.frames import need_lakehouse, need_table
from lakehold.web.lakehouse.saved import Kept
from lakehold.web.routing import SubmittedForm, router

routes = router("/workspaces")
things = router("/resources")

_UID = re.compile(r"[A-Za-z0-9_-]{8,64}")
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WRONG = 422


@dataclass(frozen=True, slots=True)
class Written:
    """What stands in the editor, and the saved query that it comes from."""

    sql: str = ""
    kept: Kept | None = None


@routes.get("/{uid:path}/sql")
def editor_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """The editor: empty, or with what the address names: a saved query, one that was asked before, a table."""
    queries.open_scope(ctx, uid)
    wanted = request.query_params
    written = Written()
    if kept := wanted.get("open"):
        found = saved.opened(ctx, uid, kept)
        written = Written(found.sql, found)
    elif number := wanted.get("asked"):
        written = Written(asked.one(ctx, uid, number).text)
    elif table := wanted.get("table"):
        need_table(ctx, table, "read")
        written = Written(_first_rows(ctx, table))
    return _page(request, ctx, uid, written)


@things.get("/{uid:path}/sql")
def saved_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """The editor with a saved query, as one of its views."""
    within = resources.get(ctx, uid).workspace
    space = within.uid if within else ""
    found = saved.opened(ctx, space, uid)
    queries.open_scope(ctx, space)
    return _page(request, ctx, space, Written(found.sql, found))


@routes.post("/{uid:path}/sql")
def run(request: Request, platform: CurrentPlatform, uid: str, sent: SubmittedForm) -> Response:
    """Ask. No transaction is held while the query runs."""
    caller = PendingRequest(request, read_credentials(request), writes=False)
    place, written = caller.run(lambda ctx: (queries.open_scope(ctx, uid), _written(ctx, uid, sent)))
    name = str(sent.get("query", ""))
    query = name if _UID.fullmatch(name) else f"q_{secrets.token_hex(12)}"
    answer = answers.answered(platform, place, written.sql, query)
    return caller.run(lambda ctx: _page(request, ctx, uid, written, answer))


@routes.post("/{uid:path}/sql/stop")
def stop(request: Request, platform: CurrentPlatform, uid: str, sent: SubmittedForm) -> Response:
    """Stop a query of one's own; 202 if there is none yet, or none any more."""
    del uid  # a query is its asker's, wherever they ask
    caller = PendingRequest(request, read_credentials(request), writes=False).run(lambda ctx: ctx.caller)
    query = str(sent.get("query", ""))
    if not _UID.fullmatch(query):
        raise InvalidInputError("This is no query.", "Send the id of one.")
    try:
        worker_client.stop_query(platform, caller, query)
    except NotFoundError:
        return Response(status_code=202)
    return Response(status_code=204)


@routes.post("/{uid:path}/sql/csv")
def download(request: Request, platform: CurrentPlatform, uid: str, sent: SubmittedForm) -> Response:
    """All rows as a file, as many as the installation lets one have. It is asked anew."""
    caller = PendingRequest(request, read_credentials(request), writes=False)
    place, written = caller.run(lambda ctx: (queries.open_scope(ctx, uid), _written(ctx, uid, sent)))
    stack = ExitStack()
    query = f"q_{secrets.token_hex(12)}"
    try:
        asked_for = queries.run_query(platform, place, written.sql, uid=query, rows=platform.settings.query_rows)
        found = stack.enter_context(asked_for)
    except LakeholdError as error:
        answer = Answer(written.sql, error=error)
        return caller.run(lambda ctx: _page(request, ctx, uid, written, answer))
    parts = _closing(stack, row_formats.as_csv(found.batches.schema, found.batches))
    headers = {"Content-Disposition": 'attachment; filename="query.csv"'}
    return StreamingResponse(parts, media_type="text/csv", headers=headers)


@routes.post("/{uid:path}/sql/chart")
def draw(request: Request, ctx: ReadContext, uid: str, sent: SubmittedForm) -> Response:
    """Draw what the page has shown, with other columns or in another way."""
    queries.open_scope(ctx, uid)
    written = _written(ctx, uid, sent)
    try:
        series = charts.unpacked(str(sent.get("data", "")))
    except InvalidInputError as error:
        return _page(request, ctx, uid, written, Answer(written.sql, error=error))
    chosen = (str(sent.get(name, "")) for name in ("kind", "x", "y"))
    answer = Answer(written.sql, series=tuple(series), chart=charts.chart(series, *chosen))
    return _page(request, ctx, uid, written, answer)


def _page(request: Request, ctx: RequestContext, uid: str, written: Written, answer: Answer | None = None) -> Response:
    space = need_lakehouse(ctx, uid)
    values: dict[str, object] = {
        "crumbs": resource_header.breadcrumbs(ctx, uid, "SQL"),
        "space": space,
        "tabs": resource_header.tabs(ctx, written.kept.uid) if written.kept else (),
        "at": urls.workspace(uid, "sql"),
        "written": written,
        "answer": answer,
        "kept": [(each, saved.actions(uid, each)) for each in saved.mine(ctx, uid)],
        "before": asked.lately(ctx, uid),
        "may_save": ctx.session.check(ctx.asker, "save_query", uid),
        "duration": saying.duration,
        "chart_kinds": charts.KINDS,
        "size": (charts.WIDTH, charts.HEIGHT),
    }
    return pages.render(request, "lakehouse/sql.html", values, status=_WRONG if answer and answer.error else 200)


def _written(ctx: RequestContext, uid: str, sent: SubmittedForm) -> Written:
    """What was sent: a text, or the number of one that was asked before."""
    kept = str(sent.get("saved", ""))
    number = str(sent.get("asked", ""))
    sql = asked.one(ctx, uid, number).text if number else str(sent.get("sql", ""))
    return Written(sql, saved.opened(ctx, uid, kept) if kept else None)


def _first_rows(ctx: RequestContext, table: str) -> str:
    """A query to begin with."""
    _, *path = ctx.session.read_view(lambda view: readable_tables.name_path(view, table))
    quoted = (name if _PLAIN.fullmatch(name) else f"`{name.replace('`', '``')}`" for name in path)
    return f"SELECT *\nFROM {'.'.join(quoted)}\nLIMIT 100"


def _closing(stack: ExitStack, parts: Iterator[bytes]) -> Iterator[bytes]:
    with stack:
        yield from parts
