"""Clusters by Spark, from pairs and constraints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from lakehold.workspaces.products.entities.constraints import CuratorConstraints, RecordLink, VerifiedGroup
from lakehold.workspaces.products.executors import clusters
from lakehold.workspaces.products.executors.clusters import ConstraintTables, cluster_records
from tests.workspaces.products.entity_tables import PAIRS, by, table

pytestmark = pytest.mark.slow


def cluster(
    spark: SparkSession,
    records: Iterable[str],
    pairs: Iterable[Sequence[Any]],
    constraints: CuratorConstraints | None = None,
    max_records: int = 200,
) -> DataFrame:
    known = table(spark, ("record",), [(record,) for record in records])
    resolved = (constraints or CuratorConstraints()).resolve()
    held = ConstraintTables.create(known, resolved)
    links = table(spark, PAIRS, pairs)
    return cluster_records(known, links, held, threshold=0.9, max_records=max_records).localCheckpoint()


def test_there_is_nothing_to_cluster(spark: SparkSession) -> None:
    assert cluster(spark, [], []).count() == 0


def test_one_record_is_a_cluster(spark: SparkSession) -> None:
    assert by(cluster(spark, ["a"], []), "record", "cluster") == {"a": "a"}


def test_pairs_below_the_threshold_are_no_links(spark: SparkSession) -> None:
    found = cluster(spark, "abcd", [("a", "b", 0.95, 9.0), ("b", "c", 0.89, 3.0), ("c", "d", 0.9, 4.0)])
    assert by(found, "record", "cluster") == {"a": "a", "b": "a", "c": "c", "d": "c"}


def test_all_kinds_of_components_in_one_table(spark: SparkSession) -> None:
    chain = [f"chain{n:05}" for n in range(10_000)]
    clique = [f"clique{n:04}" for n in range(400)]
    groups = [[f"v{n:04}{m}" for m in range(2)] for n in range(1_000)]
    pairs: list[Sequence[Any]] = [(one, other, 0.99, 5.0 + n % 7) for n, (one, other) in enumerate(pairwise(chain))]
    pairs += [(one, other, 0.95, 4.0) for n, other in enumerate(clique) for one in clique[:n]]
    pairs += [(one[0], other[0], 0.99, 9.0) for one, other in pairwise(groups)]
    pairs += [("equal", f"equal{n:04}", 1.0, None) for n in range(1_000)]
    pairs += [("ä1", "ä2", 0.99, 8.0), ("ä2", "日本", 0.95, 4.0), ("日本", "🙂", 0.99, 8.0)]
    constraints = CuratorConstraints(
        [RecordLink(5, "alone", "gone"), RecordLink(6, "gone", "alone2")],
        [RecordLink(7, "ä1", "🙂")],
        [VerifiedGroup(n, f"e{n}", tuple(group)) for n, group in enumerate(groups)],
    )
    records = [*chain, *clique, *(each for group in groups for each in group), "equal", "alone", "alone2"]
    records += [*(f"equal{n:04}" for n in range(1_000)), "ä1", "ä2", "日本", "🙂"]
    found = cluster(spark, records, pairs, constraints)
    place, flags = by(found, "record", "cluster"), by(found, "record", "flag")
    sizes = Counter(place.values())
    assert set(place) == set(records)
    assert max(sizes[place[record]] for record in chain) <= 200
    assert {flags[record] for record in chain} == {"split"}
    assert {name: sizes[name] for name in sizes if name.startswith("clique")} == {"clique0000": 200, "clique0200": 200}
    assert all(place[one] == place[other] == one and sizes[one] == 2 for one, other in groups)
    assert (sizes["equal"], flags["equal"]) == (1_001, "large")
    assert place["alone"] == place["alone2"] == "alone"
    assert (place["ä1"], place["ä2"], place["日本"], place["🙂"]) == ("ä1", "ä1", "日本", "日本")
    assert flags["ä1"] is None


def test_a_newer_difference_beats_an_older_verification(spark: SparkSession) -> None:
    pairs = [("a", "b", 1.0, None), ("b", "c", 0.99, 9.0)]
    verified = [VerifiedGroup(1, "e1", ("a", "b", "c"))]
    found = cluster(spark, "abc", pairs, CuratorConstraints((), [RecordLink(2, "a", "b")], verified))
    assert by(found, "record", "cluster") == {"a": "a", "b": "b", "c": "a"}


def test_of_a_component_with_too_many_links_the_strongest_count(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clusters, "MAX_LINKS", 2)
    pairs = [("a", "b", 0.99, 9.0), ("b", "c", 0.99, 8.0), ("c", "d", 0.95, 4.0)]
    found = cluster(spark, "abcd", pairs, max_records=3)
    assert by(found, "record", "cluster") == {"a": "a", "b": "a", "c": "a", "d": "d"}
    assert set(by(found, "record", "flag").values()) == {"split"}
