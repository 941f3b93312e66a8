"""Access checks and template values that the pages of lakehouses, tables and data marts share."""

from __future__ import annotations

from urllib.parse import urlencode

from lakehold.catalog import resources, workspaces
from lakehold.catalog.resource_view import ResourceRef, ResourceView, make_ref
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import NotFoundError
from lakehold.kit.ids import quote
from lakehold.lake.readable_tables import READABLE
from lakehold.web import kind_pages, urls
from lakehold.web.access import resource_header
from lakehold.web.labels import humanize

LAKEHOUSE, TABLE = "lakehouse.lakehouse", "lakehouse.table"


def need_lakehouse(ctx: RequestContext, uid: str) -> ResourceRef:
    """Return the lakehouse, if the caller may see it."""
    workspaces.need_workspace(ctx, uid)
    found = ctx.session.read_view(lambda view: make_ref(view, uid))
    if found.kind != LAKEHOUSE:
        raise NotFoundError(f"There is no lakehouse {quote(uid)}.", "Look its name up in the list of workspaces.")
    return found


def need_rows(ctx: RequestContext, uid: str) -> ResourceView:
    """Return a resource with rows (table or data mart), if the caller may read it."""
    found = resources.get(ctx, uid)
    if found.kind not in READABLE:
        raise NotFoundError(f"There is no table {quote(uid)}.", "Look its name up in the catalog.")
    ctx.need(READABLE[found.kind], uid)
    return found


def need_table(ctx: RequestContext, uid: str, action: str) -> ResourceView:
    """Return the table, if the caller may perform the action on it."""
    found = resources.get(ctx, uid)
    if found.kind != TABLE:
        raise NotFoundError(f"There is no table {quote(uid)}.", "Look its name up in the catalog.")
    ctx.need(action, uid)
    return found


def table_frame(ctx: RequestContext, found: ResourceView, part: str) -> dict[str, object]:
    """Return the template values that all views of a table share."""
    return {
        "crumbs": resource_header.breadcrumbs(
            ctx, found.uid, kind_pages.page_label(found.kind, part) or humanize(part)
        ),
        "found": found,
        "tabs": resource_header.tabs(ctx, found.uid),
        "tab": urls.resource(found.uid, part),
        "ask": _query_url(ctx, found),
    }


def _query_url(ctx: RequestContext, found: ResourceView) -> str:
    """Return the address of the SQL editor for this table, or an empty string if the caller may not query."""
    space = found.workspace
    if space is None or found.kind != TABLE or not ctx.session.check(ctx.principal, "execute_query", space.uid):
        return ""
    return f"{urls.workspace(space.uid, 'sql')}?{urlencode({'table': found.uid})}"
