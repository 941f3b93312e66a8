"""The differences between two versions."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from pyspark.sql import DataFrame, SparkSession

from lakehold.workspaces.products.executors.entity_changes import diff_versions
from tests.workspaces.products.entity_tables import table

pytestmark = pytest.mark.slow

ENTITIES = ("entity", "name", "city")


def version(
    spark: SparkSession, members: dict[str, str], values: Sequence[tuple[str, str | None, str | None]]
) -> tuple[DataFrame, DataFrame]:
    return table(spark, ("record", "entity"), members.items()), table(spark, ENTITIES, values)


def changes(before: tuple[DataFrame, DataFrame], after: tuple[DataFrame, DataFrame]) -> dict[str, tuple[object, ...]]:
    found = diff_versions(before, after, ("name", "city")).toArrow().to_pylist()
    assert len({row["entity"] for row in found}) == len(found)
    return {row["entity"]: (row["change"], row["attributes"], row["successors"]) for row in found}


def test_each_change_is_named_and_nothing_else(spark: SparkSession) -> None:
    before = version(
        spark,
        {
            "same1": "same",
            "value1": "value",
            "more1": "more",
            "into1": "into",
            "merged1": "merged",
            "merged2": "merged",
            "parts1": "parts",
            "parts2": "parts",
            "lives1": "lives",
            "lives2": "lives",
            "gone1": "gone",
            "moved1": "from",
            "moved2": "from",
            "to1": "to",
            "less1": "less",
            "less2": "less",
        },
        [
            *((each, "a", None) for each in ("same", "more", "into", "merged", "parts", "lives", "gone", "from", "to")),
            ("value", "a", "Ulm"),
            ("less", "a", "b"),
        ],
    )
    after = version(
        spark,
        {
            "same1": "same",
            "value1": "value",
            "more1": "more",
            "more2": "more",
            "into1": "into",
            "merged1": "into",
            "merged2": "into",
            "parts1": "into",
            "parts2": "part",
            "lives1": "lives",
            "lives2": "child",
            "born1": "born",
            "moved1": "from",
            "moved2": "to",
            "to1": "to",
            "less1": "less",
        },
        [
            *((each, "a", None) for each in ("same", "more", "part", "lives", "child", "born", "from", "to")),
            ("value", None, "Bonn"),
            ("into", "a", "new"),
            ("less", "a", "b"),
        ],
    )
    assert changes(before, after) == {
        "value": ("changed", ["name", "city"], []),
        "more": ("changed", [], []),
        "less": ("changed", [], []),
        "into": ("changed", ["city"], []),
        "merged": ("merged", [], ["into"]),
        "parts": ("split", [], ["into", "part"]),
        "lives": ("split", [], ["child", "lives"]),
        "part": ("new", [], []),
        "child": ("new", [], []),
        "born": ("new", [], []),
        "from": ("changed", [], []),
        "to": ("changed", [], []),
        "gone": ("gone", [], []),
    }


def test_the_first_version_is_all_new_and_the_same_one_changes_nothing(spark: SparkSession) -> None:
    some = version(spark, {"a": "e1", "ä": "e2"}, [("e1", None, None), ("e2", "日本", "")])
    none = version(spark, {}, [])
    assert changes(none, some) == {"e1": ("new", [], []), "e2": ("new", [], [])}
    assert changes(some, some) == {}
    assert changes(some, none) == {"e1": ("gone", [], []), "e2": ("gone", [], [])}
