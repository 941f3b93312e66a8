"""Access checks and template values that the pages of everything with rows share."""

from __future__ import annotations

from urllib.parse import urlencode

from lakehold.catalog import resources
from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import NotFoundError, UnavailableError
from lakehold.kit.ids import quote
from lakehold.lake import readable_tables
from lakehold.lake.iceberg_catalog import IcebergCatalog
from lakehold.lake.table_metadata import IcebergMetadata
from lakehold.web import kind_pages, urls
from lakehold.web.access import resource_header
from lakehold.web.labels import humanize
from lakehold.workspaces.registry import readable_kinds, sql_kinds


def need_rows(ctx: RequestContext, uid: str) -> ResourceView:
    """Return a resource with rows, if the caller may read them."""
    found = resources.get(ctx, uid)
    if found.kind not in readable_kinds():
        raise NotFoundError(f"There is no table {quote(uid)}.", "Look its name up in the catalog.")
    ctx.need(readable_kinds()[found.kind], uid)
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


def current_metadata(ctx: RequestContext, lake: IcebergCatalog, uid: str) -> IcebergMetadata | None:
    """Return the metadata of the table, or None if nothing was written yet."""
    try:
        return lake.current_metadata(readable_tables.identifier_of(ctx, uid))
    except OSError as error:
        raise UnavailableError("Files of the table are missing.", "Ask an administrator to look after it.") from error


def _query_url(ctx: RequestContext, found: ResourceView) -> str:
    """Return the address of the SQL editor for this table, or an empty string if the caller may not query."""
    space = found.workspace
    if space is None or space.kind not in sql_kinds():
        return ""
    if not ctx.session.check(ctx.principal, "execute_query", space.uid):
        return ""
    return f"{urls.workspace(space.uid, 'sql')}?{urlencode({'table': found.uid})}"
