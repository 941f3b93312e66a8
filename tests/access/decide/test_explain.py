"""Explanations by name: what a person reads when they ask why."""

from __future__ import annotations

import pytest

from lakehold.access.decisions.evaluator import Explanation
from lakehold.access.facts.records import Attribute, Edge, Grant
from lakehold.kit.errors import InvalidInputError, NotFoundError
from tests.world import World


def texts(explanation: Explanation) -> str:
    """Everything that the explanation says."""
    return repr(explanation)


@pytest.fixture
def lake() -> World:
    world = World()
    for member in ("ann", "bob", "cyd", "mia"):
        world.member(member)
    world.group("engineers", "ann")
    world.add("lakehouse.lakehouse", "lh", tenant="acme")
    world.add("lakehouse.layer", "bronze", lakehouse="lh")
    world.add("lakehouse.layer", "secret", lakehouse="lh")
    world.add("lakehouse.table", "orders", layer="bronze")
    world.add("lakehouse.table", "wages", layer="secret")
    world.add("lakehouse.query", "pay", lakehouse="lh", reads=["orders", "wages"])
    world.grant("engineers", "editor", "bronze")
    world.grant("bob", "viewer", "orders")
    world.grant("mia", "manager", "bronze")
    world.grant("cyd", "owner", "acme")
    return world


def test_an_allow_names_the_group_the_grant_and_the_edge(lake: World) -> None:
    (path,) = lake.decisions.explain("ann", "edit", "orders").paths
    assert path.held
    assert set(path.reason.all_facts()) == {
        Edge("layer", "orders", "bronze"),
        Edge("member_of", "ann", "engineers"),
        Grant("engineers", "editor", "bronze"),
    }


def test_a_denial_proposes_the_nearest_level_first_and_who_gives_it(lake: World) -> None:
    ways = lake.decisions.explain("bob", "edit", "orders").ways
    first = ways[0].needed
    assert [needed.fact for needed in first] == [Grant("bob", "editor", "orders")]
    assert first[0].givers == ("mia", "cyd")
    assert [len(way.needed) for way in ways] == sorted(len(way.needed) for way in ways)


def test_joining_a_group_that_has_the_level_is_a_way(lake: World) -> None:
    facts = [needed.fact for way in lake.decisions.explain("bob", "edit", "orders").ways for needed in way.needed]
    assert Edge("member_of", "bob", "engineers") in facts


def test_tables_that_one_may_not_see_are_never_named(lake: World) -> None:
    lake.grant("bob", "viewer", "bronze")
    with pytest.raises(NotFoundError):
        lake.decisions.explain("bob", "see", "pay")
    explanation = lake.decisions.explain("bob", "see", "pay", viewer="cyd")
    assert "wages" in texts(explanation)


def test_what_may_not_be_seen_answers_like_what_is_not_there(lake: World) -> None:
    with pytest.raises(NotFoundError) as hidden:
        lake.decisions.explain("bob", "see", "wages")
    with pytest.raises(NotFoundError) as missing:
        lake.decisions.explain("bob", "see", "wagez")
    assert hidden.value.message == missing.value.message.replace("wagez", "wages")
    assert hidden.value.hint == missing.value.hint


def test_an_action_that_is_not_there_is_refused_with_the_nearest_one(lake: World) -> None:
    with pytest.raises(InvalidInputError, match="edit"):
        lake.decisions.explain("bob", "edti", "orders")


@pytest.fixture
def space() -> World:
    world = World()
    for member in ("olga", "otto", "dana"):
        world.member(member)
    world.grant("dana", "data_admin", "acme")
    world.add("spaces.space", "landing", tenant="acme")
    world.add("spaces.space", "sources", tenant="acme")
    world.add("spaces.project", "ingest", space="landing")
    world.add("spaces.connection", "erp", space="sources")
    world.add("spaces.task", "copy", project="ingest", sources=["erp"])
    world.grant("olga", "owner", "ingest")
    world.grant("olga", "can_edit", "landing")
    world.grant("otto", "can_operate", "landing")
    world.grant("otto", "can_view", "sources")
    return world


def test_a_miss_in_the_owners_context_names_person_role_and_space(space: World) -> None:
    explanation = space.decisions.explain("otto", "run", "copy")
    assert not explanation.allowed
    assert [path.held for path in explanation.paths] == [True]
    # The task is otto's to run: no former owner of a personal space has made it.
    assert [gate.held for gate in explanation.gates] == [False, True]
    assert "member olga, owner" in texts(explanation)
    facts = {needed.fact for way in explanation.ways for needed in way.needed}
    assert Grant("olga", "can_consume_data", "sources") in facts
    assert explanation.ways[0].needed[0].givers == ("dana",)


@pytest.fixture
def marts() -> World:
    world = World()
    for member in ("ada", "tim", "tom"):
        world.member(member)
    world.add("marts.project", "p", tenant="acme")
    world.add("marts.context", "emea", project="p")
    world.add("marts.data_mart", "dm", project="p", contexts="emea")
    world.grant("ada", "admin", "p")
    world.grant("tim", "technical_user", "p")
    world.grant("tom", "technical_user", "p")
    world.grant("tom", "technical_owner", "dm")
    world.set("p", member="tim", scope="selected_contexts")
    world.set("dm", shared_for_reporting=True)
    return world


def test_a_context_or_a_scope_is_a_way_through_the_context_gate(marts: World) -> None:
    ways = marts.decisions.explain("tim", "see", "dm", viewer="ada").ways
    single = {way.needed[0].fact: way.needed[0].givers for way in ways if len(way.needed) == 1}
    assert single[Grant("tim", "holder", "emea")] == ("ada",)
    assert single[Attribute("p", "scope", "entire_project", "tim")] == ("ada",)
    assert "tom" in single[Grant("tim", "business_owner", "dm")]


def test_what_must_hold_together_is_told_from_what_is_one_of_several(lake: World) -> None:
    lake.grant("ann", "viewer", "orders")
    (one_of,) = lake.decisions.explain("ann", "read", "orders").paths
    assert (len(one_of.reason.parts), one_of.reason.together) == (2, False)
    (every,) = (
        path for path in lake.decisions.explain("ann", "edit", "pay", viewer="cyd").paths if path.rule == "editor"
    )
    (inner,) = every.reason.parts
    assert inner.together
