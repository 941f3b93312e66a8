"""Pairs of people and companies whose truth is known are found by the default configuration."""

from __future__ import annotations

import pytest

from benchmarks.match_contenders import measure_quality
from tests.workspaces.products.matching.records import made_up, match


@pytest.mark.parametrize("kind", ["people", "companies"])
def test_the_default_configuration_keeps_its_quality(kind: str) -> None:
    table, attributes = made_up(kind)
    truth = dict(zip(table["record"].to_pylist(), table["truth"].to_pylist(), strict=True))
    quality = measure_quality(truth, match(table, attributes).sure())
    assert quality.precision >= 0.97
    assert quality.recall >= 0.92


def test_the_expected_precision_of_thresholds_is_near_the_real_one() -> None:
    table, attributes = made_up("people")
    truth = dict(zip(table["record"].to_pylist(), table["truth"].to_pylist(), strict=True))
    found = match(table, attributes)
    for row in found.engine.report.thresholds:
        above = [pair for pair, probability in found.pairs.items() if probability >= row["threshold"]]
        right = sum(truth[a] == truth[b] for a, b in above) / len(above)
        assert row["pairs"] == len(above)
        assert row["precision"] == pytest.approx(right, abs=0.03)


def test_the_same_records_give_the_same_model_and_pairs() -> None:
    table, attributes = made_up("companies", records=600)
    first, second = match(table, attributes), match(table.take(list(range(599, -1, -1))), attributes)
    assert first.model.to_json() == second.model.to_json()
    assert first.pairs.keys() == second.pairs.keys()
    assert all(second.pairs[pair] == pytest.approx(value, abs=1e-9) for pair, value in first.pairs.items())
