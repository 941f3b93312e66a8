"""Change data capture beside a bare loop on the same slot, which decodes the changes and appends them to a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from benchmarks import postgres
from benchmarks.figures import Figure, Result, measure
from benchmarks.task_space import ED, TaskSpace, task_space
from lakehold.connectors.database.change_capture.messages import RowChange, decode_message
from lakehold.workspaces.spaces import change_captures

CHANGES = 200_000
_MOST = 2.0
_INSERT = (
    "INSERT INTO item SELECT i, i, i / 7.0, now(), '{text}', repeat('x', 40) FROM generate_series({low}, {high}) i"
)
_PEEK = (
    "SELECT data FROM pg_logical_slot_peek_binary_changes(%s, NULL, %s, 'proto_version', '1', 'publication_names', %s)"
)
_NOTE = (
    f"Change data capture: {CHANGES:,} inserts, updates and deletes of a table of 100,000 rows with six columns; ours"
    " merges them, the bare loop only decodes and appends; local[2], heap of 1 GiB."
)
_names = count()


def run(say: Callable[[str], None]) -> Iterator[list[Result]]:
    """Measure how long the same changes take."""
    with TemporaryDirectory() as folder, capture(Path(folder)) as here:
        over = partial(_over, here, say)
        # Spark compiles for the first ones what all others use.
        over()
        yield measure([Figure("capture over decode-and-append", over, most=_MOST, unit="×", note=_NOTE)], say, 3)


def _over(here: Capture, say: Callable[[str], None]) -> float:
    """Return the ratio of ours to the bare loop, for the same changes."""
    changes = here.change()
    bare = _timed(here.decode_and_append)
    ours = here.space.run(here.task)
    say(f"{changes:,} changes: {changes / ours:,.0f} per second; decoded and appended: {changes / bare:,.0f}")
    return ours / bare


def _timed(do: Callable[[], object]) -> float:
    start = perf_counter()
    do()
    return perf_counter() - start


@dataclass(frozen=True, slots=True)
class Capture:
    """A task that captures the changes of a table, and a table to which they are appended beside it."""

    folder: Path
    space: TaskSpace
    plain: SparkSession
    source: psycopg.Connection
    task: str

    def change(self) -> int:
        """Change rows in a hundred transactions; return how many."""
        each, parts = CHANGES // 100, 0
        for n in range(100):
            low = 1 + n * 700
            with self.source.transaction():
                for text in (
                    f"UPDATE item SET n = n + 1 WHERE id BETWEEN {low} AND {low + each // 2 - 1}",
                    f"DELETE FROM item WHERE id BETWEEN {low} AND {low + each // 4 - 1}",
                    _INSERT.format(text="again", low=low, high=low + each // 4 - 1),
                ):
                    parts += self.source.execute(text.encode()).rowcount
        return parts

    def decode_and_append(self) -> None:
        """Read the same changes, and append them to a table as they come."""
        with self.space.platform.read(ED) as ctx:
            slot = change_captures.list_of_task(ctx, self.task)[0].slot
        rows = list[tuple[object, ...]]()
        with self.source.cursor(binary=True) as cursor:
            for (data,) in cursor.execute(_PEEK.encode(), (slot, 10 * CHANGES, slot)):
                change = decode_message(data)
                if isinstance(change, RowChange):
                    rows.append(change.new or change.old or ())
        columns = [pa.array(values, pa.string()) for values in zip(*rows, strict=True)]
        table = pa.table(columns, names=["id", "n", "price", "at", "note", "text"])
        file = self.folder / f"{next(_names)}.parquet"
        pq.write_table(table, file)
        frame = self.plain.read.parquet(str(file))
        writer = frame.writeTo("plain.a.changes").using("iceberg")
        if self.plain.catalog.tableExists("plain.a.changes"):
            writer.append()
        else:
            writer.create()


@contextmanager
def capture(folder: Path) -> Iterator[Capture]:
    """A landing task whose rows are loaded."""
    with (
        postgres.server("wal_level=logical") as url,
        psycopg.connect(url, autocommit=True) as source,
        task_space(folder) as space,
    ):
        source.execute(
            "CREATE TABLE item (id int PRIMARY KEY, n int, price numeric(12, 2), at timestamptz, note text, text text)"
        )
        source.execute(_INSERT.format(text="first", low=1, high=100_000).encode())
        item = {"name": "item", "stream": "public.item", "mode": "changes", "keys": ["id"]}
        task = space.task(
            "item", {"type": "landing", "connection": space.connection("source", url), "datasets": [item]}
        )
        space.run(task)
        yield Capture(folder, space, _plain_session(space.spark, folder), source, task)


def _plain_session(spark: SparkSession, folder: Path) -> SparkSession:
    made = spark.newSession()
    here = "spark.sql.catalog.plain"
    for name, value in {
        "": "org.apache.iceberg.spark.SparkCatalog",
        ".type": "hadoop",
        ".warehouse": str(folder),
    }.items():
        made.conf.set(f"{here}{name}", value)
    return made
