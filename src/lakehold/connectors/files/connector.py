"""The connector of files: in a volume, read and written."""

from pathlib import Path
from typing import Any

from lakehold.connectors.files.settings import FileDestinationSettings, FileSourceSettings
from lakehold.connectors.form_fields import Facts, load_fields
from lakehold.connectors.registry import Connector

_FORM = Path(__file__).with_name("form.yaml")


def _describe_source(form: Any, secrets: Facts) -> Facts:  # noqa: ANN401 - the values of a form
    return [("Volume", form.label_of("volume")), ("Folder", form.text("folder")), *secrets]


def _describe_destination(form: Any, secrets: Facts) -> Facts:  # noqa: ANN401 - the values of a form
    within = [("Volume", form.label_of("volume"))] if "volume" in form.texts else []
    return [*within, ("Name", form.text("file")), ("Format", form.label_of("kind")), *secrets]


CONNECTOR = Connector(
    name="files",
    label="Files",
    icon="file",
    source=FileSourceSettings,
    source_hint="CSV, Excel, JSON or Parquet files in a volume.",
    source_form=load_fields(_FORM, "source", describe=_describe_source),
    destination=FileDestinationSettings,
    destination_hint="CSV, Excel, Parquet or JSON files.",
    destination_form=load_fields(_FORM, "destination", describe=_describe_destination),
)
