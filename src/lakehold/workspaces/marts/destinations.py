"""Destinations of a project: who may test one, whether one is deleted, and its reports."""

from lakehold.access import Draft
from lakehold.catalog import kinds
from lakehold.catalog.resource_view import ResourceRef, VisibleRefs, attributes_of
from lakehold.directory.request_context import RequestContext
from lakehold.workspaces.graph import edge_sources, need_connection
from lakehold.workspaces.marts import mart_kinds


def need_destination_check(ctx: RequestContext, destination: str, project: str) -> None:
    """Refuse unless the caller may edit the destination, or create one in the project."""
    need_connection(ctx, destination, project, Draft(mart_kinds.DESTINATION_KIND, {"project": project}))


def is_deleted(ctx: RequestContext, uid: str) -> bool:
    """Return whether the destination is deleted and can only be seen and restored."""
    return ctx.session.read_view(lambda view: attributes_of(view, uid).get(kinds.DELETED)) == "true"


def visible_reports(ctx: RequestContext, uid: str) -> list[ResourceRef]:
    """Return the reports of the destination that the caller may see, by name."""
    return sorted(VisibleRefs(ctx).refs(edge_sources(ctx, uid, "destination")), key=lambda each: each.name.casefold())
