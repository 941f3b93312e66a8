"""Destinations of a project: who may try one out, whether one is deleted, and what goes there."""

from __future__ import annotations

from lakehold.access import Draft
from lakehold.catalog import kinds
from lakehold.catalog.resource_view import ResourceRef, VisibleRefs, attributes_of
from lakehold.directory.request_context import RequestContext
from lakehold.lake import readable_tables
from lakehold.workspaces.ends import starts
from lakehold.workspaces.marts import nouns


def may_try(ctx: RequestContext, destination: str, project: str) -> None:
    """Refuse unless the caller may edit the destination, or make one in the project. It asks somebody else something,
    so it is nothing for who looks with another's eyes.
    """
    readable_tables.refuse_impersonation(ctx)
    if destination:
        ctx.need("edit", destination)
        return
    ctx.need_visible(project)
    ctx.need_draft(Draft(nouns.DESTINATION, {"project": project}))


def is_deleted(ctx: RequestContext, uid: str) -> bool:
    """Whether it can only be seen and restored."""
    return ctx.session.read_view(lambda view: attributes_of(view, uid).get(kinds.DELETED)) == "true"


def reports(ctx: RequestContext, uid: str) -> list[ResourceRef]:
    """What goes there, of what the caller may see, by name."""
    return sorted(VisibleRefs(ctx).refs(starts(ctx, uid, "destination")), key=lambda each: each.name.casefold())
