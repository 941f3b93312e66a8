"""review: every member × every resource, computed by Spark, counted, and written as Parquet."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

from benchmarks.facts import SOME, TENANT
from benchmarks.figures import Figure
from benchmarks.world import World
from lakehold.access.review.review import AccessReview
from lakehold.access.session import AccessSession

TABLE = "lakehouse.table"
_WARM = 4
"""How often the review is counted before it is measured: Java compiles what runs often."""
_NOTE = "Review: warm; local[2], heap of 1 GiB; facts handed to Spark each time"


@contextmanager
def spark() -> Iterator[SparkSession]:
    """A Spark like that of a small installation."""
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    session = (
        SparkSession.builder.master("local[2]")
        .appName("lakehold-bench")
        .config("spark.driver.memory", "1g")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
    try:
        yield session
    finally:
        session.stop()


def agree(world: World, session: SparkSession) -> None:
    """Check that the review counts what listings count."""
    with world.databases["SQLite"].access.read(TENANT) as asked:
        review = _review(session, asked)
        number = asked.current_view().members[asked.current_view().member(SOME)]
        bit = review.actions(TABLE).index("see")
        pairs = review.pairs().where(f"kind = '{TABLE}' AND member = {number} AND (actions >> {bit}) & 1 = 1")
        assert pairs.count() == len(asked.ids(SOME, "see", TABLE))


def figures(world: World, session: SparkSession) -> Iterator[Figure]:
    """Return the figures of counting and writing, beside counting as many bare pairs with Spark."""
    for _ in range(_WARM):
        _count_review(world, session)
    yield Figure(
        "review: 1,000 members × 100,000 resources, counted by kind and action",
        lambda: _count_review(world, session),
        floor={"Spark: counting 100 million bare pairs": lambda: _count_bare_pairs(session)},
        most=5.0,
        note=_NOTE,
    )
    yield Figure(
        "review: allowed pairs written as Parquet",
        lambda: _write_review(world, session, world.folder / "review"),
        most=30.0,
        note=_NOTE,
    )


def _review(session: SparkSession, asked: AccessSession) -> AccessReview:
    return asked.read_view(lambda view: AccessReview(session, view))


def _count_review(world: World, session: SparkSession) -> float:
    with world.databases["SQLite"].access.read(TENANT) as asked:
        start = time.perf_counter()
        lines = _review(session, asked).counts().collect()
        taken = time.perf_counter() - start
    assert sum(line["pairs"] for line in lines) > 1_000_000
    return taken


def _write_review(world: World, session: SparkSession, folder: Path) -> float:
    with world.databases["SQLite"].access.read(TENANT) as asked:
        start = time.perf_counter()
        _review(session, asked).pairs().write.mode("overwrite").parquet(str(folder))
        return time.perf_counter() - start


def _count_bare_pairs(session: SparkSession) -> float:
    start = time.perf_counter()
    members, resources = session.range(1_000), session.range(100_000)
    assert resources.crossJoin(members.hint("broadcast")).selectExpr("sum(1)").collect()[0][0] == 100_000_000
    return time.perf_counter() - start
