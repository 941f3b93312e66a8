"""Files for tests of sources."""

from __future__ import annotations

import gzip
from pathlib import Path

from pyspark.sql import DataFrame


def write_file(folder: Path, name: str, content: str | bytes, encoding: str = "utf-8") -> str:
    """Write a file with this content, compressed if its name says so."""
    data = content if isinstance(content, bytes) else content.encode(encoding)
    file = folder / name
    file.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return str(file)


def sorted_rows(rows: DataFrame) -> list[tuple[object, ...]]:
    """Return the rows in a stable order."""
    return sorted((tuple(row) for row in rows.collect()), key=str)


def bad_rows(bad: DataFrame | None) -> list[tuple[str, str, str]]:
    """Return the bad rows: reason, text, place."""
    assert bad is not None
    assert bad.columns == ["reason", "raw", "place"]
    return sorted((row["reason"], row["raw"], row["place"]) for row in bad.collect())
