"""The connector of HTTP APIs that answer with JSON."""

from __future__ import annotations

from lakehold.connectors.api.settings import ApiSourceSettings
from lakehold.connectors.registry import Connector

CONNECTOR = Connector(
    name="api",
    label="API",
    icon="globe",
    source=ApiSourceSettings,
    source_hint="Endpoints that answer with JSON, page by page.",
)
