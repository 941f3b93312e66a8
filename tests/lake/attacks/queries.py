"""Hostile and ordinary queries, and the search for leaks in their answers."""

from __future__ import annotations

import getpass
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from lakehold.kit.errors import LakeholdError
from tests.lake.shop import RITA, SECRET, Shop

_HERE = Path(__file__).parent
# Beside the shop's own: what a machine, a catalog or a JVM would say.
_NEVER = (SECRET, "salary", "lht_", "root:x:", "127.0.0.1", "org.apache", "java.", "\tat ", "word", "iceberg/v1")
_CODES = {"query_refused": "refused", "query_failed": "failed"}


@dataclass(frozen=True, slots=True)
class HostileQuery:
    """A query that must not reveal anything."""

    name: str
    expected: str
    text: str


def hostile_queries() -> Iterator[HostileQuery]:
    """Return all hostile queries, each with its group in its name."""
    read: dict[str, dict[str, dict[str, str]]] = yaml.safe_load((_HERE / "hostile.yaml").read_text())
    for group, kinds in read.items():
        for expected, texts in kinds.items():
            yield from (HostileQuery(f"{group}: {name}", expected, text) for name, text in texts.items())


def ordinary_queries() -> list[dict[str, Any]]:
    """Return all ordinary queries, each with its name, its text and its rows."""
    read: list[dict[str, Any]] = yaml.safe_load((_HERE / "ordinary.yaml").read_text())
    return read


def fill_placeholders(shop: Shop, text: str) -> str:
    """Fill the real paths and numbers of the hidden table into the text."""
    place, location = shop.place("hidden"), shop.tables.current_metadata(shop.place("hidden")).location
    known = {
        "<hidden>": location.rpartition("/metadata/")[0].removeprefix("file:"),
        "<metadata>": location,
        "<data>": str(shop.platform.settings.data),
        "<internal>": f"{place.namespace}.{place.table}",
    }
    for name, value in known.items():
        text = text.replace(name, value)
    return text


def find_leaks(shop: Shop, asked: str, answer: str) -> list[str]:
    """Return the texts in the answer that neither the query nor the caller's rights explain."""
    place = shop.place("hidden")
    needles = {*_NEVER, str(shop.platform.settings.data), getpass.getuser(), f"lakehold.{place.namespace}", place.table}
    return [each for each in needles if each.lower() in answer.lower() and each.lower() not in asked.lower()]


def run_query(shop: Shop, text: str) -> tuple[str, str]:
    """Run a query as Rita. Returns the outcome and everything that she was answered."""
    try:
        return "harmless", str(shop.ask(RITA, text))
    except LakeholdError as error:
        return _CODES.get(error.code, error.code), str(error)
