"""The checks of a data mart come out as its rows are, and are remembered."""

from __future__ import annotations

import pytest

from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.runs.runnable import RunOptions
from lakehold.workspaces.marts.checks import list_results
from tests.lake.shop import ED, RITA
from tests.workspaces.lakehouse.inline_runs import RUNS
from tests.workspaces.marts.project import MartsProject

pytestmark = pytest.mark.slow
ROWS = (
    "SELECT id, IF(id = 3, NULL, customer) AS customer, IF(id < 2, 'same', tags[0]) AS word,"
    " TIMESTAMP '2020-01-01' AS at FROM raw.orders WHERE id < 10"
)
CHECKS = [
    {"check": "not null", "fields": ["id"]},
    {"check": "not null", "fields": ["customer"]},
    {"check": "unique", "fields": ["id"]},
    {"check": "unique", "fields": ["word"]},
    {"check": "accepted values", "fields": ["word"], "values": ["a", "same"]},
    {"check": "accepted values", "fields": ["word"], "values": ["a"]},
    {"check": "row count", "least": 10, "most": 10},
    {"check": "row count", "name": "many rows", "least": 11},
    {"check": "freshness", "fields": ["at"], "hours": 24},
    {"check": "freshness", "name": "ever", "fields": ["at"], "hours": 1e300},
    {"check": "not null", "fields": ["nothing"]},
]
OUTCOMES = [
    ("not null id", "kept", "passed"),
    ("not null customer", "broken", "1 rows have no value"),
    ("unique id", "kept", "passed"),
    ("unique word", "broken", "8 rows have the same values as another"),
    ("accepted values word", "kept", "passed"),
    ("accepted values word", "broken", "2 rows have another value"),
    ("row count", "kept", "passed"),
    ("many rows", "broken", "there are 10 rows, expected at least 11"),
    ("freshness at", "broken", "the newest value is 2020-01-01 00:00, more than 24 hours ago"),
    ("ever", "kept", "passed"),
]


def test_each_check_comes_out_as_the_rows_are(here: MartsProject) -> None:
    mart = here.mart({"by": "sql", "sql": ROWS, "checks": CHECKS})
    wrong = {"check": "sql", "name": "no customer", "sql": f"SELECT * FROM lake.Sales.{mart} WHERE customer IS NULL"}
    mart = here.mart({"by": "sql", "sql": ROWS, "checks": [*CHECKS, wrong]}, name=mart + "_")
    run = here.run(mart, by=ED)
    assert run.state == "succeeded", run.error
    with here.inline_runs.shop.platform.read(RITA) as ctx:
        found = list(reversed(list_results(ctx, mart)))
    assert [(each.name, each.state, each.said) for each in found[:10]] == OUTCOMES
    assert found[10].state == "unknown"
    assert "no field 'nothing'" in found[10].said
    # Its SQL names a mart that has no rows yet.
    assert (found[11].name, found[11].state) == ("no customer", "unknown")
    assert "many rows: there are 10 rows" in here.lines(run)


def test_one_that_stops_fails_the_run_and_is_remembered_all_the_same(here: MartsProject) -> None:
    checks = [{"check": "row count", "least": 1000, "stops": True}]
    mart = here.mart({"by": "sql", "sql": ROWS, "checks": checks})
    run = here.run(mart, by=ED)
    assert (run.state, run.steps[0].state, run.steps[1].state) == ("failed", "succeeded", "failed")
    assert "expected at least 1,000" in run.error
    with here.inline_runs.shop.platform.read(ED) as ctx:
        assert [each.state for each in list_results(ctx, mart)] == ["broken"]


def test_checks_alone_do_not_refresh(here: MartsProject) -> None:
    mart = here.create_refreshed_mart({"by": "sql", "sql": ROWS, "checks": [{"check": "row count", "least": 1}]})
    with here.inline_runs.shop.platform.write(ED) as ctx:
        run = RUNS.start(ctx, mart, RunOptions(parameters={"do": "check"})).id
    assert [step.name for step in here.inline_runs.execute(run).steps] == ["check"]
    with here.inline_runs.shop.platform.read(ED) as ctx:
        assert len(list_results(ctx, mart)) == 2


def test_where_there_are_none_there_is_nothing_to_look_at(here: MartsProject) -> None:
    mart = here.mart({"by": "sql", "sql": ROWS})
    with pytest.raises(ConflictError, match="no checks"), here.inline_runs.shop.platform.write(ED) as ctx:
        RUNS.start(ctx, mart, RunOptions(parameters={"do": "check"}))


@pytest.mark.parametrize(
    ("check", "said"),
    [
        ({"check": "nice"}, "cannot be 'nice'"),
        ({"check": "not null"}, "needs a field"),
        ({"check": "not null", "fields": ["a", "b"]}, "one field"),
        ({"check": "sql"}, "no sql"),
        ({"check": "row count", "least": "many"}, "least"),
        ({"check": "row count", "least": 5, "most": 1}, "1 rows at most"),
        ({"check": "accepted values", "fields": ["word"]}, "needs values"),
    ],
)
def test_a_check_that_means_nothing_is_refused_by_name(here: MartsProject, check: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidInputError, match=said) as caught:
        here.mart({"by": "sql", "sql": ROWS, "checks": [check]})
    assert caught.value.field.startswith("checks.0.")
