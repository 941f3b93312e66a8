"""The pages of a destination: its form, the test of its connection, and its section on the pipeline page."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from fastapi import Request, Response

from lakehold.api.http.dependencies import read_transaction
from lakehold.catalog.resource_view import ResourceView, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.runs import worker_client
from lakehold.runs.service import Run
from lakehold.web import pages, urls
from lakehold.web.connections import form_page
from lakehold.web.connections.form import ResourceForm, load_design
from lakehold.web.cookies import Flash
from lakehold.web.runs import RUNS
from lakehold.workspaces.lakehouse.pages.page_frame import (
    FORMS,
    MAX_TARGETS,
    LakehouseFormPage,
    options_for,
    readable_tables,
)
from lakehold.workspaces.lakehouse.pipelines.connections import DestinationPipeline, need_destination_check
from lakehold.workspaces.lakehouse.settings import DESTINATION
from lakehold.workspaces.lakehouse.volumes import VOLUME_KIND


class LakehouseDestinationFormPage(LakehouseFormPage):
    """The form page of a lakehouse's destination."""

    kind, design = DestinationPipeline.kind, load_design(FORMS, "destination", DESTINATION.records)
    new_part, edit_part = "pipelines/new/destination", "delivery"
    next_step = " Run it to send data."
    carried: ClassVar[Mapping[str, str]] = {"table": "reads"}

    def heading(self) -> tuple[str, str]:
        """Return the last breadcrumb and the title."""
        return ("Delivery", f"Delivery of {self.found.name}") if self.found else super().heading()

    def options(self, ctx: RequestContext) -> Mapping[str, Sequence[tuple[Any, ...]]]:
        """Return the tables that the caller may read, and the volumes that they may write."""
        writable = options_for(ctx, "write", VOLUME_KIND, self.within, MAX_TARGETS)
        return {"reads": readable_tables(ctx, self.within), "volume": writable}

    def edges(self, filled: ResourceForm) -> dict[str, list[str]]:
        """Return the edges to what it reads, and to the volume that it writes, if any."""
        return {"writes": [], **super().edges(filled)}

    def test(self, filled: ResourceForm, secrets: Mapping[str, str]) -> form_page.ConnectionTest:
        """Test the connection through a worker."""
        there = {"destination": self.uid} if self.uid else {"lakehouse": self.within}
        ends = {"reads": list(filled.ends["reads"]), "volume": filled.text("volume")}
        return _test(self.request, {**there, "settings": filled.settings(), **ends, "secrets": secrets})


new, routes = form_page.form_routers(LakehouseDestinationFormPage)


@routes.post("/{uid:path}/delivery/try")
def test_destination(request: Request, uid: str) -> Response:
    """Test the saved destination."""
    page = LakehouseDestinationFormPage
    found = read_transaction(request).run(lambda ctx: page.need_resource(ctx, uid))
    volume = page.design.from_resource(found).text("volume")
    tested = _test(request, {"destination": uid, "settings": dict(found.settings or {}), "volume": volume})
    flash = Flash(str(tested.error), tone="bad") if tested.error else Flash(tested.message)
    return pages.redirect(request, urls.resource(uid, "pipeline"), flash)


def _test(request: Request, asked: Mapping[str, Any]) -> form_page.ConnectionTest:
    """Test a destination through a worker. Missing rights are raised."""
    message, error = form_page.probe_as_caller(
        request,
        lambda ctx: need_destination_check(ctx, asked),
        lambda platform, caller: worker_client.check_connection(platform, caller, "lakehouse.destination", asked),
    )
    return form_page.ConnectionTest(message or "", error)


TEMPLATE = "lakehouse/destination.html"
_MAX_DELIVERIES = 8


def destination_values(
    ctx: RequestContext, visible: VisibleRefs, found: ResourceView, runs: Sequence[Run]
) -> dict[str, object]:
    """Return the template values of the page."""
    page = LakehouseDestinationFormPage
    steps = [(run.id, step) for run in runs for step in RUNS.get(ctx, run.id).steps]
    return {
        "where": None if found.settings is None else page.describe_connection(ctx, visible, found, "As"),
        "is_set": found.settings is None or bool(found.settings.get("to")),
        "deliveries": steps[:_MAX_DELIVERIES],
    }
