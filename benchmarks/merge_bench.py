"""Merging into a table that is partitioned: how long it takes by what changes, and by how large the table is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import count
from pathlib import Path
from time import perf_counter

from benchmarks.figures import Figure
from benchmarks.lakehouse import ROWS, Lakehouse
from benchmarks.plot import Axes, draw
from lakehold.lake.iceberg_catalog import TableIdentifier
from lakehold.lake.spark.table_writer import TableWriteOptions, WriteMode, write_rows

_PLOT = Path(__file__).parents[1] / "docs" / "images" / "merge.svg"
_AXES = Axes("rows in the table", "seconds", (1_000_000, 3_160_000, 10_000_000), "s", 1)
_PARTS = 100
_SMALL, _LARGE = 10_000, 100_000
_FLAT = 2.0
_TABLE = (
    "SELECT id, id % 1000 AS value, CAST(id * {parts} DIV {rows} AS INT) AS part, repeat('x', 40) AS text"
    " FROM range({rows})"
)
_marks = count()


def figures(here: Lakehouse, say: Callable[[str], None]) -> Iterator[Figure]:
    """Return the ratios of the largest to the smallest, by the table and by the change."""
    taken = _measure_sizes(here, say)
    draw(_PLOT, {f"{change:,} rows are merged": by_size for change, by_size in taken.items()}, _AXES)
    note = f"Merging: the newest hundredth of a table is merged into; drawn in {_PLOT.relative_to(_PLOT.parents[2])}."
    for change, by_size in taken.items():
        grown = by_size[ROWS] / by_size[ROWS // 10]
        name = f"merge {change:,} rows, into 10,000,000 over into 1,000,000"
        yield Figure(name, partial(float, grown), most=_FLAT, unit="×", note=note)
    whole = taken[_LARGE][ROWS]
    yield Figure("merge 1 % into 10,000,000 rows", partial(float, whole), note=note)


def _measure_sizes(here: Lakehouse, say: Callable[[str], None]) -> Mapping[int, Mapping[int, float]]:
    taken: dict[int, dict[int, float]] = {_SMALL: {}, _LARGE: {}}
    for number, rows in enumerate(_AXES.ticks):
        say(f"merging into {rows:,} rows")
        place = TableIdentifier(99, number + 1)
        table = here.spark.sql(_TABLE.format(rows=rows, parts=_PARTS))
        write_rows(here.tables, place, table, TableWriteOptions(WriteMode.OVERWRITE, "all", partitioned_by=("part",)))
        for change, by_size in taken.items():
            by_size[rows] = min(_merge(here, place, rows, change) for _ in range(3))
        here.tables.drop(place)
    return taken


def _merge(here: Lakehouse, place: TableIdentifier, rows: int, change: int) -> float:
    """Update the last rows of the table, which lie in its last partitions."""
    text = _TABLE.format(rows=rows, parts=_PARTS)
    changed = here.spark.sql(f"SELECT id, value + 1 AS value, part, text FROM ({text}) WHERE id >= {rows - change}")
    start = perf_counter()
    write_rows(
        here.tables, place, changed, TableWriteOptions(WriteMode.MERGE, f"merge {next(_marks)}", keys=("id", "part"))
    )
    return perf_counter() - start
