"""The pages of a destination: its form, the test of its connection, and its section on the pipeline page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from fastapi import Request, Response

from lakehold.api.http.dependencies import read_transaction
from lakehold.catalog import credentials
from lakehold.catalog.resource_view import ResourceView, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.runs import worker_client
from lakehold.runs.service import Run, StepState
from lakehold.web import pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.connections import form_page
from lakehold.web.connections.form import ResourceForm, load_design
from lakehold.web.connections.form_page import ConnectionFormPage, ConnectionTest
from lakehold.web.cookies import Flash
from lakehold.web.runs import labels
from lakehold.web.runs.services import RUNS
from lakehold.workspaces.lakehouse import connection_access, volumes
from lakehold.workspaces.lakehouse.pages import table_options
from lakehold.workspaces.lakehouse.pages.page_frame import FORMS, need_lakehouse


class LakehouseDestinationFormPage(ConnectionFormPage):
    """The form page of a lakehouse's destination."""

    kind, design = connection_access.DESTINATION_KIND, load_design(FORMS, "destination", "destination")
    new_part, edit_part = "pipelines/new/destination", "delivery"
    workspace_edge, list_view = "lakehouse", "pipelines"
    carried: ClassVar[Mapping[str, str]] = {"table": "reads"}

    @classmethod
    def need_workspace(cls, ctx: RequestContext, uid: str) -> None:
        """Refuse unless the workspace is a lakehouse that the caller sees."""
        need_lakehouse(ctx, uid)

    @classmethod
    def need_resource(cls, ctx: RequestContext, uid: str) -> ResourceView:
        """Return the destination, if the caller may edit it."""
        return form_page.need_editable(ctx, uid, connection_access.DESTINATION_KIND)

    def heading(self) -> tuple[str, str]:
        """Return the last breadcrumb and the title."""
        return ("Delivery", f"Delivery of {self.found.name}") if self.found else super().heading()

    def options(self, ctx: RequestContext) -> Mapping[str, Sequence[tuple[Any, ...]]]:
        """Return the tables that the caller may read, and the volumes that they may write."""
        writable = ctx.session.list(
            ctx.principal, "write", volumes.VOLUME_KIND, within=self.within, limit=table_options.MAX_TARGETS
        ).items
        reads = table_options.readable_tables(ctx, self.within)
        return {"reads": reads, "volume": table_options.qualified_names(ctx, writable)}

    def edges(self, filled: ResourceForm) -> dict[str, list[str]]:
        """Return what it reads, and the volume that it writes, if any."""
        return {"writes": [], **super().edges(filled)}

    def test(self, filled: ResourceForm, secrets: Mapping[str, str]) -> ConnectionTest:
        """Test the connection through a worker."""
        there = {"destination": self.uid} if self.uid else {"lakehouse": self.within}
        ends = {"reads": list(filled.ends["reads"]), "volume": filled.text("volume")}
        return _test(self.request, {**there, "settings": filled.settings(), **ends, "secrets": secrets})

    def saved(self, filled: ResourceForm, uid: str) -> tuple[str, str]:
        """Return to the page of the destination."""
        made = f"{filled.name} was created. Run it to send data."
        return urls.resource(uid, "pipeline"), "Saved. Applies from the next run." if self.found else made


new, routes = form_page.form_routers(LakehouseDestinationFormPage)


@routes.post("/{uid:path}/delivery/try")
def try_out(request: Request, uid: str) -> Response:
    """Test the saved destination."""
    page = LakehouseDestinationFormPage
    found = read_transaction(request).run(lambda ctx: page.need_resource(ctx, uid))
    volume = page.design.from_resource(found).text("volume")
    tested = _test(request, {"destination": uid, "settings": dict(found.settings or {}), "volume": volume})
    flash = Flash(str(tested.error), tone="bad") if tested.error else Flash(tested.message)
    return pages.redirect(request, urls.resource(uid, "pipeline"), flash)


def _test(request: Request, asked: Mapping[str, Any]) -> ConnectionTest:
    """Test a destination through a worker. Missing rights are raised."""
    destination, lakehouse, volume = (str(asked.get(name, "")) for name in ("destination", "lakehouse", "volume"))
    message, error = form_page.probe_as_caller(
        request,
        lambda ctx: connection_access.need_destination_check(
            ctx, destination, lakehouse, asked.get("reads", ()), volume
        ),
        lambda platform, caller: worker_client.check_connection(platform, caller, "lakehouse.destination", asked),
    )
    return ConnectionTest(message or "", error)


TEMPLATE = "lakehouse/destination.html"
_MAX_DELIVERIES = 8


@dataclass(frozen=True, slots=True)
class DeliveryRow:
    """The delivery of one table in one run."""

    run: str
    step: StepState
    size: str


def destination_values(
    ctx: RequestContext, eyes: VisibleRefs, found: ResourceView, runs: Sequence[Run]
) -> dict[str, object]:
    """Return the template values of the page."""
    here = urls.resource
    change = PageAction("Edit", here(found.uid, "delivery"), icon="pencil")
    trial = PageAction("Test connection", here(found.uid, "delivery/try"), "post", "zap")
    is_set = found.settings is None or bool(found.settings.get("to"))
    return {
        "where": None if found.settings is None else _connection_facts(ctx, eyes, found),
        "is_set": is_set,
        "change": resource_header.actions_of(ctx, found.uid, {"edit": change})[0],
        "trial": resource_header.actions_of(ctx, found.uid, {"edit": trial})[0],
        "deliveries": _latest_deliveries(ctx, runs),
    }


def _connection_facts(ctx: RequestContext, eyes: VisibleRefs, found: ResourceView) -> list[tuple[str, str]]:
    filled = LakehouseDestinationFormPage.design.from_resource(found)
    volume = eyes.ref(filled.text("volume"))
    named = replace(filled, labels={"volume": volume.name if volume else "Not visible to you"})
    return named.describe(credentials.list_names(ctx, found.uid), "As")


def _latest_deliveries(ctx: RequestContext, runs: Sequence[Run]) -> list[DeliveryRow]:
    steps = [(run.id, step) for run in runs for step in RUNS.get(ctx, run.id).steps]
    return [DeliveryRow(run, step, labels.format_size(step.size)) for run, step in steps[:_MAX_DELIVERIES]]
