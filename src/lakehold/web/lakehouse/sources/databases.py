"""The address of a database. PostgreSQL's is filled in by its parts; any other as its driver takes it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from lakehold.web.lakehouse.forms import whole

POSTGRESQL, OTHER = "postgresql", "other"
PORT = "5432"
_PARTS = re.compile(r"jdbc:postgresql://(?P<host>\[[^\]/?]+\]|[^/:?,\[]+)(?::(?P<port>\d+))?/(?P<database>[^/?]+)")
_HOST = re.compile(r"\[[0-9a-fA-F:.]+\]|[^\s/:?,@\[\]]+")
_DATABASE = re.compile(r"[^\s/?]+")
_LARGEST = 65_535


def address(texts: Mapping[str, str]) -> str:
    """The address, of what was filled in."""
    if texts.get("product") == OTHER:
        return texts.get("address", "")
    return f"jdbc:postgresql://{texts.get('host', '')}:{texts.get('port') or PORT}/{texts.get('database', '')}"


def parts(of: str) -> dict[str, str]:
    """What is to be filled in, of an address."""
    if not of:
        return {"product": POSTGRESQL, "port": PORT}
    found = _PARTS.fullmatch(of)
    if found is None:
        return {"product": OTHER, "address": of}
    return {"product": POSTGRESQL, **found.groupdict(), "port": found["port"] or PORT}


def errors(texts: Mapping[str, str]) -> dict[str, str]:
    """What is wrong with it, by field."""
    if texts.get("product") == OTHER:
        return {} if texts.get("address") else {"address": "Write the address that the driver takes."}
    found: dict[str, str] = {}
    if not _HOST.fullmatch(texts.get("host", "")):
        found["host"] = "Write the name of the host alone, such as db.shop.internal."
    port = texts.get("port", "")
    if port and not 0 < (whole(port) or 0) <= _LARGEST:
        found["port"] = "A port is a number up to 65535."
    if not _DATABASE.fullmatch(texts.get("database", "")):
        found["database"] = "Write the name of the database."
    return found
