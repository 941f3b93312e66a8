"""The connection form of a lakehouse's source: how it is reached, and the layer that its tables are created in."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.datastructures import FormData

from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.request_context import EdgeTargets
from lakehold.web.connections import source_form
from lakehold.web.connections.source_form import FILES, SourceForm

CONNECTORS = source_form.connector_choices(
    {FILES: "CSV, Excel, JSON or Parquet files in a volume.", **source_form.CONNECTOR_HINTS}
)


@dataclass(frozen=True, slots=True)
class LakehouseSourceForm(SourceForm):
    """The values of the connection form."""

    layer: str = ""

    def edges(self) -> EdgeTargets:
        """Return the layer that its tables are created in."""
        return {"into": [self.layer]}

    def errors(self, *, has_secret: bool) -> dict[str, str]:
        """Return the errors by field."""
        found = self.connection_errors(has_secret=has_secret)
        if not self.layer:
            found["layer"] = "Select a layer."
        return found


def parse_connection_form(form: FormData) -> LakehouseSourceForm:
    """Parse a submitted form."""
    return _complete_form(source_form.parse_source_form(form), str(form.get("layer", "")).strip())


def blank_connection_form(connector: str, layer: str = "") -> LakehouseSourceForm:
    """Return an empty form for a connector."""
    return _complete_form(source_form.blank_source_form(connector), layer)


def connection_form_from_resource(found: ResourceView, connector: str = "") -> LakehouseSourceForm:
    """Return the form for an existing source. `connector` applies if the source has none yet."""
    into = found.edges.get("into", ())
    return _complete_form(source_form.source_form_from_resource(found, connector), into[0].uid if into else "")


def _complete_form(filled: SourceForm, layer: str) -> LakehouseSourceForm:
    return LakehouseSourceForm(
        filled.connector, filled.name, filled.description, filled.version, filled.texts, filled.endpoints, layer
    )
