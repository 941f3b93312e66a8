"""The engine's own answers agree with those of the services: what these refuse, it does not allow."""

from __future__ import annotations

import pytest

from lakehold import workspaces
from lakehold.access import AccessEngine, TokenPrincipal
from lakehold.access.facts.records import Add, Attribute, Edge, Grant, Remove
from lakehold.kit.clock import DAY, now
from lakehold.kit.database import Database
from lakehold.kit.errors import ConflictError, InvalidInputError
from tests.world import World

RESOURCES: list[tuple[str, str, dict[str, str]]] = [
    ("marts.project", "sales", {"tenant": "acme"}),
    ("marts.storage", "files", {"project": "sales"}),
    ("marts.storage", "disk", {"project": "sales"}),
    ("marts.destination", "mail", {"project": "sales"}),
    ("marts.data_mart", "orders", {"project": "sales", "storage": "files"}),
    ("marts.data_mart", "returns", {"project": "sales", "storage": "files"}),
    ("marts.report", "daily", {"data_mart": "orders", "destination": "mail"}),
    ("lakehouse.lakehouse", "lake", {"tenant": "acme"}),
    ("lakehouse.layer", "raw", {"lakehouse": "lake"}),
    ("lakehouse.layer", "clean", {"lakehouse": "lake"}),
    ("lakehouse.table", "tills", {"layer": "raw"}),
]


@pytest.fixture
def world() -> World:
    """Ann is Project Admin of sales and Manager of both layers, and so may change all that lies there."""
    world = World()
    for name in ("ann", "bob"):
        world.member(name)
    for kind, uid, edges in RESOURCES:
        world.add(kind, uid, **edges)
    world.grant("ann", "admin", "sales")
    world.grant("bob", "business_user", "sales")
    for layer in ("raw", "clean"):
        world.grant("ann", "manager", layer)
    return world


NEEDED = pytest.mark.parametrize(
    ("edge", "source", "target", "other"),
    [
        ("data_mart", "daily", "orders", "returns"),
        ("storage", "orders", "files", "disk"),
        ("layer", "tills", "raw", "clean"),
    ],
)


@NEEDED
def test_nothing_is_left_without_what_it_needs(world: World, edge: str, source: str, target: str, other: str) -> None:
    assert world.decisions.check_change("ann", Add(Edge(edge, source, other)))
    with pytest.raises(InvalidInputError, match="is not without a"):
        world.decisions.check_change("ann", Remove(Edge(edge, source, target)))
    with pytest.raises(InvalidInputError, match="is not without a"):
        world.decisions.check("ann", "edit", source, edges={edge: []})


@NEEDED
def test_nor_at_another_time(database: Database, edge: str, source: str, target: str, other: str) -> None:
    access = AccessEngine(database)
    access.create_tenant("acme", "Acme", workspaces.models())
    with access.write("acme") as session:
        for kind, uid, edges in RESOURCES:
            session.store.create(kind, uid, uid=uid, edges=edges)
    old, new, later = Edge(edge, source, target), Edge(edge, source, other), now() + DAY
    for change, since, until in (
        (Add(new), None, later),
        (Add(old), None, later),
        (Add(new), later, None),
        (Remove(old), later, None),
    ):
        with pytest.raises(InvalidInputError, match="is not without a"), access.write("acme") as session:
            session.store.apply(change, since=since, until=until)
    with access.write("acme") as session:
        session.store.add(Edge(edge, source, other))
        view = session.as_of(session.at + 2 * DAY).current_view()
        assert list(view.edges_out[edge].get(view.resource(source)) or ()) == [view.resource(other)]


def test_a_context_of_another_project_is_none(world: World) -> None:
    world.add("marts.project", "hr", tenant="acme")
    world.grant("ann", "admin", "hr")
    for project in ("sales", "hr"):
        world.add("marts.context", f"{project}_context", project=project)
    elsewhere, here = Edge("contexts", "orders", "hr_context"), Edge("contexts", "orders", "sales_context")
    assert world.decisions.check_change("ann", Add(here))
    for ask in (
        lambda: world.decisions.check_change("ann", Add(elsewhere)),
        lambda: world.decisions.check("ann", "configure_sharing", "orders", edges={"contexts": ["hr_context"]}),
        lambda: world.fact(elsewhere),
    ):
        with pytest.raises(InvalidInputError, match="lies in another project"):
            ask()


