"""The review on Spark is all lists: every decision about some kinds, on random facts and random models."""

from __future__ import annotations

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from lakehold.access.decisions.evaluator import DecisionEvaluator
from lakehold.access.facts.view import FactView
from lakehold.access.review.review import AccessReview
from tests.laws.budget import examples
from tests.laws.facts import Case, shipped_cases
from tests.laws.models import random_cases
from tests.laws.view_questions import members, resources_of_kind

pytestmark = [
    pytest.mark.slow,
    # Spark's client leaves closing its loopback sockets to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]

# Each example compiles plans of its own: few are tried, and a failing one is told as it is found.
FEW = settings(examples(4), phases=[Phase.explicit, Phase.generate])


@FEW
@given(data=st.data(), small=st.sampled_from([0, 10_000]))
def test_shipped_models(spark: SparkSession, data: st.DataObject, small: int) -> None:
    assert_same(spark, data, data.draw(shipped_cases()), small)


@FEW
@given(data=st.data(), small=st.sampled_from([0, 10_000]))
def test_random_models(spark: SparkSession, data: st.DataObject, small: int) -> None:
    assert_same(spark, data, data.draw(random_cases()), small)


def assert_same(spark: SparkSession, data: st.DataObject, case: Case, small: int) -> None:
    view = case.world().view
    kinds = sorted(
        kind for kind in view.policy.kinds if resources_of_kind(view, kind) and not kind.startswith("tenant.")
    )
    if not kinds or not members(view):
        return
    chosen = data.draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=2, unique=True))
    rows = AccessReview(spark, view, chosen, small=small).rows().collect()
    assert {(row["member"], row["action"], row["resource"]) for row in rows} == decided(view, chosen)


def decided(view: FactView, kinds: list[str]) -> set[tuple[str, str, str]]:
    """Everything that check allows on resources of these kinds."""
    decisions = DecisionEvaluator(view)
    return {
        (member, action, resource)
        for kind in kinds
        for resource in resources_of_kind(view, kind)
        for member in members(view)
        for action in decisions.actions(member, resource)
    }
