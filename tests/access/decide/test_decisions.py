"""Decisions by name that no table of the rule documents has a cell for."""

from __future__ import annotations

import random

import pytest

from lakehold.access import Add, Attribute, Draft, Edge, Grant, Remove, TokenPrincipal
from lakehold.access.decisions.check import compiled_checks
from lakehold.kit.errors import InvalidInputError
from tests.world import World


@pytest.fixture
def world() -> World:
    world = World()
    for member in ("ada", "bob"):
        world.member(member)
    world.group("team")
    world.grant("ada", "owner", "acme")
    return world


NARROWED = [
    TokenPrincipal("ada", resources=frozenset({"acme"})),
    TokenPrincipal("ada", actions=frozenset({"manage_groups", "create"})),
]


@pytest.mark.parametrize("token", NARROWED, ids=["to a resource", "to actions"])
def test_a_narrowed_token_makes_no_members_and_fills_no_groups(world: World, token: TokenPrincipal) -> None:
    decisions = world.decisions
    assert not decisions.check(token, "create", Draft("tenant.member", {"tenant": "acme"}))
    assert not decisions.check_change(token, Add(Edge("member_of", "bob", "team")))
    assert not decisions.check(token, "manage_groups", "acme")
    assert not decisions.check_change(token, Add(Grant("bob", "admin", "acme")))
    assert decisions.check_change(TokenPrincipal("ada"), Add(Edge("member_of", "bob", "team")))


def test_the_owner_of_a_personal_space_gives_nobody_a_role_there(world: World) -> None:
    world.add("spaces.space", "own", tenant="acme")
    world.grant("bob", "owner", "own")
    assert world.decisions.check("bob", "give", "own", role="can_view")
    world.set("own", personal=True)
    assert not world.decisions.check("bob", "give", "own", role="can_view")
    assert not world.decisions.check_change("bob", Add(Grant("ada", "can_edit", "own")))


def test_a_draft_without_what_it_lies_in_is_refused_by_name(world: World) -> None:
    with pytest.raises(InvalidInputError, match="lies in a layer"):
        world.decisions.check("ada", "create", Draft("lakehouse.table"))


def test_an_attribute_is_removed_whatever_its_value_is(world: World) -> None:
    world.set("acme", plan="starter")
    world.change(Remove(Attribute("acme", "plan", "growth")))
    assert world.view.attributes["plan"].get(world.view.resource("acme")) is None


def test_many_questions_are_answered_in_their_order(world: World) -> None:
    questions = [("ada", "see_audit", "acme"), ("bob", "see_audit", "acme"), ("bob", "see", "acme")]
    assert world.decisions.check_many(questions) == [True, False, True]


def test_what_a_view_remembers_is_not_taken_for_another_answer(world: World) -> None:
    """A process that meets many models forgets what it has compiled, and compiles it anew as it is asked: in another
    order, while the view and what it remembers are the same.
    """
    world.add("lakehouse.lakehouse", "shop", tenant="acme")
    for layer, table in (("raw", "orders"), ("service", "sums"), ("secret", "hidden")):
        world.add("lakehouse.layer", layer, lakehouse="shop")
        world.add("lakehouse.table", table, layer=layer)
    for role, resource in (("member", "shop"), ("viewer", "orders"), ("editor", "service")):
        world.grant("bob", role, resource)
    policy, view = world.view.policy, world.view
    asked = [
        (member, action, uid)
        for uid in ("shop", "raw", "orders", "service", "sums", "secret", "hidden")
        for action in policy.kind(view.kind(view.resource(uid))).schema.actions
        for member in ("ada", "bob")
    ]
    said = {question: world.check(*question) for question in asked}
    assert set(said.values()) == {True, False}
    for seed in range(20):
        random.Random(seed).shuffle(asked)  # noqa: S311 - the same orders in every run
        compiled_checks.cache_clear()
        assert {question: world.check(*question) for question in asked} == said
