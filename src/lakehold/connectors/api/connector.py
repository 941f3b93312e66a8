"""The connector of HTTP APIs that answer with JSON."""

from lakehold.connectors.api.settings import ApiSourceSettings
from lakehold.connectors.form_fields import load_fields
from lakehold.connectors.registry import Connector

CONNECTOR = Connector(
    name="api",
    label="API",
    icon="globe",
    source=ApiSourceSettings,
    source_hint="Paginated JSON endpoints.",
    source_form=load_fields(__file__, "source"),
)
