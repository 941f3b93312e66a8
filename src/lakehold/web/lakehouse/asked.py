"""What one asked before: beside the editor, and all of it on a page of its own."""

from __future__ import annotations

from fastapi import Request, Response

from lakehold.api.http.dependencies import ReadContext
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import NotFoundError
from lakehold.runs import queries
from lakehold.runs.queries import PastQuery
from lakehold.web import pages
from lakehold.web.access import resource_header
from lakehold.web.lakehouse import saying
from lakehold.web.lakehouse.frames import need_lakehouse
from lakehold.web.list_view import ListColumn, ListState
from lakehold.web.routing import router

routes = router("/workspaces")

_BESIDE, _ON_A_PAGE = 8, 50
_COLUMNS = [
    ListColumn("Query"),
    ListColumn("Asked"),
    ListColumn("Took", number=True, wide=True),
    ListColumn("Rows", number=True),
]


@routes.get("/{uid:path}/sql/history")
def asked_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """The caller's own, the newest first."""
    found = need_lakehouse(ctx, uid)
    queries.open_scope(ctx, uid)
    listing = ListState.from_request(request, ("n",), size=_ON_A_PAGE)
    behind = int(listing.after) if listing.after.isdigit() else None
    rows = queries.list_past_queries(ctx, workspace=uid, behind=behind, limit=_ON_A_PAGE + 1)
    shown = rows[:_ON_A_PAGE]
    values: dict[str, object] = {
        "crumbs": resource_header.breadcrumbs(ctx, uid, "SQL", "History"),
        "found": found,
        "listing": listing,
        "columns": _COLUMNS,
        "rows": shown,
        "after": str(shown[-1].n) if len(rows) > _ON_A_PAGE else "",
        "duration": saying.duration,
    }
    return pages.render(request, "lakehouse/sql_history.html", values)


def lately(ctx: RequestContext, workspace: str) -> list[PastQuery]:
    """The last few."""
    return queries.list_past_queries(ctx, workspace=workspace, limit=_BESIDE)


def one(ctx: RequestContext, workspace: str, number: str) -> PastQuery:
    """A query that the caller asked there, by its number."""
    n = int(number) if number.isdigit() and len(number) < 16 else 0  # noqa: PLR2004 - as long as numbers are
    found = queries.list_past_queries(ctx, workspace=workspace, behind=n + 1, limit=1)
    if not found or found[0].n != n:
        raise NotFoundError("You have not asked this query here.", "It may be too long ago.")
    return found[0]
