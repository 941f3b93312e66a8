"""The connector of databases behind JDBC: read from and delivered to."""

import re
from collections.abc import Mapping
from typing import Any

from lakehold.connectors.database.settings import DatabaseDestinationSettings, DatabaseSourceSettings
from lakehold.connectors.form_fields import ConnectionFields, Facts, load_fields
from lakehold.connectors.registry import Connector

POSTGRESQL, OTHER = "postgresql", "other"
DEFAULT_PORT = "5432"
_JDBC_URL = re.compile(r"jdbc:postgresql://(?P<host>\[[^\]/?]+\]|[^/:?,\[]+)(?::(?P<port>\d+))?/(?P<database>[^/?]+)")


def database_address(texts: Mapping[str, str]) -> str:
    """Return the JDBC address of the submitted fields."""
    if texts.get("product") == OTHER:
        return texts.get("address", "")
    return f"jdbc:postgresql://{texts.get('host', '')}:{texts.get('port') or DEFAULT_PORT}/{texts.get('database', '')}"


def split_database_address(address: str) -> dict[str, str]:
    """Split a JDBC address into form fields."""
    if not address:
        return {"product": POSTGRESQL, "port": DEFAULT_PORT}
    found = _JDBC_URL.fullmatch(address)
    if found is None:
        return {"product": OTHER, "address": address}
    return {"product": POSTGRESQL, **found.groupdict(), "port": found["port"] or DEFAULT_PORT}


def _describe_source(form: Any, secrets: Facts) -> Facts:  # noqa: ANN401 - the values of a form
    place = [("Address", str(form.before.get("address", ""))), ("User name", form.text("user"))]
    return [*place, ("Schemas", form.text("schemas") or "Default of the connection"), *secrets]


def _describe_destination(form: Any, secrets: Facts) -> Facts:  # noqa: ANN401 - the values of a form
    table = ".".join(filter(None, (form.text("schema"), form.text("table"))))
    where = [("Address", str(form.before.get("address", ""))), ("User name", form.text("user")), ("Table", table)]
    keys = [("Keys", form.text("keys"))] if form.text("keys") else []
    return [*where, ("Write mode", form.label_of("mode")), *keys, *secrets]


def _load(part: str, describe: Any) -> ConnectionFields:  # noqa: ANN401 - as the class has it
    return load_fields(
        __file__,
        part,
        describe=describe,
        to_texts=lambda settings: split_database_address(str(settings.get("address", ""))),
        to_settings=lambda texts: {"address": database_address(texts)},
    )


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
