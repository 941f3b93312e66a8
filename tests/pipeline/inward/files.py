"""Files for tests of what comes in."""

from __future__ import annotations

import gzip
from pathlib import Path

from pyspark.sql import DataFrame


def made(folder: Path, name: str, content: str | bytes, encoding: str = "utf-8") -> str:
    """A file with this content; packed, if it is called so."""
    data = content if isinstance(content, bytes) else content.encode(encoding)
    file = folder / name
    file.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return str(file)


def values(rows: DataFrame) -> list[tuple[object, ...]]:
    """The rows, in an order that does not change."""
    return sorted((tuple(row) for row in rows.collect()), key=str)


def aside(bad: DataFrame | None) -> list[tuple[str, str, str]]:
    """The bad rows: reason, text, place."""
    assert bad is not None
    assert bad.columns == ["reason", "raw", "place"]
    return sorted((row["reason"], row["raw"], row["place"]) for row in bad.collect())
