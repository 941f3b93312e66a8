"""The queries of the two lists, and what must not be told of a shop whatever is asked."""

from __future__ import annotations

import getpass
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from lakehold.kit.errors import LakeholdError
from tests.pipeline.shop import RITA, SECRET, Shop

_HERE = Path(__file__).parent
# Beside the shop's own: what a machine, a catalog or a JVM would say.
_NEVER = (SECRET, "salary", "lht_", "root:x:", "127.0.0.1", "org.apache", "java.", "\tat ", "word", "iceberg/v1")
_CODES = {"query_refused": "refused", "query_failed": "failed"}


@dataclass(frozen=True, slots=True)
class Hostile:
    """A way in that must lead nowhere."""

    name: str
    expected: str
    text: str


def hostile() -> Iterator[Hostile]:
    """All of them, each with its group in its name."""
    read: dict[str, dict[str, dict[str, str]]] = yaml.safe_load((_HERE / "hostile.yaml").read_text())
    for group, kinds in read.items():
        for expected, texts in kinds.items():
            yield from (Hostile(f"{group}: {name}", expected, text) for name, text in texts.items())


def ordinary() -> list[dict[str, Any]]:
    """All of them, each with its name, its text and its rows."""
    read: list[dict[str, Any]] = yaml.safe_load((_HERE / "ordinary.yaml").read_text())
    return read


def placed(shop: Shop, text: str) -> str:
    """The text with the real paths and numbers of the hidden table in it."""
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


def leaked(shop: Shop, asked: str, told: str) -> list[str]:
    """What the answer tells that neither the question nor the asker's rights have in them."""
    place = shop.place("hidden")
    needles = {*_NEVER, str(shop.platform.settings.data), getpass.getuser(), f"house.{place.namespace}", place.table}
    return [each for each in needles if each.lower() in told.lower() and each.lower() not in asked.lower()]


def answered(shop: Shop, text: str) -> tuple[str, str]:
    """What became of a question of Rita's, and all that she was told."""
    try:
        return "harmless", str(shop.ask(RITA, text))
    except LakeholdError as error:
        return _CODES.get(error.code, error.code), str(error)
