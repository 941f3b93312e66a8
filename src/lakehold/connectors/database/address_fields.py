"""The address of a database as form fields: that of PostgreSQL by its parts."""

from __future__ import annotations

import re
from collections.abc import Mapping

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
