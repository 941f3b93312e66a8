"""The connector of files: in a volume, read and written."""

from __future__ import annotations

from lakehold.connectors.files.settings import FileDestinationSettings, FileSourceSettings
from lakehold.connectors.registry import Connector

CONNECTOR = Connector(
    name="files",
    label="Files",
    icon="file",
    source=FileSourceSettings,
    source_hint="CSV, Excel, JSON or Parquet files in a volume.",
    destination=FileDestinationSettings,
    destination_hint="CSV, Excel, Parquet or JSON files.",
)
