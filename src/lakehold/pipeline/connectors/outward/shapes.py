"""What a delivered file can be: CSV, JSON lines, Parquet, Excel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pyspark.sql import DataFrame

from lakehold.pipeline.connectors.outward.excel import Excel
from lakehold.pipeline.connectors.outward.folder import Folder
from lakehold.pipeline.connectors.outward.plain import JSON, timeless
from lakehold.pipeline.connectors.outward.separated import Csv
from lakehold.pipeline.connectors.outward.spool import parquet


@dataclass(frozen=True, slots=True)
class JsonLines:
    """An object on each line, in UTF-8. A field without a value is there and null."""

    ending = "jsonl"

    def spread(self, rows: DataFrame, folder: Folder) -> None:
        """Let Spark write the rows in parts."""
        timeless(rows).write.mode("overwrite").options(**JSON, compression="none").json(folder.address)

    def head(self, names: list[str]) -> bytes:
        """Nothing: each line has the names."""
        del names
        return b""

    def encoded(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """As it is: JSON is UTF-8."""
        return chunks

    def counter(self) -> Callable[[bytes], int]:
        """Counts the rows of a text that is given to it bit by bit."""
        return lambda chunk: chunk.count(b"\n")


@dataclass(frozen=True, slots=True)
class Parquet:
    """Columns with their types, compressed by Snappy."""

    ending = "parquet"

    def spread(self, rows: DataFrame, folder: Folder) -> None:
        """Let Spark write the rows, in parts if they come in parts."""
        parquet(timeless(rows), folder, compression="snappy")


Shape = Csv | JsonLines | Parquet | Excel
