"""The plan of a run is frozen when it begins; one that goes on follows what was corrected meanwhile."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lakehold.kit.errors import ConflictError
from lakehold.runs.run_plan import PlannedStep, dump_step, parse_step, replan, step_named
from lakehold.runs.runnable import BackfillSpan
from lakehold.worker.run_executor import step_executors
from lakehold.workspaces.lakehouse.steps import (
    DescribeFields,
    IngestStream,
    MaterialiseQuery,
    OutputTarget,
    WriteOptions,
)
from lakehold.workspaces.marts.pipelines import SendReport

QUERY = MaterialiseQuery(
    name="query",
    reads=("orders",),
    writes=("sales",),
    workspace="Shop",
    sql="SELECT 1",
    into=OutputTarget(pipeline="q", target="sales"),
    how=WriteOptions(mode="merge", keys=("id", "day")),
    cursor="day",
    span=BackfillSpan("2026-01-01", "2026-02-01"),
)
STREAM = IngestStream(
    name="orders",
    writes=("raw",),
    source="shop",
    source_settings={"connector": "api", "endpoints": [{"name": "orders"}]},
    stream="s1",
    stream_settings={"stream": "orders", "keys": ["id"]},
    into=OutputTarget(pipeline="s1", target="raw", table="o"),
)
STEPS = [
    QUERY,
    STREAM,
    DescribeFields(name="describe", writes=("t",), table="t", fields=(("id", "Number"), ("day", "Ä"))),
    SendReport(
        name="send",
        reads=("m",),
        report="r",
        settings={"columns": ["id"]},
        mart="m",
        marts={"m": {"sql": "SELECT 1"}},
        destination="d",
        destination_settings={"to": "mail"},
    ),
]


def test_every_step_comes_back_as_it_was_stored() -> None:
    for step in STEPS:
        assert parse_step(dump_step(PlannedStep(step, ())), step_executors()) == step


def test_every_type_of_step_has_a_name_of_its_own() -> None:
    names = [step.__name__ for step in step_executors()]
    assert len(names) == len(set(names)) > 10


def test_a_step_that_is_tried_again_follows_its_corrected_definition() -> None:
    corrected = MaterialiseQuery(
        name="query", workspace="Shop", sql="SELECT 2", into=QUERY.into, how=QUERY.how, writes=("sales",)
    )
    again = replan(dump_step(PlannedStep(QUERY, ())), [PlannedStep(corrected, ())])
    assert parse_step(again, step_executors()) == corrected


def test_a_step_that_the_definition_no_longer_has_stays_as_it_was() -> None:
    frozen = dump_step(PlannedStep(STREAM, ()))
    assert replan(frozen, [PlannedStep(QUERY, ())]) == frozen


def test_a_step_is_not_taken_for_another_one_that_has_got_its_name() -> None:
    frozen = dump_step(PlannedStep(STREAM, ()))
    other = replace(STREAM, stream="s2", stream_settings={"stream": "salaries"})
    renamed = replace(STREAM, name="orders of the shop")
    assert replan(frozen, [PlannedStep(other, ())]) == frozen
    again = replan(frozen, [PlannedStep(other, ()), PlannedStep(renamed, ())])
    assert parse_step(again, step_executors()) == renamed


def test_a_run_that_has_no_plan_yet_finds_its_step_by_name() -> None:
    plan = [PlannedStep(QUERY, ()), PlannedStep(STREAM, ())]
    assert step_named("orders", plan).step is STREAM
    with pytest.raises(ConflictError, match="no step 'gone' any more"):
        step_named("gone", plan)


def test_a_step_whose_way_of_working_is_gone_is_refused_in_words() -> None:
    with pytest.raises(ConflictError, match="no step 'SendReport'"):
        parse_step(dump_step(PlannedStep(STEPS[-1], ())), [MaterialiseQuery])
