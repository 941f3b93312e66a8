"""The connector of databases behind JDBC: read from and delivered to."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lakehold.connectors.database.address_fields import database_address, split_database_address
from lakehold.connectors.database.settings import DatabaseDestinationSettings, DatabaseSourceSettings
from lakehold.connectors.form_fields import ConnectionFields, Facts, load_fields
from lakehold.connectors.registry import Connector


def _to_texts(settings: Mapping[str, Any]) -> dict[str, str]:
    return split_database_address(str(settings.get("address", "")))


def _to_settings(texts: Mapping[str, str]) -> dict[str, object]:
    return {"address": database_address(texts)}


def _describe_source(form: Any, secrets: Facts) -> Facts:  # noqa: ANN401 - the values of a form
    place = [("Address", str(form.before.get("address", ""))), ("User name", form.text("user"))]
    return [*place, ("Schemas", form.text("schemas") or "Default of the connection"), *secrets]


def _describe_destination(form: Any, secrets: Facts) -> Facts:  # noqa: ANN401 - the values of a form
    table = ".".join(filter(None, (form.text("schema"), form.text("table"))))
    where = [("Address", str(form.before.get("address", ""))), ("User name", form.text("user")), ("Table", table)]
    keys = [("Keys", form.text("keys"))] if form.text("keys") else []
    return [*where, ("Write mode", form.label_of("mode")), *keys, *secrets]


def _load(part: str, describe: Any) -> ConnectionFields:  # noqa: ANN401 - as the class has it
    file = Path(__file__).with_name("form.yaml")
    return load_fields(file, part, describe=describe, to_texts=_to_texts, to_settings=_to_settings)


CONNECTOR = Connector(
    name="database",
    label="Database",
    icon="database",
    source=DatabaseSourceSettings,
    source_hint="Tables and views of PostgreSQL, or another database with a JDBC driver.",
    source_form=_load("source", _describe_source),
    destination=DatabaseDestinationSettings,
    destination_hint="Rows into a table of PostgreSQL or another database.",
    destination_form=_load("destination", _describe_destination),
)
