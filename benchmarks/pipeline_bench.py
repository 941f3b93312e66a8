"""The pipeline beside plain Spark and Iceberg: ten million rows in, over and out; queries; previews; a cold start."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from benchmarks import merge_bench
from benchmarks.figures import Figure, Result, measure, p50
from benchmarks.lakehouse import ED, ROWS, SUMS, Lakehouse, lakehouse
from lakehold.lake.iceberg_catalog import IcebergCatalog
from lakehold.lake.previews import PreviewOptions, read_preview
from lakehold.lake.spark import runtime
from lakehold.lake.spark.queries import Query

_MOST, _ADDED = 1.10, 0.030
_TIMES = 15
_SMALL = "SELECT part, sum(orders) AS orders FROM {table} WHERE day < DATE '2026-02-01' GROUP BY part"
_ids = count()
_NOTE = "Pipeline: a Parquet file of 10,000,000 rows → Iceberg → a query → Iceberg → a file; local[2], heap of 1 GiB."
_COLD = "Cold start: with an archive of classes, which the bench makes."
_QUERY_NOTE = (
    "Queries: warm; ours through the guard and the catalog, plain by Iceberg's JDBC catalog; medians of one round."
)


def run(say: Callable[[str], None]) -> Iterator[list[Result]]:
    """Measure all figures in one Spark, except for the cold start."""
    runtime.build_archive()
    start = Figure("Spark, cold start to first result", _cold, most=5.0, note=_COLD)
    yield measure([start], say)
    with TemporaryDirectory() as name:
        say(f"writing a file of {ROWS:,} rows")
        with lakehouse(Path(name)) as here:
            yield measure([_whole(here)], say, 3)
            yield measure(_queries(here), say)
            yield measure(merge_bench.figures(here, say), say, 1)


def _whole(here: Lakehouse) -> Figure:
    return Figure(
        f"governed pipeline of {ROWS:,} rows over plain",
        partial(_over, here.pipeline, here.by_hand),
        most=_MOST,
        unit="×",
        note=_NOTE,
    )


def _queries(here: Lakehouse) -> Iterator[Figure]:
    asked = {
        "a small query": _SMALL.format(table="{0}.sums"),
        "a query over 10,000,000 rows": SUMS.format(table="{0}.orders"),
    }
    guard = partial(_guard, here, asked["a small query"])
    yield Figure("guard of a query, catalog included, above plain analysis", guard, most=0.025, note=_QUERY_NOTE)
    for name, text in asked.items():
        sample = partial(_query, here, text)
        yield Figure(f"{name}, less 30 ms, over plain", sample, most=_MOST, unit="×", note=_QUERY_NOTE)
    lake = IcebergCatalog(here.platform.settings)
    look = partial(read_preview, lake, here.place("orders"))
    yield Figure("preview of 10,000,000 rows", partial(p50, look, [(PreviewOptions(),)] * 20, budget=5), most=0.1)


def _over(ours: Callable[[], float], plain: Callable[[], float]) -> float:
    """Return the ratio of ours to plain, sampled in turn."""
    return ours() / plain()


def _guard(here: Lakehouse, text: str) -> float:
    """Time what the guard and the catalog add to Spark's own work."""
    ours, plain = list[float](), list[float]()
    for _ in range(_TIMES):
        query = Query(f"q{next(_ids)}", ED, "Bench", text.format("trusted"), 0)
        ours.append(_timed(partial(here.queries.describe, query)))
        plain.append(_timed(lambda: here.plain.sql(text.format("plain.a"))))
    return median(ours) - median(plain)


def _query(here: Lakehouse, text: str) -> float:
    layer = "raw" if ".orders" in text else "trusted"
    ours, plain = list[float](), list[float]()
    for _ in range(_TIMES if layer == "trusted" else 3):
        query = Query(f"q{next(_ids)}", ED, "Bench", text.format(layer), 1_000_000)
        ours.append(_timed(partial(here.queries.run, query)))
        plain.append(_timed(lambda: here.plain.sql(text.format("plain.a")).toArrow()))
    return (median(ours) - _ADDED) / median(plain)


def _timed(do: Callable[[], object]) -> float:
    start = perf_counter()
    do()
    return perf_counter() - start


def _cold() -> float:
    """Time a new process until its first result. Its shutdown is not counted."""
    start = perf_counter()
    command = [sys.executable, "-m", "benchmarks.cold_start"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:  # noqa: S603
        assert process.stdout is not None
        said = process.stdout.readline()
        took = perf_counter() - start
    assert said == "5\n", "Spark has not started."
    return took
