"""A fifth model that somebody brings: it stands beside the shipped ones and decides as its text says."""

from __future__ import annotations

import pytest

from lakehold.access.facts.records import Add, Attribute, Draft, Edge, Grant
from lakehold.access.model.errors import ModelError
from lakehold.access.model.loader import parse_model
from lakehold.access.model.policy import Policy
from lakehold.workspaces import models, policy
from tests.world import ALL, World

LIBRARY = """\
# A library: shelves of books. Who keeps a shelf decides who reads what stands on it.
model: library
root: shelf
extends: [tenant]

kinds:
  shelf:
    in: tenant
    creator: keeper
    roles:
      keeper: {to: person, single: true, given_with: hand_over}
      writer: {implies: reader, given_with: manage_readers}
      reader: {from: tenant.viewer, given_with: manage_readers}
    attributes:
      locked: {set_with: manage_readers}
    membership:
      card: {values: [adult, child], set_with: manage_readers}
    create: tenant.create_workspace
    actions: [see, add_book, manage_readers, hand_over]
    allow:
      - {who: keeper, may: [see, add_book, manage_readers]}
      - {who: reader or any(books).borrower, may: see}
      - {who: writer, when: not locked, may: add_book}
      - {who: tenant.admin, may: hand_over}

  book:
    in: {shelf: {back: books}}
    roles:
      borrower: {when: not shelf.locked, given_with: lend}
    attributes:
      rating: {values: [everybody, grown_ups], set_with: lend}
    edges:
      sequel_of: {to: book, set_with: lend, needs: read}
      quotes: {to: book, many: true, set_with: lend}
    define:
      old_enough: rating = everybody or shelf.card = adult
      # Nobody learns from a quote what they may not read itself.
      quotable: no(quotes) or every(quotes where rating = grown_ups else sequel_of).lendable
      lendable: as shelf.keeper (shelf.add_book)
    create: shelf.add_book
    actions: [see, read, lend]
    gates:
      - {when: old_enough, for: read}
    allow:
      - {who: shelf.see, may: see}
      - {who: shelf.reader or borrower, may: read}
      - {who: shelf.keeper, when: quotable, may: lend}
"""


@pytest.fixture(scope="module")
def library() -> Policy:
    return Policy([*models(), parse_model(LIBRARY, "library/model.yaml")])


@pytest.fixture
def world(library: Policy) -> World:
    """A shelf that Ada keeps, with one book for everybody and one for grown-ups."""
    made = World(library)
    for name in ("ada", "ben", "cem", "dia", "eve"):
        made.member(name)
    made.group("crew", "ben")
    made.add("library.shelf", "novels", tenant="acme")
    made.add("library.book", "emma", shelf="novels")
    made.add("library.book", "lolita", shelf="novels")
    made.set("lolita", rating="grown_ups")
    made.grant("ada", "keeper", "novels")
    made.grant("crew", "writer", "novels")
    made.grant("cem", "borrower", "emma")
    made.grant("dia", "viewer", "acme")
    return made


def test_it_stands_beside_the_others(library: Policy) -> None:
    assert [*library.models] == ["tenant", "lakehouse", "marts", "products", "spaces", "library"]
    assert {"library.shelf", "library.book"} == {*library.kinds} - {*policy().kinds}


def test_it_changes_nothing_in_the_others(library: Policy) -> None:
    shipped = policy()
    assert {key: library.relations[key] for key in shipped.relations} == shipped.relations
    assert {kind: library.rules[kind] for kind in shipped.rules} == shipped.rules


def test_the_order_of_models_does_not_matter(library: Policy) -> None:
    turned = Policy([parse_model(LIBRARY, "library/model.yaml"), *reversed(models())])
    assert (turned.relations, turned.kinds) == (library.relations, library.kinds)


SHELF = {
    "ada": {"see", "add_book", "manage_readers"},
    "ben": {"see", "add_book"},
    "cem": {"see"},
    "dia": {"see"},
    "eve": set(),
}
EMMA = {"ada": {"see", "lend"}, "ben": {"see", "read"}, "cem": {"see", "read"}, "dia": {"see", "read"}, "eve": set()}


@pytest.mark.parametrize("member", SHELF)
def test_it_decides(world: World, member: str) -> None:
    assert world.actions(member, "novels") == SHELF[member]
    assert world.actions(member, "emma") == EMMA[member]


