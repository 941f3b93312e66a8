"""The review on Spark says the same as check, for the demo company and beyond one word of members."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lakehold.access.engine import AccessEngine
from lakehold.access.facts.view import FactView
from lakehold.access.review.review import AccessReview
from lakehold.demo import company
from lakehold.kit.database import Database
from lakehold.kit.errors import InvalidInputError
from tests.world import World

# Spark's client leaves closing its loopback sockets to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")

Decision = tuple[str, str, str]


def decided(view: FactView) -> set[Decision]:
    """Everything that check allows."""
    world = World.__new__(World)
    world.view = view
    decisions = world.decisions
    resources = [view.uid(number) for kind in view.policy.kinds for number in view.by_kind.get(kind) or ()]
    members = [view.uid(member) for member in view.members]
    return {
        (member, resource, action)
        for resource in resources
        for member in members
        for action in decisions.actions(member, resource)
    }


def reviewed(spark: SparkSession, view: FactView) -> set[Decision]:
    """Everything that the review lists."""
    rows = AccessReview(spark, view).rows().toLocalIterator()
    return {(row["member"], row["resource"], row["action"]) for row in rows}


@pytest.fixture
def company_view(tmp_path: Path) -> FactView:
    database = Database(f"sqlite:///{tmp_path / 'company.sqlite'}")
    database.migrate()
    access = AccessEngine(database)
    company.load(access)
    with access.read(company.TENANT) as session:
        return session.as_of(session.at).current_view()


@pytest.mark.slow
def test_the_review_of_the_demo_company_is_every_decision(spark: SparkSession, company_view: FactView) -> None:
    expected = decided(company_view)
    assert len(expected) > 3_000
    assert reviewed(spark, company_view) == expected


def people(members: int) -> list[str]:
    return [f"m{number}" for number in range(members)]


def crowd(members: int) -> World:
    """Members up to the last bit of a word, and beyond it."""
    world = World()
    for who in people(members):
        world.member(who)
    world.add("lakehouse.lakehouse", "lh", tenant="acme")
    world.add("lakehouse.layer", "bronze", lakehouse="lh")
    world.add("lakehouse.table", "orders", layer="bronze")
    world.group("odd", *people(members)[1::2])
    world.grant("odd", "viewer", "orders")
    world.grant("all", "editor", "bronze")
    world.grant("m0", "member", "lh")
    world.grant(f"m{members - 1}", "member", "lh")
    world.add("spaces.space", "sp", tenant="acme")
    world.add("spaces.project", "pr", space="sp")
    world.add("spaces.task", "ta", project="pr")
    world.grant(f"m{members - 1}", "owner", "pr")
    world.grant(f"m{members - 1}", "can_edit", "sp")
    world.grant("m0", "can_operate", "sp")
    return world


# With nothing small, everything that is asked along edges is worked out by Spark too.
@pytest.mark.parametrize("small", [0, 100])
@pytest.mark.parametrize("members", [63, 64, 65, 128, 300])
def test_members_in_other_words_are_not_mixed_up(spark: SparkSession, members: int, small: int) -> None:
    world = crowd(members)
    kinds = ["lakehouse.layer", "lakehouse.table", "spaces.task"]
    review = AccessReview(spark, world.view, kinds, small=small)
    counted = {(row["kind"], row["action"]): row["pairs"] for row in review.counts().toLocalIterator()}
    found = {(row["member"], row["resource"], row["action"]) for row in review.rows().toLocalIterator()}
    decisions = world.decisions
    for kind, resource in (("lakehouse.table", "orders"), ("lakehouse.layer", "bronze"), ("spaces.task", "ta")):
        for action in world.view.policy.kinds[kind].schema.actions:
            allowed = {who for who in people(members) if decisions.check(who, action, resource)}
            assert {who for who, what, how in found if (what, how) == (resource, action)} == allowed, (kind, action)
            assert counted[kind, action] == len(allowed), (kind, action)


@pytest.mark.parametrize("small", [0, 100])
def test_only_what_is_inside_is_told_of(spark: SparkSession, small: int) -> None:
    world = crowd(3)
    world.add("lakehouse.lakehouse", "other", tenant="acme")
    world.add("lakehouse.layer", "silver", lakehouse="other")
    world.add("lakehouse.table", "visits", layer="silver")
    world.grant("m1", "viewer", "visits")
    review = AccessReview(spark, world.view, inside="other", small=small)
    # The layer is seen by way of its table, and the lakehouse by way of the layer.
    seen = {(row["member"], row["resource"]) for row in review.rows().where("action = 'see'").toLocalIterator()}
    assert seen == {("m1", "other"), ("m1", "silver"), ("m1", "visits")}
    assert {row["kind"] for row in review.counts().toLocalIterator()} == {
        "lakehouse.lakehouse",
        "lakehouse.layer",
        "lakehouse.table",
    }


@pytest.mark.parametrize("small", [0, 100])
def test_who_removes_members(spark: SparkSession, small: int) -> None:
    world = crowd(66)
    world.grant("m0", "owner", "acme")
    world.grant("odd", "admin", "acme")
    rows = AccessReview(spark, world.view, ["tenant.member"], small=small).rows().where("action = 'delete'")
    found = {(row["member"], row["resource"]) for row in rows.toLocalIterator()}
    decisions, everybody = world.decisions, people(66)
    assert found == {(who, whom) for who in everybody for whom in everybody if decisions.check(who, "delete", whom)}
    assert {who for who, whom in found if whom == "m64"} == {"m0", "m64", *everybody[1::2]}
    assert {who for who, whom in found if whom == "m0"} == {"m0"}


def test_kinds_of_which_there_is_nothing_are_an_empty_review(spark: SparkSession) -> None:
    review = AccessReview(spark, crowd(3).view, ["marts.report"])
    assert review.pairs().isEmpty()
    assert review.rows().isEmpty()
    assert review.counts().isEmpty()


def test_pairs_are_numbers_and_bits(spark: SparkSession) -> None:
    world = crowd(3)
    review = AccessReview(spark, world.view, ["lakehouse.table"])
    rows = {(row["member"], row["resource"]): row["actions"] for row in review.pairs().toLocalIterator()}
    table = world.view.resource("orders")
    actions = review.actions("lakehouse.table")
    editor = sum(1 << actions.index(action) for action in ("see", "read", "see_runs", "edit", "write", "rollback"))
    viewer = sum(1 << actions.index(action) for action in ("see", "read", "see_runs"))
    assert rows == {(0, table): editor, (1, table): viewer, (2, table): editor}


def test_a_tenant_without_members_is_refused_by_name(spark: SparkSession) -> None:
    with pytest.raises(InvalidInputError, match="without members"):
        AccessReview(spark, World().view)
