"""The form page of a data mart that a connector feeds. The connection is tested before it is saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, ClassVar

from starlette.datastructures import FormData

from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.request_context import RequestContext
from lakehold.web import urls
from lakehold.web.connections.form import ResourceForm, load_design
from lakehold.web.connections.form_page import ConnectionFormPage, ConnectionTest, form_routers, probe_as_caller
from lakehold.web.labels import format_count
from lakehold.workspaces.marts import mart_probe
from lakehold.workspaces.marts.mart_kinds import DATA_MART_KIND
from lakehold.workspaces.marts.mart_probe import FeedProbeTarget, StorageProbeResult
from lakehold.workspaces.marts.pages import page_frame, storage_probe
from lakehold.workspaces.marts.pages.data_marts.form_pages import need_edit, need_project
from lakehold.workspaces.marts.pages.storage_probe import probe_grid
from lakehold.workspaces.marts.settings import parse_definition


class ConnectorFormPage(ConnectionFormPage):
    """The form page of a data mart that a connector feeds."""

    kind, design = DATA_MART_KIND, load_design(page_frame.FORMS, "data_mart", "source")
    new_part, edit_part = "marts/fed", "mart/feed"
    workspace_edge, list_view = "project", "data_mart"
    carried: ClassVar[Mapping[str, str]] = {"storage": "storage"}
    probed: Mapping[str, Any] = MappingProxyType({})
    """What a test has found."""

    @classmethod
    def need_workspace(cls, ctx: RequestContext, uid: str) -> None:
        """Refuse unless the caller may create data marts in the project."""
        need_project(ctx, uid)

    @classmethod
    def need_resource(cls, ctx: RequestContext, uid: str) -> ResourceView:
        """Return the data mart, if the caller may edit it."""
        return need_edit(ctx, uid)

    def heading(self) -> tuple[str, str]:
        """Return the last breadcrumb and the title."""
        return ("Connection", f"Connection of {self.found.name}") if self.found else super().heading()

    def options(self, ctx: RequestContext) -> Mapping[str, Sequence[tuple[Any, ...]]]:
        """Return the storages that the caller may use, and the streams that a test has found."""
        storages = [(each.uid, each.name) for each in storage_probe.usable_storages(ctx, self.within)]
        return {"storage": storages, "stream": [(each["name"], "") for each in self.probed.get("streams", ())]}

    def extra_values(self) -> dict[str, object]:
        """Return the rows that a test has found."""
        rows = StorageProbeResult(fields=self.probed.get("fields", ()), rows=self.probed.get("rows", ()))
        return {"grid": probe_grid(rows)}

    def parse(self, sent: FormData) -> ResourceForm:
        """Parse a submitted form. The only endpoint of an API is the stream."""
        filled = super().parse(sent)
        endpoints = filled.lists.get("endpoints", ())
        if filled.text("stream") or len(endpoints) != 1:
            return filled
        return replace(filled, texts={**filled.texts, "stream": endpoints[0]["name"]})

    def check(self, filled: ResourceForm, *, has_secret: bool) -> tuple[ResourceForm, dict[str, str]]:
        """Return the errors by field. An existing data mart may have a storage that its editor does not see."""
        found = filled.errors(has_secret=has_secret)
        return filled, {name: text for name, text in found.items() if name != "storage" or self.found is None}

    def test(self, filled: ResourceForm, secrets: Mapping[str, str]) -> ConnectionTest:
        """Read a sample of the stream. Without a stream, those that are there are listed."""
        settings, stream = filled.settings(), filled.text("stream")
        target = FeedProbeTarget(settings, self.uid, self.within, secrets, stream)
        probed, error = probe_as_caller(
            self.request,
            lambda ctx: mart_probe.need_feed_probe(ctx, target),
            lambda platform, caller: mart_probe.probe_feed(platform, caller, target),
        )
        self.probed = probed or {}
        if error is not None:
            return ConnectionTest(error=error)
        if not stream:
            there = ", ".join(str(each["name"]) for each in self.probed.get("streams", ())[:10])
            return ConnectionTest(errors={"stream": f"Select a stream: {there}." if there else "No streams found."})
        fields = self.probed.get("fields", ())
        message = f"Connection successful: {format_count(len(fields), 'field')}."
        return ConnectionTest(message, errors=mart_probe.definition_errors(parse_definition(settings), fields))

    def saved(self, filled: ResourceForm, uid: str) -> tuple[str, str]:
        """Return to the page of the data mart."""
        made = f"{filled.name} was created. Refresh it to load rows."
        return urls.resource(uid, "mart"), "Saved. Applies from the next refresh." if self.found else made


new, routes = form_routers(ConnectorFormPage)
