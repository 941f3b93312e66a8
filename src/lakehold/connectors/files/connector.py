"""The connector of files: in a volume, read and written."""

from lakehold.connectors.files.settings import FileDestinationSettings, FileSourceSettings
from lakehold.connectors.form_fields import load_fields
from lakehold.connectors.registry import Connector

CONNECTOR = Connector(
    name="files",
    label="Files",
    icon="file",
    source=FileSourceSettings,
    source_hint="CSV, Excel, JSON or Parquet files in a volume.",
    source_form=load_fields(__file__, "source"),
    destination=FileDestinationSettings,
    destination_hint="CSV, Excel, Parquet or JSON files.",
    destination_form=load_fields(__file__, "destination"),
)
