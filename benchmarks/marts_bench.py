"""Marts beside plain Spark: a report on ten million rows; and a thousand triggers that are due at the same minute."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from benchmarks import trigger_bench
from benchmarks.figures import Figure, Result, measure
from benchmarks.lakehouse import ED, ROWS, TENANT, Lakehouse, lakehouse
from lakehold.access import Grant
from lakehold.catalog import resources

_MOST = 1.15
_REPORT: dict[str, object] = {
    "columns": ["day"],
    "sums": [
        {"how": "count", "name": "orders"},
        {"how": "sum", "column": "amount", "name": "amount"},
    ],
    "where": [{"column": "amount", "is": ">", "value": "100"}],
    "sort": [{"column": "day"}],
}
_PLAIN = (
    "SELECT day, count(*) AS orders, sum(amount) AS amount FROM plain.a.orders"
    " WHERE amount > 100 GROUP BY day ORDER BY day"
)
_NOTE = "Report: of a published mart, with its access, queue, log and delivery as a file; plain: the query, to a file."


def run(say: Callable[[str], None]) -> Iterator[list[Result]]:
    """The triggers first, in processes of their own; then the report in this one's Spark."""
    yield measure(trigger_bench.figures(say), say, 1)
    with TemporaryDirectory() as name:
        say(f"a data mart of {ROWS:,} rows")
        with lakehouse(Path(name)) as here:
            _create_resources(here)
            for uid in ("source", "mart"):
                here.run(uid)
            here.plain.read.parquet(str(here.file)).writeTo("plain.a.orders").using("iceberg").createOrReplace()
            yield measure([_report(here)], say)


def _report(here: Lakehouse) -> Figure:
    def over() -> float:
        ours = here.run("report")
        return ours / _by_hand(here)

    return Figure(f"report on a mart of {ROWS:,} rows over plain", over, most=_MOST, unit="×", note=_NOTE)


def _by_hand(here: Lakehouse) -> float:
    out = here.folder / "report.csv"
    shutil.rmtree(out, ignore_errors=True)
    start = perf_counter()
    here.plain.sql(_PLAIN).coalesce(1).write.csv(str(out), header=True)
    return perf_counter() - start


def _create_resources(here: Lakehouse) -> None:
    with here.platform.access.write(TENANT) as session:
        session.store.create("marts.project", "Sales", uid="sales", edges={"tenant": TENANT})
        session.store.add(Grant("ed", "technical_user", "sales"))
    with here.platform.write(ED) as ctx:
        make = partial(resources.create, ctx)
        make(
            "marts.storage",
            "lake",
            uid="lake",
            edges={"project": "sales"},
            settings={"kind": "lake", "lakehouse": "shop"},
        )
        make(
            "marts.data_mart",
            "orders",
            uid="mart",
            edges={"project": "sales", "storage": "lake"},
            settings={"by": "table", "table": "raw.orders"},
            managed={"published": True},
        )
        file = {"to": "files", "name": "report", "kind": "csv"}
        make("marts.destination", "folder", uid="folder", edges={"project": "sales"}, settings=file)
        ends = {"data_mart": "mart", "destination": "folder"}
        make("marts.report", "by day", uid="report", edges=ends, settings=_REPORT)
