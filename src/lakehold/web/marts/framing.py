"""What is around the pages of a storage or a data mart: the way there, its views, and what can be done with it."""

from __future__ import annotations

from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.request_context import RequestContext
from lakehold.web import addresses, views
from lakehold.web.access import acting
from lakehold.web.actions import Action


def frame(ctx: RequestContext, found: ResourceView, part: str) -> dict[str, object]:
    """For each of its views."""
    label = views.label(found.kind, part)
    return {
        "found": found,
        "crumbs": acting.crumbs(ctx, found.uid, *([label] if label else [])),
        "tabs": acting.tabs(ctx, found.uid),
        "tab": addresses.resource(found.uid, part),
        "menu": menu(ctx, found),
    }


def menu(ctx: RequestContext, found: ResourceView) -> list[Action]:
    """Edit and delete, or why not."""
    here = addresses.resource
    edit = views.edit(found.uid, found.kind) or here(found.uid, "edit")
    asks = f"Delete {found.name}?"
    wanted = {
        "edit": Action("Edit", edit, icon="pencil"),
        "delete": Action("Delete", here(found.uid, "delete"), "post", "trash-2", danger=True, confirm=asks),
    }
    return acting.actions_of(ctx, found.uid, wanted)
