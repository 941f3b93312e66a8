"""A worker is killed after a report has left and before that is written down: another one sends it again under the same
key, and the run says that it may be there twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests import postgres
from tests.lake.crashes import report_cases, scenario
from tests.lake.crashes.environment import CrashEnvironment
from tests.lake.crashes.report_cases import ReportCase
from tests.lake.crashes.scenario import CrashResult
from tests.lake.destinations.receiver import run_receiver
from tests.lake.shop import ADA
from tests.smtp import mail_server
from tests.workspaces.lakehouse.inline_runs import RUNS, inline_runs
from tests.workspaces.marts.project import create_project

pytestmark = [pytest.mark.slow, pytest.mark.rare]

WAYS = ("mail", "webhook", "chat")
UNSURE = [ReportCase(to, "one taken") for to in WAYS]
SURE = [ReportCase(to, "written") for to in WAYS]


@pytest.fixture(scope="module")
def crash(
    spark: SparkSession, template_file: Path, tmp_path_factory: pytest.TempPathFactory, server: postgres.Server
) -> Iterator[CrashResult]:
    folder = tmp_path_factory.mktemp("reports")
    with inline_runs(spark, template_file, folder) as here, run_receiver() as hook, mail_server() as post:
        create_project(here)
        world = CrashEnvironment(here, server, "", hook, post)
        report_cases.create_filled_mart(world, spark)
        for piece in (*UNSURE, *SURE):
            piece.make(world)
        yield scenario.run_scenario(world, [*UNSURE, *SURE])


def lines(crash: CrashResult, piece: ReportCase) -> str:
    with crash.world.here.shop.platform.read(ADA) as ctx:
        return "\n".join(line.text for line in RUNS.log_lines(ctx, crash.runs[piece.uid].id))


@pytest.mark.parametrize("piece", UNSURE, ids=lambda piece: piece.uid)
def test_what_may_be_there_twice_is_said_to_be(crash: CrashResult, piece: ReportCase) -> None:
    run = crash.runs[piece.uid]
    assert (run.state, run.error, crash.observed[piece.uid]) == ("succeeded", "", 1)
    assert (len(piece.deliveries(crash.world)), piece.seen(crash.world), piece.left(crash.world)) == (2, 1, [])
    assert "twice" in lines(crash, piece)


@pytest.mark.parametrize("piece", SURE, ids=lambda piece: piece.uid)
def test_what_was_written_down_is_sent_once(crash: CrashResult, piece: ReportCase) -> None:
    run = crash.runs[piece.uid]
    assert (run.state, run.error) == ("succeeded", "")
    assert len(piece.deliveries(crash.world)) == 1
    assert "twice" not in lines(crash, piece)
