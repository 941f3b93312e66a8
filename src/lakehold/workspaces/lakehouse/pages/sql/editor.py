"""The SQL editor: run a query as the caller; show, chart and download its rows; the history of own queries."""

import re
from dataclasses import dataclass
from typing import Self

from fastapi import Request, Response

from lakehold.api.http.dependencies import CurrentPlatform, ReadContext, read_transaction
from lakehold.api.lake.queries import CSV, stream_query
from lakehold.catalog import resources
from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError, LakeholdError, NotFoundError
from lakehold.lake import readable_tables
from lakehold.runs import queries, worker_client
from lakehold.web import pages, urls
from lakehold.web.access import resource_header
from lakehold.web.list_view import ListState, parse_row_number
from lakehold.web.routing import SubmittedForm, router
from lakehold.workspaces.lakehouse.pages.page_frame import need_lakehouse, need_table
from lakehold.workspaces.lakehouse.pages.sql import query_result, saved_queries
from lakehold.workspaces.lakehouse.pages.sql.query_result import EditorResult

routes = router("/workspaces")
resource_routes = router("/resources")

_RECENT, _PAGE_SIZE = 8, 50


@routes.get("/{uid:path}/sql/history")
def asked_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render the caller's own queries, newest first."""
    found = need_lakehouse(ctx, uid)
    queries.open_scope(ctx, uid)
    listing = ListState.from_request(request, ("n",), size=_PAGE_SIZE)
    rows = queries.list_past_queries(ctx, workspace=uid, behind=listing.before, limit=_PAGE_SIZE + 1)
    page_rows = rows[:_PAGE_SIZE]
    values: dict[str, object] = {
        "crumbs": resource_header.breadcrumbs(ctx, uid, "SQL", "History"),
        "found": found,
        "listing": listing,
        "rows": page_rows,
        "after": str(page_rows[-1].n) if len(rows) > _PAGE_SIZE else "",
    }
    return pages.render(request, "lakehouse/sql_history.html", values)


def get_past_query(ctx: RequestContext, workspace: str, number: str) -> queries.PastQuery:
    """Return a query of the caller by its number; raise NotFoundError if there is none."""
    n = parse_row_number(number) or 0
    found = queries.list_past_queries(ctx, workspace=workspace, behind=n + 1, limit=1)
    if not found or found[0].n != n:
        raise NotFoundError("This query is not in your history.", "It may have expired.")
    return found[0]


_UID = re.compile(r"[A-Za-z0-9_-]{8,64}")
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class EditorText:
    """The text in the editor, and the saved query that it comes from."""

    sql: str = ""
    kept: ResourceView | None = None

    @classmethod
    def of_saved_query(cls, ctx: RequestContext, workspace: str, uid: str) -> Self:
        """Return the text of a saved query."""
        found = saved_queries.need_saved_query(ctx, workspace, uid, with_text=True)
        return cls(str((found.settings or {}).get("sql", "")), found)


@routes.get("/{uid:path}/sql")
def editor_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render the editor, with the saved query, past query or table that the address names."""
    queries.open_scope(ctx, uid)
    params = request.query_params
    written = EditorText()
    if kept := params.get("open"):
        written = EditorText.of_saved_query(ctx, uid, kept)
    elif number := params.get("asked"):
        written = EditorText(get_past_query(ctx, uid, number).text)
    elif table := params.get("table"):
        need_table(ctx, table, "read")
        written = EditorText(_sample_query(ctx, table))
    return _page(request, ctx, uid, written)


@resource_routes.get("/{uid:path}/sql")
def saved_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render the editor with a saved query, as one of its views."""
    within = resources.get(ctx, uid).workspace
    space = within.uid if within else ""
    written = EditorText.of_saved_query(ctx, space, uid)
    queries.open_scope(ctx, space)
    return _page(request, ctx, space, written)


@routes.post("/{uid:path}/sql")
def run(request: Request, platform: CurrentPlatform, uid: str, sent: SubmittedForm) -> Response:
    """Run the query. No transaction is open while it runs."""
    caller = read_transaction(request)
    place, written = caller.run(lambda ctx: (queries.open_scope(ctx, uid), _parse_text(ctx, uid, sent)))
    name = str(sent.get("query", ""))
    answer = query_result.run_query(platform, place, written.sql, name if _UID.fullmatch(name) else "")
    return caller.run(lambda ctx: _page(request, ctx, uid, written, answer))


