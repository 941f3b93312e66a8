"""Seed 003_9966c494eaa23fb0: its sentences and notes, each done over REST.

The owner of a data project, in whose context its tasks run; connections through a gateway, and who edits one; groups;
the owner's place; apps in both directions.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from lakehold.access import Draft
from tests.golden.flows.acme import ANN, BOB, TENANT, AcmeSite
from tests.golden.flows.outcomes import DONE, HIDDEN, REFUSED, outcome
from tests.golden.flows.space import (
    CONNECTION,
    NOBODY,
    PAUL,
    QUERY,
    STELLA,
    FlowSpace,
    SpaceSeat,
    add_people,
    set_up_space,
)
from tests.golden.flows.space_rest import FRESH, SpaceRest
from tests.golden.grid import MARKS, cells, rows
from tests.golden.spaces_world import ROLES
from tests.golden.test_spaces_003_owner_context import ASKED, SPACE, SUPPLYING
from tests.golden.test_spaces_003_rules import GATEWAY

ZOE = "zoe"
EXTRA = ("can_view", "can_view_data", "can_consume_data", "can_manage", "can_operate", "can_edit")


@pytest.fixture(scope="module")
def people(acme: AcmeSite) -> AcmeSite:
    add_people(acme)
    with acme.platform.access.write(TENANT) as session:
        session.store.create("tenant.member", "Zoe", uid=ZOE, edges={"tenant": TENANT})
    return acme


def rest(place: FlowSpace, who: str = ANN) -> SpaceRest:
    """Somebody else in the same space."""
    return SpaceRest(FlowSpace(place.acme, place.number, SpaceSeat(who=who)))


# As data tasks operate in the context of the owner of the data project they belong to …


@pytest.fixture(scope="module")
def plant(people: AcmeSite) -> FlowSpace:
    """What the task `whole` uses lies in spaces of their own, which Zoe owns. Paul owns its project."""
    place = set_up_space(people, SpaceSeat(("can_operate",)))
    with people.platform.access.write(TENANT) as session:
        store = session.store
        for name in SUPPLYING:
            store.create("spaces.space", place[name], uid=place[name], edges={"tenant": TENANT}, creator=ZOE)
        for name, where in (("gate", "gates"), ("far_gate", "far_gates")):
            store.create("spaces.gateway", name, uid=place[name], edges={"space": place[where]})
        for name, where, more in (
            ("shop", "sources", {}),
            ("lake", "targets", {}),
            ("remote", "sources", {"gateway": place["far_gate"]}),
        ):
            store.create("spaces.connection", name, uid=place[name], edges={"space": place[where], **more})
        store.create("spaces.project", "foreign", uid=place["foreign"], edges={"space": place["abroad"]})
        store.create("spaces.task", "there", uid=place["there"], edges={"project": place["foreign"]})
    place.add("spaces.task", "whole", "crm", QUERY)
    with people.write() as ctx:
        ctx.create_unchecked(Draft("spaces.dataset", {"task": place["whole"]}), "one")
    place.prepare("whole")
    ends = {"sources": ["shop", "remote"], "targets": ["lake"], "gateways": ["gate"], "reads": ["there"]}
    for edge, names in ends.items():
        for name in names:
            place.point("whole", edge, name)
    place.take(PAUL, "can_manage")
    place.take(PAUL, "can_edit")
    return place


@contextmanager
def holding(place: FlowSpace, where: str, role: str) -> Iterator[None]:
    """Paul holds what is needed everywhere, but for one place, in which he has this role."""
    needed = dict.fromkeys(SUPPLYING, "can_consume_data") | {"sales": "can_edit"}
    before = place.owner(where)
    for name, each in needed.items():
        if name != where:
            place.give(PAUL, each, name)
    if role in ROLES:
        place.give(PAUL, role, where)
    yield
    for name, each in needed.items():
        if name != where:
            place.take(PAUL, each, name)
    if role == "owner":
        place.give(before, role, where)
    elif role in ROLES:
        place.take(PAUL, role, where)


def asked() -> Iterator[tuple[str, str, str, bool]]:
    for cell in cells(ASKED):
        yield f"003 owner's context | {cell.row} | {cell.column}", SPACE[cell.row], cell.column, MARKS[cell.value]


@rows("where role expected", asked())
def test_tasks_operate_in_the_context_of_the_projects_owner(
    plant: FlowSpace, where: str, role: str, expected: bool
) -> None:
    with holding(plant, where, role):
        client = SpaceRest(plant)
        answer = client.call("POST", "runs", json={"resource": plant["whole"]})
        assert outcome(answer) == (DONE if expected else REFUSED)
        assert client.stops("whole") == DONE
        assert client.resumes("whole") == (DONE if expected else REFUSED)
        if not expected:
            needed = "Can edit" if where == "sales" else "Can consume data, Can edit or Can manage"
            space = plant.load(where).name
            assert f"Paul needs {needed} in the data space '{space}'." in answer.json()["detail"]


# To create data connections to access data through Data Gateway - Data Movement …


@pytest.fixture(scope="module")
def gates(people: AcmeSite) -> FlowSpace:
    place = set_up_space(people, SpaceSeat())
    with people.platform.access.write(TENANT) as session:
        session.store.create("spaces.space", place["gates"], uid=place["gates"], edges={"tenant": TENANT}, creator=ZOE)
        session.store.create("spaces.gateway", "gate", uid=place["gate"], edges={"space": place["gates"]})
    return place


def through_gateway() -> Iterator[tuple[str, str, str, bool]]:
    for cell in cells(GATEWAY):
        yield f"003 through a gateway | {cell.row} | {cell.column} there", cell.row, cell.column, MARKS[cell.value]


@rows("here there expected", through_gateway())
def test_connections_through_a_gateway(gates: FlowSpace, here: str, there: str, expected: bool) -> None:
    held = [(role, where) for role, where in ((here, "sales"), (there, "gates")) if role in ROLES]
    owners = {where: gates.owner(where) for _, where in held}
    for role, where in held:
        gates.give(ANN, role, where)
    said = SpaceRest(gates).creates("connection", {"space": "sales", "gateway": "gate"}, CONNECTION)
    for role, where in held:
        gates.give(owners[where], role, where) if role == "owner" else gates.take(ANN, role, where)
    sees = here in ROLES and there in ROLES
    assert said == (DONE if expected else REFUSED if sees else HIDDEN)


# Data connections can only be edited by the owner of the data connection.


@pytest.mark.parametrize("role", [*ROLES, "no role"])
def test_a_connection_is_edited_by_its_owner(people: AcmeSite, role: str) -> None:
    place = set_up_space(people, SpaceSeat((role,) if role in ROLES else ()))
    place.give(ANN, "owner", "erp")
    client, changed = SpaceRest(place), {**CONNECTION, "user": "another"}
    assert client.sets("erp", changed) == (DONE if role in ROLES else HIDDEN)
    for other in (STELLA, PAUL, "admin", "data_admin"):
        assert rest(place, other).sets("erp", CONNECTION) in {REFUSED, HIDDEN}
    seen = client.call("GET", client.at("erp")).json()
    assert (seen.get("settings") == changed) == (role in ROLES)


# When you create a data space, you become the owner of the data space and all resources inside of that space.


def test_who_creates_something_owns_it(people: AcmeSite) -> None:
    place = set_up_space(people, SpaceSeat(("owner",)))
    client = SpaceRest(place)
    created = {
        "project": {"space": [place["sales"]]},
        "task": {"project": [place["crm"]]},
        "connection": {"space": [place["sales"]]},
        "gateway": {"space": [place["sales"]]},
        "app": {"space": [place["sales"]], "uses": [place["load"]]},
    }
    for kind, edges in created.items():
        answer = client.call("POST", "resources", json={"kind": f"spaces.{kind}", "name": FRESH, "edges": edges})
        assert [each["id"] for each in answer.json()["owners"]["owner"]] == [ANN]


@pytest.mark.parametrize("role", EXTRA)
def test_members_do_not_take_the_owners_place(people: AcmeSite, role: str) -> None:
    place = set_up_space(people, SpaceSeat((role,)))
    client, members = SpaceRest(place), f"workspaces/{place['sales']}/members"
    assert outcome(client.call("PUT", members, json={"subject": ANN, "roles": ["owner"]})) == REFUSED
    assert outcome(client.call("POST", client.at("sales", "grants"), json={"subject": ANN, "role": "owner"})) == REFUSED
    assert client.transfers("sales") == REFUSED
    assert place.owner("sales") == STELLA


# Members and groups hold roles; a member with two of them gets the union (`test_003_tables`).


def test_a_group_holds_a_role(people: AcmeSite) -> None:
    place = set_up_space(people, SpaceSeat())
    members = f"workspaces/{place['sales']}/members"
    group = rest(place, "admin").call("POST", "groups", json={"name": f"Team {place.number}"}).json()["id"]
    rest(place, "admin").call("PUT", f"groups/{group}/members/{ANN}")
    client = SpaceRest(place)
    assert client.runs("load") == HIDDEN
    assert outcome(rest(place, STELLA).call("PUT", members, json={"subject": group, "roles": ["can_operate"]})) == DONE
    assert client.runs("load") == DONE
    assert rest(place, NOBODY).runs("load") == HIDDEN


# Members must have the Can consume data role to use data tasks in apps. Apps that use data tasks from a data space that
# are shared with users who are not members of the data space can still view the app data but not the data source.


@pytest.mark.parametrize("role", [*ROLES, "no role"])
def test_who_makes_an_app_of_a_task(people: AcmeSite, role: str) -> None:
    place = set_up_space(people, SpaceSeat((role,) if role in ROLES else ()))
    said = SpaceRest(place).creates("app", {"space": "sales", "uses": "load"}, {})
    yes = role in {"owner", "can_consume_data"}
    assert said == (DONE if yes else REFUSED if role in ROLES else HIDDEN)


def test_an_app_without_tasks_is_made_by_members_alone(people: AcmeSite) -> None:
    place = set_up_space(people, SpaceSeat())
    assert rest(place, NOBODY).creates("app", {"space": "sales"}, {}) == HIDDEN


def test_an_app_shows_its_data_and_not_its_source(people: AcmeSite) -> None:
    place = set_up_space(people, SpaceSeat(("can_consume_data",)))
    maker, viewer = SpaceRest(place), rest(place, BOB)
    body = {"kind": "spaces.app", "name": "chart", "edges": {"space": [place["sales"]], "uses": [place["load"]]}}
    app = f"resources/{maker.call('POST', 'resources', json=body).json()['id']}"
    assert outcome(viewer.call("GET", app)) == HIDDEN
    assert outcome(maker.call("POST", f"{app}/grants", json={"subject": BOB, "role": "viewer"})) == DONE
    seen = viewer.call("GET", app).json()
    assert set(seen["actions"]) == {"see", "view"}
    assert (seen["edges"]["uses"], seen["parent"], seen["workspace"]) == ([], None, None)
    assert all(outcome(viewer.call("GET", viewer.at(name))) == HIDDEN for name in ("sales", "crm", "load", "erp"))
    lineage = viewer.call("GET", f"lineage/{place['load']}")
    assert outcome(lineage) == HIDDEN
    place.take(ANN, "can_consume_data")
    assert set(viewer.call("GET", app).json()["actions"]) == {"see"}
    assert "view" not in maker.call("GET", app).json()["actions"]
    place.give(BOB, "can_consume_data")
    assert "view" not in viewer.call("GET", app).json()["actions"]
