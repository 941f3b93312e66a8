"""A worker is killed while many runs are under way, each at another point. Another worker takes over, and in the end
everything is as if each had run once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

import pytest
import sqlalchemy as sa
from pyspark.sql import SparkSession

from lakehold.lake.spark.table_writer import TableWriteOptions, WriteMode, write_rows
from lakehold.runs.run_table import run_table
from lakehold.runs.scheduler.schedule import TriggerSchedule
from lakehold.runs.scheduler.service import Triggers
from tests import postgres
from tests.lake.crashes import scenario, table_files
from tests.lake.crashes.destination_cases import IntoDatabase, IntoFile, ToHook, ToMail
from tests.lake.crashes.environment import CrashEnvironment, KilledPipeline
from tests.lake.crashes.scenario import COMMIT, FOLLOWED, CrashResult
from tests.lake.crashes.table_cases import NEW, NEWS, IntoTable
from tests.lake.crashes.worker import HALF
from tests.lake.destinations.receiver import run_receiver
from tests.lake.shop import ADA, ED, TENANT
from tests.smtp import mail_server
from tests.workspaces.lakehouse.inline_runs import RUNS, inline_runs

pytestmark = pytest.mark.slow

WRITES = [
    *(("ingest", mode) for mode in ("full", "append", "merge", "mirror", "incremental")),
    *(("query", mode) for mode in ("overwrite", "append", "merge")),
    ("history", "kept"),
]
PLAIN = [("ingest", "full"), ("ingest", "append"), ("query", "append")]
INTO = ("append", "overwrite", "upsert")
LAST = IntoTable("query", "append", FOLLOWED)
PIECES: Sequence[KilledPipeline] = [
    *(IntoTable(kind, mode, point) for kind, mode in WRITES for point in (COMMIT, "written")),
    *(IntoTable(kind, mode, HALF) for kind, mode in PLAIN),
    *(IntoTable("query", "append", point) for point in ("run begun", "step begun", "recorded", "ended")),
    LAST,
    IntoTable("query", "append", "made", filled=False),
    IntoTable("ingest", "merge", "fields added", "more.csv"),
    *(IntoTable("ingest", "append", point, "bad.csv") for point in ("bad rows to come", "bad rows kept")),
    *(IntoFile(point) for point in (HALF, "file made", "file placed", "written")),
    *(IntoDatabase(mode, point) for mode in INTO for point in ("all but committed", "moved")),
    IntoDatabase("append", HALF),
    *(ToHook(point) for point in (HALF, "one taken", "written")),
    *(ToMail(point) for point in (HALF, "one taken", "written")),
]
STORIES = {
    piece.uid
    for piece in (
        *(
            IntoTable("ingest", "merge", COMMIT),
            IntoTable("query", "append", HALF),
            IntoTable("history", "kept", COMMIT),
        ),
        *(IntoTable("query", "append", "recorded"), LAST, IntoTable("ingest", "append", "bad rows kept", "bad.csv")),
        *(IntoFile("file placed"), IntoDatabase("upsert", "moved"), ToHook("one taken"), ToMail("one taken")),
    )
}
"""One of each kind of write, and of each part of a run. The others are rare."""


def cases(pieces: Sequence[KilledPipeline]) -> list[object]:
    """The pieces as parameters, those that are no story as rare ones."""
    rare = pytest.mark.rare
    return [pytest.param(each, id=each.uid, marks=() if each.uid in STORIES else rare) for each in pieces]


FILES = {
    "news.csv": "id,word\n2,B\n3,c\n",
    "more.csv": "id,word,more\n2,B,x\n3,c,y\n",
    "bad.csv": "id,word\n2,B\nthree,c\n3,c\n",
}


@pytest.fixture(scope="module")
def world(
    spark: SparkSession, template_file: Path, tmp_path_factory: pytest.TempPathFactory, server: postgres.Server
) -> Iterator[CrashEnvironment]:
    folder, database = tmp_path_factory.mktemp("crashes"), server.create()
    with inline_runs(spark, template_file, folder) as here, run_receiver() as hook, mail_server() as post:
        for name, content in FILES.items():
            here.put_file(name, content)
        with here.shop.platform.access.write(TENANT) as session:
            session.store.create("lakehouse.table", NEWS, uid=NEWS, edges={"layer": "raw"})
        rows = spark.createDataFrame(NEW, "id long, word string").coalesce(1)
        write_rows(here.shop.tables, here.shop.place(NEWS), rows, TableWriteOptions(WriteMode.OVERWRITE, "first"))
        yield CrashEnvironment(here, server, database, hook, post)
    server.drop(database)


@pytest.fixture(scope="module")
def crash(world: CrashEnvironment, request: pytest.FixtureRequest) -> CrashResult:
    """One for all that are asked for: each run is at its own point when their worker is killed."""
    mine = (item for item in request.session.items if isinstance(item, pytest.Function) and item.path == request.path)
    asked = {cast("KilledPipeline", item.callspec.params["piece"]).uid for item in mine if hasattr(item, "callspec")}
    pieces = [piece for piece in PIECES if piece.uid in asked or piece is LAST]
    for piece in pieces:
        piece.make(world)
    after = IntoTable("query", "append", "after another")
    after.make(world)
    with world.here.shop.platform.write(ED) as ctx:
        Triggers(RUNS).save(ctx, after.uid, TriggerSchedule(after=(LAST.uid,)))
    return scenario.run_scenario(world, pieces)


@pytest.mark.parametrize("piece", cases(PIECES))
def test_what_was_killed_is_as_if_it_had_run_once(crash: CrashResult, piece: KilledPipeline) -> None:
    run = crash.runs[piece.uid]
    assert (run.state, run.error) == ("succeeded", "")
    assert piece.between(crash.observed[piece.uid]), crash.observed[piece.uid]
    assert piece.seen(crash.world) == piece.after
    assert piece.left(crash.world) == []


@pytest.mark.parametrize("piece", cases([each for each in PIECES if "bad" in each.point]))
def test_bad_rows_are_kept_once(crash: CrashResult, piece: KilledPipeline) -> None:
    assert [step.bad for step in crash.runs[piece.uid].steps] == [1]
    shop = crash.world.here.shop
    with shop.platform.read(ADA) as ctx:
        (table,) = ctx.session.list("ada", "see", "lakehouse.table", search=f"{piece.uid}_rejected").items
    assert table_files.rows(shop.tables.lake, shop.place(table.uid), "raw") == [("three,c",)]


def test_what_comes_after_a_run_is_started_once(crash: CrashResult) -> None:
    with crash.world.here.shop.platform.database.read() as transaction:
        after = crash.runs[LAST.uid].id
        found = sa.select(sa.func.count()).select_from(run_table).where(run_table.c.cause_run == after)
        assert transaction.connection.execute(found).scalar_one() == 1


def test_a_run_leaves_no_folder_to_work_in(crash: CrashResult) -> None:
    runs = crash.world.here.shop.platform.settings.data / "runs"
    assert [folder.name for folder in runs.iterdir()] == ["kept"]
