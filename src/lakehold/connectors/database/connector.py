"""The connector of databases behind JDBC: read from and delivered to."""

from __future__ import annotations

from lakehold.connectors.database.settings import DatabaseDestinationSettings, DatabaseSourceSettings
from lakehold.connectors.registry import Connector

CONNECTOR = Connector(
    name="database",
    label="Database",
    icon="database",
    source=DatabaseSourceSettings,
    source_hint="Tables and views of PostgreSQL, or of another database with a driver.",
    destination=DatabaseDestinationSettings,
    destination_hint="Rows into a table of PostgreSQL or another database.",
)
