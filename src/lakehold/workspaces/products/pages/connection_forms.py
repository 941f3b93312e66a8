"""The forms of sources and destinations, with a test of the connection."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from lakehold.access import Draft
from lakehold.catalog import workspaces
from lakehold.directory.request_context import RequestContext
from lakehold.runs import worker_client
from lakehold.web import urls
from lakehold.web.connections.form import ResourceForm, load_design
from lakehold.web.connections.form_page import ConnectionFormPage, ConnectionTest, form_routers, probe_as_caller
from lakehold.web.labels import format_count
from lakehold.workspaces.products.connection_probe import ConnectionProbe, need_probe
from lakehold.workspaces.products.settings import DESTINATION, DESTINATION_KIND, PROJECT_KIND, SOURCE, SOURCE_KIND

FORMS = Path(__file__).parent.parent / "forms.yaml"


class _ProjectFormPage(ConnectionFormPage):
    """The form page of a resource of a project."""

    workspace_edge = "project"

    @classmethod
    def need_workspace(cls, ctx: RequestContext, uid: str) -> None:
        """Refuse unless the caller may create one in the project."""
        workspaces.need_workspace(ctx, uid, PROJECT_KIND)
        ctx.need_draft(Draft(cls.kind, {"project": uid}))

    def target(self, filled: ResourceForm, secrets: Mapping[str, str]) -> ConnectionProbe:
        """Return what is to be probed."""
        return ConnectionProbe(self.kind, self.uid, self.within, filled.settings(), secrets)


class ProductSourceFormPage(_ProjectFormPage):
    """The form page of a source."""

    kind, design = SOURCE_KIND, load_design(FORMS, "source", SOURCE.records)
    new_part, edit_part, list_view = "product-sources/new", "product-source/edit", "source"

    def test(self, filled: ResourceForm, secrets: Mapping[str, str]) -> ConnectionTest:
        """List the columns of the table, or the streams of the connector; the keys must be among the columns."""
        target = self.target(filled, secrets)
        found, error = probe_as_caller(
            self.request,
            lambda ctx: need_probe(ctx, target),
            lambda platform, caller: worker_client.probe(platform, caller, "products.source", asdict(target)),
        )
        if found is None or error is not None:
            return ConnectionTest(error=error)
        if "columns" not in found:
            return ConnectionTest(f"Connection successful: {format_count(len(found['streams']), 'stream')} found.")
        columns = [str(each) for each in found["columns"]]
        lacking = [key for key in target.settings.get("keys", ()) if key not in columns]  # type: ignore[attr-defined]
        if lacking:
            message = f"The table has no column {lacking[0]}. It has: {', '.join(columns[:20])}."
            return ConnectionTest(errors={"keys": message})
        return ConnectionTest(f"Connection successful: {format_count(len(columns), 'column')} found.")

    def saved(self, filled: ResourceForm, uid: str) -> tuple[str, str]:
        """Return to the page of the source."""
        message = (
            "Saved. Applies from the next refresh." if self.found else f"{filled.name} was created. Refresh it now."
        )
        return urls.resource(uid, "product-source"), message


class ProductDestinationFormPage(_ProjectFormPage):
    """The form page of a destination."""

    kind, design = DESTINATION_KIND, load_design(FORMS, "destination", DESTINATION.records)
    new_part, edit_part, list_view = "product-destinations/new", "product-destination/edit", "destination"

    def test(self, filled: ResourceForm, secrets: Mapping[str, str]) -> ConnectionTest:
        """Test the connection through a worker."""
        target = self.target(filled, secrets)
        message, error = probe_as_caller(
            self.request,
            lambda ctx: need_probe(ctx, target),
            lambda platform, caller: worker_client.check_connection(
                platform, caller, "products.destination", asdict(target)
            ),
        )
        return ConnectionTest(message or "", error)

    def saved(self, filled: ResourceForm, uid: str) -> tuple[str, str]:
        """Return to the page of the destination."""
        message = "Saved. Applies from the next delivery." if self.found else f"{filled.name} was created."
        return urls.resource(uid), message


new_source, source_routes = form_routers(ProductSourceFormPage)
new_destination, destination_routes = form_routers(ProductDestinationFormPage)
