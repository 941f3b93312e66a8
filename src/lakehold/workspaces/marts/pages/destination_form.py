"""The form page of a project's destination. The connection can be tested before it is saved, and later."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import Request, Response

from lakehold.api.http.dependencies import read_transaction
from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.request_context import RequestContext
from lakehold.runs import worker_client
from lakehold.web import kind_pages, pages
from lakehold.web.connections.form import ResourceForm, load_design
from lakehold.web.connections.form_page import (
    ConnectionFormPage,
    ConnectionTest,
    form_routers,
    probe_as_caller,
    workspace_id,
)
from lakehold.web.cookies import Flash
from lakehold.workspaces.marts import destinations
from lakehold.workspaces.marts.mart_kinds import DESTINATION_KIND
from lakehold.workspaces.marts.pages import page_frame


class MartDestinationFormPage(ConnectionFormPage):
    """The form page of a project's destination."""

    kind, design = DESTINATION_KIND, load_design(page_frame.FORMS, "destination", "destination")
    new_part, edit_part = "destinations/new", "destination/edit"
    workspace_edge, list_view = "project", "destination"

    @classmethod
    def need_workspace(cls, ctx: RequestContext, uid: str) -> None:
        """Refuse unless the workspace is a project that the caller sees."""
        page_frame.need_project(ctx, uid)

    @classmethod
    def need_resource(cls, ctx: RequestContext, uid: str) -> ResourceView:
        """Return the destination, if the caller may edit it."""
        return need_edit(ctx, uid)

    def test(self, filled: ResourceForm, secrets: Mapping[str, str]) -> ConnectionTest:
        """Test the connection through a worker."""
        there = {"destination": self.uid} if self.uid else {}
        return _test(self.request, {**there, "project": self.within, "settings": filled.settings(), "secrets": secrets})

    def saved(self, filled: ResourceForm, uid: str) -> tuple[str, str]:
        """Return to the page of the destination."""
        message = "Saved. Applies from the next run." if self.found else f"{filled.name} was created."
        return kind_pages.resource_overview_url(uid, DESTINATION_KIND), message


new, routes = form_routers(MartDestinationFormPage)


@routes.post("/{uid:path}/destination/try")
def try_out(request: Request, uid: str) -> Response:
    """Test the saved destination."""
    found = read_transaction(request).run(lambda ctx: need_edit(ctx, uid))
    settings = dict(found.settings or {})
    tested = _test(request, {"destination": uid, "project": workspace_id(found), "settings": settings})
    flash = Flash(str(tested.error), tone="bad") if tested.error else Flash(tested.message)
    return pages.redirect(request, kind_pages.resource_overview_url(uid, DESTINATION_KIND), flash)


def need_edit(ctx: RequestContext, uid: str) -> ResourceView:
    """Return the destination, if the caller may edit it."""
    found = page_frame.need_kind(ctx, uid, DESTINATION_KIND)
    ctx.need("edit", uid)
    return found


def _test(request: Request, asked: Mapping[str, Any]) -> ConnectionTest:
    """Test a destination through a worker. Missing rights are raised."""
    message, error = probe_as_caller(
        request,
        lambda ctx: destinations.need_destination_check(ctx, str(asked.get("destination", "")), asked["project"]),
        lambda platform, caller: worker_client.check_connection(platform, caller, "marts.destination", asked),
    )
    return ConnectionTest(message or "", error)
