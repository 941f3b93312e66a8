"""The review on Spark says the same as check, for the demo company and beyond one block of members."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lakehold.access.access import Access
from lakehold.access.facts.view import View
from lakehold.access.review.columns import Layout
from lakehold.access.review.review import Review
from lakehold.demo import company
from lakehold.kit.database import Database
from lakehold.kit.errors import InvalidInputError
from tests.world import World

# Spark's client leaves closing its loopback sockets to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")

Decision = tuple[str, str, str]


def decided(view: View) -> set[Decision]:
    """Everything that check allows."""
    world = World.__new__(World)
    world.view = view
    decisions = world.decisions
    resources = [view.uid(number) for kind in view.policy.kinds for number in view.of_kind.get(kind) or ()]
    members = [view.uid(member) for member in view.members]
    return {
        (member, resource, action)
        for resource in resources
        for member in members
        for action in decisions.actions(member, resource)
    }


def reviewed(spark: SparkSession, view: View) -> set[Decision]:
    """Everything that the review lists."""
    rows = Review(spark, view).rows().toLocalIterator()
    return {(row["member"], row["resource"], row["action"]) for row in rows}


@pytest.fixture
def company_view(tmp_path: Path) -> View:
    database = Database(f"sqlite:///{tmp_path / 'company.sqlite'}")
    database.migrate()
    access = Access(database)
    company.load(access)
    with access.read(company.TENANT) as session:
        return session.as_of(session.at).seen()


@pytest.mark.slow
def test_the_review_of_the_demo_company_is_every_decision(spark: SparkSession, company_view: View) -> None:
    wanted = decided(company_view)
    assert len(wanted) > 3_000
    assert reviewed(spark, company_view) == wanted


def crowd(members: int) -> World:
    """More members than one row has bits for."""
    world = World()
    for number in range(members):
        world.member(f"m{number}")
    world.add("lakehouse.lakehouse", "lh", tenant="acme")
    world.add("lakehouse.layer", "bronze", lakehouse="lh")
    world.add("lakehouse.table", "orders", layer="bronze")
    world.group("odd", *(f"m{number}" for number in range(1, members, 2)))
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


@pytest.mark.parametrize("members", [63, 64, 65, 300])
def test_members_in_other_words_and_blocks_are_not_mixed_up(spark: SparkSession, members: int) -> None:
    view = crowd(members).view
    kinds = ["lakehouse.layer", "lakehouse.table", "spaces.task"]
    # With nothing small, everything that is asked along edges is worked out by Spark too.
    review = Review(spark, view, kinds, small=0 if members == 65 else 100)
    counted = {(row["kind"], row["action"]): row["pairs"] for row in review.counts().toLocalIterator()}
    decisions = crowd(members).decisions
    for kind, resource in (("lakehouse.table", "orders"), ("lakehouse.layer", "bronze"), ("spaces.task", "ta")):
        for action in view.policy.kinds[kind].schema.actions:
            allowed = sum(decisions.check(f"m{number}", action, resource) for number in range(members))
            assert counted[kind, action] == allowed, (kind, action)


def test_pairs_are_numbers_and_bits(spark: SparkSession) -> None:
    world = crowd(3)
    review = Review(spark, world.view, ["lakehouse.table"])
    rows = {(row["member"], row["resource"]): row["actions"] for row in review.pairs().toLocalIterator()}
    table = world.view.resource("orders")
    actions = review.actions("lakehouse.table")
    editor = sum(1 << actions.index(action) for action in ("see", "read", "see_runs", "edit", "write", "rollback"))
    viewer = sum(1 << actions.index(action) for action in ("see", "read", "see_runs"))
    assert rows == {(0, table): editor, (1, table): viewer, (2, table): editor}


def test_a_tenant_without_members_is_refused_by_name(spark: SparkSession) -> None:
    with pytest.raises(InvalidInputError, match="without members"):
        Review(spark, World().view)


def test_the_layout_cuts_a_set_into_signed_words() -> None:
    layout = Layout(300)
    assert (layout.words, layout.blocks) == (4, 2)
    assert layout.cut(1 << 63, 0) == [-(2**63), 0, 0, 0]
    assert layout.cut(1 << 299, 1) == [1 << 43, 0, 0, 0]
