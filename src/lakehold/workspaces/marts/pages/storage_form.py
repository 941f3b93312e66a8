"""The form page of a storage. The connection is tested before it is saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lakehold.access import Draft
from lakehold.catalog import workspaces
from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.request_context import RequestContext
from lakehold.web import urls
from lakehold.web.connections.form import ResourceForm, load_design
from lakehold.web.connections.form_page import ConnectionFormPage, ConnectionTest, form_routers
from lakehold.web.labels import format_count
from lakehold.workspaces.marts.mart_kinds import STORAGE_KIND
from lakehold.workspaces.marts.pages import page_frame
from lakehold.workspaces.marts.pages.storage_probe import probe_storage
from lakehold.workspaces.marts.settings import StorageType
from lakehold.workspaces.marts.storages import StorageProbeTarget

_LAKEHOUSE, _MAX_LAKEHOUSES = "lakehouse.lakehouse", 200


class StorageFormPage(ConnectionFormPage):
    """The form page of a storage."""

    kind, design = STORAGE_KIND, load_design(page_frame.FORMS, "storage", "source")
    new_part, edit_part = "storages/new", "storage/edit"
    workspace_edge, list_view = "project", "storage"

    @classmethod
    def need_workspace(cls, ctx: RequestContext, uid: str) -> None:
        """Refuse unless the caller may create storages in the project."""
        workspaces.need_workspace(ctx, uid)
        ctx.need_draft(Draft(STORAGE_KIND, {"project": uid}))

    @classmethod
    def need_resource(cls, ctx: RequestContext, uid: str) -> ResourceView:
        """Return the storage, if the caller may edit it."""
        return page_frame.need_edit(ctx, uid, STORAGE_KIND)

    def options(self, ctx: RequestContext) -> Mapping[str, Sequence[tuple[Any, ...]]]:
        """Return the lakehouses that the caller sees."""
        sight = ctx.view.policy.kind(_LAKEHOUSE).schema.visible
        found = ctx.session.list(ctx.principal, sight, _LAKEHOUSE, limit=_MAX_LAKEHOUSES).items
        return {"lakehouse": [(item.uid, item.name) for item in found]}

    def test(self, filled: ResourceForm, secrets: Mapping[str, str]) -> ConnectionTest:
        """List the tables or files."""
        project = "" if self.uid else self.within
        probed = probe_storage(self.request, StorageProbeTarget(self.uid, project, filled.settings(), secrets))
        noun = "file" if filled.word == StorageType.FILES else "table"
        message = f"Connection successful: {format_count(len(probed.seen.tables), noun)} found."
        return ConnectionTest(probed.seen.notes[0] if probed.seen.notes else message, probed.error)

    def saved(self, filled: ResourceForm, uid: str) -> tuple[str, str]:
        """Return to the page of the storage."""
        return urls.resource(uid, "storage"), "Saved." if self.found else f"{filled.name} was created."


new, routes = form_routers(StorageFormPage)