def test_an_admin_of_the_tenant(world: World) -> None:
    world.grant("eve", "admin", "acme")
    assert world.actions("eve", "novels") == {"see", "hand_over"}


def test_a_condition_on_a_role(world: World) -> None:
    world.set("novels", locked=True)
    assert world.actions("ben", "novels") == {"see"}
    assert world.actions("cem", "novels") == set()
    assert world.actions("ada", "novels") == SHELF["ada"]


def test_a_gate_on_a_membership(world: World) -> None:
    world.set("novels", member="ben", card="child")
    assert (world.check("ben", "read", "emma"), world.check("ben", "read", "lolita")) == (True, False)
    assert (world.check("dia", "read", "emma"), world.check("dia", "read", "lolita")) == (True, True)


def test_the_group_all(world: World) -> None:
    world.grant(ALL, "reader", "novels")
    assert world.check("eve", "read", "emma")


def test_another_person_and_every_edge(world: World) -> None:
    world.fact(Edge("quotes", "emma", "lolita"))
    assert world.check("ada", "lend", "emma")
    # Of what is quoted only books for grown-ups count; without any, the book it continues; without that: no.
    world.set("lolita", rating="everybody")
    assert not world.check("ada", "lend", "emma")
    world.fact(Edge("sequel_of", "emma", "lolita"))
    assert world.check("ada", "lend", "emma")


def test_who_may_change_what(world: World) -> None:
    def may(member: str, fact: Grant | Attribute | Edge) -> bool:
        return world.decisions.check_change(member, Add(fact))

    assert may("ada", Grant("eve", "reader", "novels"))
    assert not may("ben", Grant("eve", "reader", "novels"))
    assert may("ada", Attribute("novels", "locked", "true"))
    assert not may("dia", Attribute("novels", "locked", "true"))
    # The other end asks for more: Ada lends Emma, but does not herself read what it would continue.
    assert not may("ada", Edge("sequel_of", "emma", "lolita"))
    world.grant("ada", "writer", "novels")
    assert may("ada", Edge("sequel_of", "emma", "lolita"))
    assert world.decisions.check("ben", "create", Draft("library.book", {"shelf": "novels"}))
    assert not world.decisions.check("cem", "create", Draft("library.book", {"shelf": "novels"}))


def test_one_word_changed_changes_the_decision(world: World) -> None:
    changed = parse_model(
        LIBRARY.replace("{who: shelf.reader or borrower, may: read}", "{who: shelf.reader, may: read}")
    )
    other = World(Policy([*models(), changed]))
    other.member("cem")
    other.add("library.shelf", "novels", tenant="acme")
    other.add("library.book", "emma", shelf="novels")
    other.grant("cem", "borrower", "emma")
    assert world.actions("cem", "emma") == {"see", "read"}
    assert other.actions("cem", "emma") == {"see"}


def test_two_custom_models_stand_beside_each_other() -> None:
    archive = parse_model(
        "model: archive\nextends: [library, tenant]\nkinds:\n  note:\n    in: book\n    define: {d: book.see}\n"
    )
    both = Policy([*models(), parse_model(LIBRARY), archive])
    assert both.kind("archive.note").parent == both.kind("archive.note").steps["book"]
    assert both.kind("archive.note").steps["book"].kinds == ("library.book",)
    with pytest.raises(ModelError, match="it extends 'library', which does not exist"):
        Policy([*models(), archive])


def test_a_model_without_the_tenant_says_what_is_missing() -> None:
    with pytest.raises(ModelError, match=r"library/model\.yaml:8: no kind 'tenant'\. It is a kind of 'tenant'"):
        Policy([*models(), parse_model(LIBRARY.replace("extends: [tenant]\n", "\n"), "library/model.yaml")])


def test_an_implied_role_reaches_groups_though_it_goes_to_persons_only() -> None:
    text = """
        model: m
        extends: [tenant]
        kinds:
          thing:
            in: tenant
            roles: {writer: {implies: reader}, reader: {to: person}}
            actions: [see]
            allow: [{who: reader, may: see}]
    """
    world = World(Policy([*models(), parse_model(text)]))
    world.member("ben")
    world.group("crew", "ben")
    world.add("m.thing", "it", tenant="acme")
    world.grant("crew", "writer", "it")
    assert world.check("ben", "see", "it")
