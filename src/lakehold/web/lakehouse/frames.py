"""What views of a lakehouse and of its tables begin with: whether it is one, the way there, the tabs."""

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
    """The lakehouse, if the caller sees it."""
    workspaces.need_workspace(ctx, uid)
    found = ctx.session.read_view(lambda view: make_ref(view, uid))
    if found.kind != LAKEHOUSE:
        raise NotFoundError(f"There is no lakehouse {quote(uid)}.", "Look its name up in the list of workspaces.")
    return found


def need_rows(ctx: RequestContext, uid: str) -> ResourceView:
    """What has rows: a table or a data mart, if the caller may read them."""
    found = resources.get(ctx, uid)
    if found.kind not in READABLE:
        raise NotFoundError(f"There is no table {quote(uid)}.", "Look its name up in the catalog.")
    ctx.need(READABLE[found.kind], uid)
    return found


def need_table(ctx: RequestContext, uid: str, action: str) -> ResourceView:
    """The table, if the caller may do this with it."""
    found = resources.get(ctx, uid)
    if found.kind != TABLE:
        raise NotFoundError(f"There is no table {quote(uid)}.", "Look its name up in the catalog.")
    ctx.need(action, uid)
    return found


def shell(ctx: RequestContext, found: ResourceView, part: str) -> dict[str, object]:
    """What all views of a table have in common."""
    return {
        "crumbs": resource_header.breadcrumbs(
            ctx, found.uid, kind_pages.page_label(found.kind, part) or humanize(part)
        ),
        "found": found,
        "tabs": resource_header.tabs(ctx, found.uid),
        "tab": urls.resource(found.uid, part),
        "ask": _ask(ctx, found),
    }


def _ask(ctx: RequestContext, found: ResourceView) -> str:
    """Where the table is asked for its rows in SQL; empty for who may not."""
    space = found.workspace
    if space is None or found.kind != TABLE or not ctx.session.check(ctx.asker, "execute_query", space.uid):
        return ""
    return f"{urls.workspace(space.uid, 'sql')}?{urlencode({'table': found.uid})}"
