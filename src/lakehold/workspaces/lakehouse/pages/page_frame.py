"""Access checks that the pages of a lakehouse and of its tables share."""

from __future__ import annotations

from pathlib import Path

from lakehold.catalog import resources, workspaces
from lakehold.catalog.resource_view import ResourceRef, ResourceView, make_ref
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import NotFoundError
from lakehold.kit.ids import quote
from lakehold.workspaces.lakehouse.pipelines.base import TABLE_KIND

LAKEHOUSE_KIND = "lakehouse.lakehouse"
FORMS = Path(__file__).parent.parent / "forms.yaml"


def need_lakehouse(ctx: RequestContext, uid: str) -> ResourceRef:
    """Return the lakehouse, if the caller may see it."""
    workspaces.need_workspace(ctx, uid)
    found = ctx.session.read_view(lambda view: make_ref(view, uid))
    if found.kind != LAKEHOUSE_KIND:
        raise NotFoundError(f"There is no lakehouse {quote(uid)}.", "Check the name in the list of workspaces.")
    return found


def need_table(ctx: RequestContext, uid: str, action: str) -> ResourceView:
    """Return the table, if the caller may perform the action on it."""
    found = resources.get(ctx, uid)
    if found.kind != TABLE_KIND:
        raise NotFoundError(f"There is no table {quote(uid)}.", "Check the name in the catalog.")
    ctx.need(action, uid)
    return found