def test_a_narrowed_token_widens_no_scope(world: World) -> None:
    wider = Add(Attribute("sales", "scope", "entire_project", "bob"))
    assert world.decisions.check_change("ann", wider)
    for narrowed in ({"resources": frozenset({"sales"})}, {"actions": frozenset({"manage_members"})}):
        assert not world.decisions.check_change(TokenPrincipal("ann", **narrowed), wider)


def test_a_token_narrowed_to_an_action_makes_the_changes_that_need_it(world: World) -> None:
    toggle = Add(Attribute("files", "shared_for_use", "true"))
    assert world.decisions.check_change(TokenPrincipal("ann", frozenset({"configure_sharing"})), toggle)
    for actions, resources in (({"see"}, None), ({"configure_sharing"}, {"mail"})):
        token = TokenPrincipal("ann", frozenset(actions), None if resources is None else frozenset(resources))
        assert not world.decisions.check_change(token, toggle)
    assert not world.decisions.check_change(TokenPrincipal("bob", frozenset({"configure_sharing"})), toggle)


@pytest.mark.parametrize("value", [True, False])
def test_a_flag_is_the_same_as_its_text(world: World, value: bool) -> None:
    for who, expected in (("ann", True), ("bob", False)):
        for written in (value, str(value).lower()):
            change = Add(Attribute("files", "shared_for_use", written))  # type: ignore[arg-type]
            assert world.decisions.check_change(who, change) is expected


@pytest.mark.parametrize(
    "garbage", [None, 5, "ann", ("ann", "see"), ("ann", "see", "files", "x"), [], {}, {"a", "b", "c"}]
)
def test_many_questions_with_garbage_among_them(world: World, garbage: object) -> None:
    with pytest.raises(InvalidInputError, match="principal, an action and a resource"):
        world.decisions.check_many([("ann", "see", "files"), garbage])  # type: ignore[list-item]


@pytest.mark.parametrize("garbage", [None, 5, object()])
def test_many_questions_that_are_none(world: World, garbage: object) -> None:
    with pytest.raises(InvalidInputError, match="list of questions"):
        world.decisions.check_many(garbage)  # type: ignore[arg-type]


def test_owners_are_removed_by_owners_and_everybody_may_leave(database: Database) -> None:
    access, people = AccessEngine(database), ["adam", "bob", "cora", "olaf", "olga"]
    access.create_tenant("acme", "Acme", workspaces.models())
    with access.write("acme") as session:
        store = session.store
        store.create("tenant.group", "Admins", uid="admins", edges={"tenant": "acme"})
        for person in people:
            store.create("tenant.member", person, uid=person, edges={"tenant": "acme"})
        store.add(Edge("member_of", "cora", "admins"))
        for who, role in (("olga", "owner"), ("olaf", "owner"), ("adam", "admin"), ("admins", "admin")):
            store.add(Grant(who, role, "acme"))
    owners, admins = {"olga", "olaf"}, {"adam", "cora"}
    removers = {whom: owners | (set() if whom in owners else admins | {whom}) for whom in people}
    with access.read("acme") as session:
        for whom, by in removers.items():
            assert set(session.who("delete", whom)) == by
            assert {one for one in people if "delete" in session.actions(one, whom)} == by
        for who in people:
            may = {whom for whom, by in removers.items() if who in by}
            assert {item.uid for item in session.list(who, "delete", "tenant.member").items} == may
            assert set(session.ids(who, "delete", "tenant.member")) == set(map(session.current_view().resource, may))
        refused = session.explain("adam", "delete", "olga")
        assert not refused.allowed
        assert {way.needed[0].fact for way in refused.ways} == {Grant("adam", "owner", "acme")}
        (path,) = session.explain("bob", "delete", "bob").paths
        assert path.rule == "tenant.manage_owners or self"
        effects = session.what_if([Add(Grant("bob", "owner", "acme"))])
        assert {(g.gained, g.pairs) for g in effects.groups if (g.kind, g.action) == ("tenant.member", "delete")} == {
            (True, 4),
            (False, 2),
        }


def test_what_is_built_in_is_not_deleted(database: Database) -> None:
    access = AccessEngine(database)
    access.create_tenant("acme", "Acme", workspaces.models())
    for uid in ("acme", "acme/all"):
        with pytest.raises(ConflictError, match="built in"), access.write("acme") as session:
            session.store.delete(uid)
    with access.write("acme") as session:
        session.store.create("tenant.member", "Ann", uid="ann", edges={"tenant": "acme"})
        session.store.add(Grant("ann", "owner", "acme"))
        with pytest.raises(ConflictError, match="last Owner"):
            session.store.delete("ann")
