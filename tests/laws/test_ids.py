"""Ids that look alike stay apart: by case, by unicode form, by letters of other scripts, by blanks."""

from __future__ import annotations

from hypothesis import given, note
from hypothesis import strategies as st

from lakehold.access.decisions.principal import TokenPrincipal
from lakehold.access.facts.records import Add, Edge, Grant
from lakehold.access.session import AccessQueries
from lakehold.kit.database import Database
from lakehold.workspaces import models
from tests.laws.budget import examples
from tests.laws.databases import StoredCase, create_tenant
from tests.laws.facts import Case, some
from tests.world import World

# Each row looks like one id to somebody.
LOOK_ALIKES = (
    ("\u00e9", "e\u0301", "\u00c9", "E\u0301", "e"),
    ("A", "a", "\u0410", "\u0430", "\uff21"),
    ("\u00df", "ss", "SS", "\u1e9e", "s\u017f"),
    ("\ufb01", "fi", "FI", "f\u0131", "f\u0130"),
    ("K", "k", "\u212a", "K ", " K"),
    ("\u03a9", "\u2126", "\u03c9", "\u03a9\ufe0e", "O"),
    ("1", "\u00b9", "01", "\u0661", "1.0"),
    ("x'y", 'x"y', "x\u2019y", "x%y", "x_y"),
)
TABLE = "lakehouse.table"


@st.composite
def alike(draw: st.DrawFn) -> tuple[list[str], list[str], list[tuple[str, str]], list[tuple[str, str]]]:
    """Members and tables that look alike, some of whom may see some of which, directly and by groups."""
    forms = draw(st.sampled_from(LOOK_ALIKES))
    people, tables = [f"p{form}" for form in forms], [f"t{form}" for form in forms]
    groups = [f"g{form}" for form in forms]
    holders = [*people, *groups]
    grants = draw(some([(holder, table) for holder in holders for table in tables], 6))
    joined = draw(some([(person, group) for person in people for group in groups], 4))
    return people, tables, grants, joined


@examples(60)
@given(resources=alike())
def test_in_memory(resources: tuple[list[str], list[str], list[tuple[str, str]], list[tuple[str, str]]]) -> None:
    people, tables, grants, joined = resources
    world = World()
    world.add("lakehouse.lakehouse", "lh", tenant="acme")
    world.add("lakehouse.layer", "layer", lakehouse="lh")
    for person in people:
        world.member(person)
        world.group(f"g{person[1:]}")
    for table in tables:
        world.add(TABLE, table, layer="layer")
    for grant in grants:
        world.grant(grant[0], "viewer", grant[1])
    for person, group in joined:
        world.fact(Edge("member_of", person, group))
    expected = reached(people, tables, grants, joined)
    assert {(p, t) for p in people for t in tables if world.check(p, "see", t)} == expected
    for person in people:
        for table in tables:
            token = TokenPrincipal(person, resources=frozenset({table}))
            seen = {t for t in tables if world.decisions.check(token, "see", t)}
            assert seen == ({table} if (person, table) in expected else set())


def reached(
    people: list[str], tables: list[str], grants: list[tuple[str, str]], joined: list[tuple[str, str]]
) -> set[tuple[str, str]]:
    """Who sees what, by looking at the ids letter by letter."""
    return {
        (person, table)
        for person in people
        for table in tables
        if (person, table) in grants or any((group, table) in grants for who, group in joined if who == person)
    }


@examples(15)
@given(resources=alike())
def test_in_a_database(
    shared: Database, resources: tuple[list[str], list[str], list[tuple[str, str]], list[tuple[str, str]]]
) -> None:
    people, tables, grants, joined = resources
    company = create_tenant(shared, Case((), ()))
    assert any(model.name == "lakehouse" for model in models())
    _fill(company, people, tables)
    with company.access.write(company.tenant) as session:
        for person, group in joined:
            session.store.add(Edge("member_of", person, group))
        for holder, table in grants:
            session.store.add(Grant(holder, "viewer", table))
    expected = reached(people, tables, grants, joined)
    note(repr(expected))
    for access in (company.access, company.reopen()):
        with access.read(company.tenant) as asked:
            assert_apart(asked, people, tables, expected)


def _fill(company: StoredCase, people: list[str], tables: list[str]) -> None:
    with company.access.write(company.tenant) as session:
        store = session.store
        store.create("lakehouse.lakehouse", "lh", uid="lh", edges={"tenant": company.tenant})
        store.create("lakehouse.layer", "layer", uid="layer", edges={"lakehouse": "lh"})
        for person in people:
            store.create("tenant.member", person, uid=person, edges={"tenant": company.tenant})
            store.create("tenant.group", person, uid=f"g{person[1:]}", edges={"tenant": company.tenant})
        for table in tables:
            store.create(TABLE, table, uid=table, edges={"layer": "layer"})


def assert_apart(asked: AccessQueries, people: list[str], tables: list[str], expected: set[tuple[str, str]]) -> None:
    assert {(p, t) for p in people for t in tables if asked.check(p, "see", t)} == expected
    assert {(p, item.uid) for p in people for item in asked.list(p, "see", TABLE).items} == expected
    assert {(p, t) for t in tables for p in asked.who("see", t)} == expected
    for person in people:
        effects = asked.what_if([Add(Grant(person, "viewer", table)) for table in tables])
        won = {(row.member, row.resource) for row in effects.rows() if row.action == "see" and row.resource != "layer"}
        assert {pair for pair in won if pair[1] in tables} == {(person, table) for table in tables} - expected
