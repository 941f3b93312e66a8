"""A worker is killed after a report has left and before that is written down: another one sends it again under the same
key, and the run says that it may be there twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests import postgres
from tests.pipeline.crashes import reports, story
from tests.pipeline.crashes.reports import Report
from tests.pipeline.crashes.story import Story
from tests.pipeline.crashes.world import World
from tests.pipeline.outward.receiver import receiver
from tests.pipeline.shop import ADA
from tests.smtp import sink
from tests.workspaces.lakehouse.moving import RUNS, moving
from tests.workspaces.marts.project import furnished

pytestmark = pytest.mark.slow

WAYS = ("mail", "webhook", "chat")
UNSURE = [Report(to, "one taken") for to in WAYS]
SURE = [Report(to, "written") for to in WAYS]


@pytest.fixture(scope="module")
def crash(
    spark: SparkSession, template_file: Path, tmp_path_factory: pytest.TempPathFactory, server: postgres.Server
) -> Iterator[Story]:
    folder = tmp_path_factory.mktemp("reports")
    with moving(spark, template_file, folder) as here, receiver() as hook, sink() as post:
        furnished(here)
        world = World(here, server, "", hook, post)
        reports.filled(world, spark)
        for piece in (*UNSURE, *SURE):
            piece.make(world)
        yield story.told(world, [*UNSURE, *SURE])


def lines(crash: Story, piece: Report) -> str:
    with crash.world.here.shop.platform.read(ADA) as ctx:
        return "\n".join(line.text for line in RUNS.log_lines(ctx, crash.runs[piece.uid].id))


@pytest.mark.parametrize("piece", UNSURE, ids=lambda piece: piece.uid)
def test_what_may_be_there_twice_is_said_to_be(crash: Story, piece: Report) -> None:
    run = crash.runs[piece.uid]
    assert (run.state, run.error, crash.seen[piece.uid]) == ("succeeded", "", 1)
    assert (len(piece.came(crash.world)), piece.seen(crash.world), piece.left(crash.world)) == (2, 1, [])
    assert "twice" in lines(crash, piece)


@pytest.mark.parametrize("piece", SURE, ids=lambda piece: piece.uid)
def test_what_was_written_down_is_sent_once(crash: Story, piece: Report) -> None:
    run = crash.runs[piece.uid]
    assert (run.state, run.error) == ("succeeded", "")
    assert len(piece.came(crash.world)) == 1
    assert "twice" not in lines(crash, piece)
