"""What is around the pages of a storage or a data mart: the way there, its views, and what can be done with it."""

from __future__ import annotations

from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.request_context import RequestContext
from lakehold.web import kind_pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction


def frame(ctx: RequestContext, found: ResourceView, part: str) -> dict[str, object]:
    """For each of its views."""
    label = kind_pages.page_label(found.kind, part)
    return {
        "found": found,
        "crumbs": resource_header.breadcrumbs(ctx, found.uid, *([label] if label else [])),
        "tabs": resource_header.tabs(ctx, found.uid),
        "tab": urls.resource(found.uid, part),
        "menu": menu(ctx, found),
    }


def menu(ctx: RequestContext, found: ResourceView) -> list[PageAction]:
    """Edit and delete, or why not."""
    here = urls.resource
    edit = kind_pages.edit_form_url(found.uid, found.kind) or here(found.uid, "edit")
    asks = f"Delete {found.name}?"
    wanted = {
        "edit": PageAction("Edit", edit, icon="pencil"),
        "delete": PageAction("Delete", here(found.uid, "delete"), "post", "trash-2", danger=True, confirm=asks),
    }
    return resource_header.actions_of(ctx, found.uid, wanted)
