"""Golden records by Spark: rules, custom SQL through the guard, overrides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from lakehold.kit.settings_schema import InvalidSettingError
from lakehold.lake.spark.guard.query_guard import QueryGuard
from lakehold.workspaces.products.executors import golden_records
from lakehold.workspaces.products.executors.aggregate_expressions import AggregateCompiler
from lakehold.workspaces.products.executors.golden_records import ConsolidationPlan, consolidate
from lakehold.workspaces.products.settings import ConsolidationRule, ProductAttribute
from tests.workspaces.products.entity_tables import MEMBERS, OVERRIDES, RECORDS, table

pytestmark = pytest.mark.slow

ATTRIBUTES = (
    ProductAttribute(name="name"),
    ProductAttribute(name="city", rule=ConsolidationRule.MOST_RECENT),
    ProductAttribute(name="revenue", rule=ConsolidationRule.SQL, sql="sum(cast(revenue AS int))"),
    ProductAttribute(name="best", rule=ConsolidationRule.SQL, sql="max(best)"),
)
NAMES = [each.name for each in ATTRIBUTES]


@pytest.fixture(scope="module")
def compiler(spark: SparkSession) -> AggregateCompiler:
    return AggregateCompiler(spark, QueryGuard(spark), NAMES)


def entities(
    records: DataFrame, members: DataFrame, compiler: AggregateCompiler, overrides: Sequence[Sequence[Any]] = ()
) -> dict[str, dict[str, Any]]:
    plan = ConsolidationPlan(ATTRIBUTES, ("crm", "shop"), compiler)
    found = consolidate(records, members, plan, table(records.sparkSession, OVERRIDES, overrides))
    assert found.columns == ["entity", "records", "flags", *NAMES, "origins"]
    return {row["entity"]: row | {"origins": dict(row["origins"])} for row in found.toArrow().to_pylist()}


def test_values_know_their_records_and_overrides_are_on_top(spark: SparkSession, compiler: AggregateCompiler) -> None:
    rows = [
        ("r1", "crm", "2026-01-01", "Ann", "Ulm", "3", "a"),
        ("r2", "shop", "2026-01-02", "Änn", "Bonn", "4", "b"),
        ("r3", "shop", None, "Änn", None, None, None),
        ("r4", "shop", None, None, None, None, None),
    ]
    members = [("r1", "e1", "r1", "split"), ("r2", "e1", "r1", "split"), ("r3", "e1", "r1", "split")]
    found = entities(
        table(spark, (*RECORDS, *NAMES), rows),
        table(spark, MEMBERS, [*members, ("r4", "e2", "r4", None)]),
        compiler,
        [("e1", "city", None), ("e2", "name", "日本"), ("e2", "no attribute", "x"), ("gone", "name", "x")],
    )
    assert found["e1"] == {
        "entity": "e1",
        "records": 3,
        "flags": ["split"],
        "name": "Änn",
        "city": None,
        "revenue": "7",
        "best": "b",
        "origins": {"name": "r2", "revenue": "sql", "best": "r2"},
    }
    assert found["e2"] == {
        "entity": "e2",
        "records": 1,
        "flags": [],
        "name": "日本",
        "city": None,
        "revenue": None,
        "best": None,
        "origins": {"name": "override"},
    }


def test_there_is_nothing_to_consolidate(spark: SparkSession, compiler: AggregateCompiler) -> None:
    assert entities(table(spark, (*RECORDS, *NAMES)), table(spark, MEMBERS), compiler) == {}


def test_entities_may_be_larger_than_what_is_taken_at_once(
    spark: SparkSession, compiler: AggregateCompiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(golden_records, "_CHUNK", 10)
    rows = [(f"{n:05}", "crm", None, f"n{n % 7}", None, "1", None) for n in range(25_000)]
    # One of 20,000 records, and many of three.
    members = [(row[0], "large" if n >= 5_000 else f"{n // 3}", "", None) for n, row in enumerate(rows)]
    found = entities(table(spark, (*RECORDS, *NAMES), rows), table(spark, MEMBERS, members), compiler)
    assert len(found) == 1_668
    assert (found["large"]["records"], found["large"]["revenue"]) == (20_000, "20000")
    assert all(row["name"] == f"n{int(row['origins']['name']) % 7}" for row in found.values())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "name",
        "max(name), max(city)",
        "max(name)) FROM secrets --",
        "max(name) FROM secrets",
        "(SELECT max(name) FROM secrets)",
        "max(name) IN (SELECT 1)",
        "exists(SELECT 1)",
        "max(password)",
        "max(reflect('java.lang.System', 'getenv', 'PATH'))",
        "max(name) OVER (PARTITION BY city)",
        "first(name); DROP TABLE x",
        "max(name) /*",
        "*",
    ],
)
def test_what_is_no_aggregate_over_the_attributes_is_refused(compiler: AggregateCompiler, text: str) -> None:
    with pytest.raises(InvalidSettingError) as refused:
        compiler(text)
    assert refused.value.field == "sql"
    assert refused.value.hint


@pytest.mark.parametrize(
    "text",
    ["max(name)", "any_value(city) FILTER (WHERE city <> 'x') -- the first", "concat_ws(', ', collect_set(name))"],
)
def test_aggregates_are_compiled(compiler: AggregateCompiler, text: str) -> None:
    compiler(text)