@routes.post("/{uid:path}/sql/stop")
def stop(request: Request, platform: CurrentPlatform, uid: str, sent: SubmittedForm) -> Response:
    """Stop a query of the caller. Answers 202 if it has not started or has ended."""
    del uid  # a query is its principal's, wherever they ask
    caller = read_transaction(request).run(lambda ctx: ctx.caller)
    query = str(sent.get("query", ""))
    if not _UID.fullmatch(query):
        raise InvalidInputError("This is not a query.", "Send the id of one.")
    try:
        worker_client.stop_query(platform, caller, query)
    except NotFoundError:
        return Response(status_code=202)
    return Response(status_code=204)


@routes.post("/{uid:path}/sql/csv")
def download(request: Request, platform: CurrentPlatform, uid: str, sent: SubmittedForm) -> Response:
    """Run the query again and download all rows as CSV, up to the configured limit."""
    caller = read_transaction(request)
    place, written = caller.run(lambda ctx: (queries.open_scope(ctx, uid), _parse_text(ctx, uid, sent)))
    query = queries.run_query(platform, place, written.sql, rows=platform.settings.query_rows)
    try:
        return stream_query(query, CSV, **{"Content-Disposition": 'attachment; filename="query.csv"'})
    except LakeholdError as error:
        answer = EditorResult(written.sql, error=error)
        return caller.run(lambda ctx: _page(request, ctx, uid, written, answer))


@routes.post("/{uid:path}/sql/chart")
def draw(request: Request, ctx: ReadContext, uid: str, sent: SubmittedForm) -> Response:
    """Chart the rows of the page with other columns or another kind of chart."""
    queries.open_scope(ctx, uid)
    written = _parse_text(ctx, uid, sent)
    try:
        series = query_result.unpack_series(str(sent.get("data", "")))
    except InvalidInputError as error:
        return _page(request, ctx, uid, written, EditorResult(written.sql, error=error))
    chosen = (str(sent.get(name, "")) for name in ("kind", "x", "y"))
    answer = EditorResult(written.sql, series=tuple(series), chart=query_result.build_chart(series, *chosen))
    return _page(request, ctx, uid, written, answer)


def _page(
    request: Request, ctx: RequestContext, uid: str, written: EditorText, answer: EditorResult | None = None
) -> Response:
    space = need_lakehouse(ctx, uid)
    values: dict[str, object] = {
        "crumbs": resource_header.breadcrumbs(ctx, uid, "SQL"),
        "space": space,
        "tabs": resource_header.tabs(ctx, written.kept.uid) if written.kept else (),
        "at": urls.workspace(uid, "sql"),
        "written": written,
        "answer": answer,
        "kept": saved_queries.own_saved_queries(ctx, uid),
        "before": queries.list_past_queries(ctx, workspace=uid, limit=_RECENT),
        "may_save": ctx.session.check(ctx.principal, "save_query", uid),
        "chart_kinds": query_result.CHART_KINDS,
        "size": (query_result.WIDTH, query_result.HEIGHT),
    }
    return pages.render(request, "lakehouse/sql.html", values, status=422 if answer and answer.error else 200)


def _parse_text(ctx: RequestContext, uid: str, sent: SubmittedForm) -> EditorText:
    """Return the submitted text, or that of the past query that the form names."""
    kept = str(sent.get("saved", ""))
    number = str(sent.get("asked", ""))
    sql = get_past_query(ctx, uid, number).text if number else str(sent.get("sql", ""))
    return EditorText(sql, saved_queries.need_saved_query(ctx, uid, kept, with_text=True) if kept else None)


def _sample_query(ctx: RequestContext, table: str) -> str:
    """Return a query of the first rows of a table."""
    _, *path = ctx.session.read_view(lambda view: readable_tables.name_path(view, table))
    quoted = (name if _PLAIN.fullmatch(name) else f"`{name.replace('`', '``')}`" for name in path)
    return f"SELECT *\nFROM {'.'.join(quoted)}\nLIMIT 100"
