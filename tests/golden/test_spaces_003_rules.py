"""Seed 003, sentences and notes: members, owners, connections through a gateway, role summaries, groups, personal."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lakehold.access.facts.records import Add, Draft, Edge, Grant, Remove
from lakehold.kit.errors import InvalidInputError
from tests.golden.grid import MARKS, AccessQuestion, cells, rows
from tests.golden.spaces_world import ROLES, holding, sales, space
from tests.world import ALL, World

EXISTING = {"space": "sales", "project": "crm", "task": "load", "connection": "erp", "gateway": "edge"}

# Space owners, tenant admins, data admins and Can manage add members; the owner's place is for the admins alone.
ADDING = """
role given | owner | can_manage | can_view | can_view_data | can_consume_data | can_operate | can_edit | {security}
can_view | ✓ | ✓ | - | - | - | - | - | ✓ | ✓ | ✓ | - | -
can_view_data | ✓ | ✓ | - | - | - | - | - | ✓ | ✓ | ✓ | - | -
can_consume_data | ✓ | ✓ | - | - | - | - | - | ✓ | ✓ | ✓ | - | -
can_manage | ✓ | ✓ | - | - | - | - | - | ✓ | ✓ | ✓ | - | -
can_operate | ✓ | ✓ | - | - | - | - | - | ✓ | ✓ | ✓ | - | -
can_edit | ✓ | ✓ | - | - | - | - | - | ✓ | ✓ | ✓ | - | -
owner | - | - | - | - | - | - | - | ✓ | ✓ | ✓ | - | -
""".format(security="tenant owner | tenant admin | tenant data_admin | tenant data_space_creator | nobody")


def adding() -> Iterator[tuple[str, str, str, bool]]:
    for cell in cells(ADDING):
        yield f"003 adding members | {cell.row} | by {cell.column}", cell.row, cell.column, MARKS[cell.value]


def asking(column: str) -> tuple[World, str]:
    """A world, and who asks in it: a tenant or security role, or mia with a role in the space."""
    if column.startswith("tenant "):
        return sales(), column.removeprefix("tenant ")
    return (holding(column) if column in ROLES else sales()), "mia"


@rows("given column expected", adding())
def test_adding_members(given: str, column: str, expected: bool) -> None:
    world, principal = asking(column)
    assert world.decisions.check(principal, "give", "sales", role=given) is expected
    assert world.decisions.check_change(principal, Add(Grant("ben", given, "sales"))) is expected


@rows("given column expected", (case for case in adding() if case[1] != "owner"))
def test_taking_roles(given: str, column: str, expected: bool) -> None:
    world, principal = asking(column)
    world.grant("ben", given, "sales")
    assert world.decisions.check_change(principal, Remove(Grant("ben", given, "sales"))) is expected


@rows("role", [(f"003 the owner's place | not taken by {role}", role) for role in ROLES[1:]])
def test_owner_is_not_removed_by_members(role: str) -> None:
    assert not holding(role).decisions.check_change("mia", Remove(Grant("olga", "owner", "sales")))


def test_003_the_owner_is_one_person() -> None:
    world = sales()
    world.grant("mia", "owner", "sales")
    assert world.check("mia", "delete", "sales")
    assert world.actions("olga", "sales") == set()


# Creating makes an owner


CREATORS = [(f"003 creator is owner | {kind}", f"spaces.{kind}") for kind in (*EXISTING, "app")]


@rows("kind", CREATORS)
def test_creator_is_owner(kind: str) -> None:
    assert sales().view.policy.kind(kind).schema.creator == "owner"


@rows("kind", [(f"003 all permissions are granted on space level | owner of a {kind} without a role", kind)
               for kind in ("project", "task", "connection", "gateway")])  # fmt: skip
def test_owning_without_a_role_gives_nothing(kind: str) -> None:
    world = sales()
    world.grant("mia", "owner", EXISTING[kind])
    assert world.actions("mia", EXISTING[kind]) == set()


# Data connections and gateways are edited by their owner only


def editing() -> Iterator[tuple[str, str, str, bool]]:
    for what in ("connection", "gateway"):
        for role in ROLES:
            yield f"003 {what} is edited by its owner | owner with {role}", what, role, True
        yield f"003 {what} is edited by its owner | owner without a role", what, "no role", False


@rows("what role expected", editing())
def test_its_owner_edits(what: str, role: str, expected: bool) -> None:
    world = holding(role) if role in ROLES else sales()
    world.grant("mia", "owner", EXISTING[what])
    assert world.check("mia", "edit", EXISTING[what]) is expected


@rows("what column", [(f"003 {what} is not edited by others | {column}", what, column)
                      for what in ("connection", "gateway")
                      for column in (*ROLES, "tenant owner", "tenant admin", "tenant data_admin")])  # fmt: skip
def test_others_do_not_edit(what: str, column: str) -> None:
    world, principal = asking(column)
    assert not world.check(principal, "edit", EXISTING[what])


@rows("who", [(f"003 {who} who owns a connection but has no space role", who)
              for who in ("owner", "admin", "data_admin")])  # fmt: skip
def test_security_role_is_no_role_in_the_space(who: str) -> None:
    world = sales()
    world.grant(who, "owner", "erp")
    assert not world.check(who, "edit", "erp")


# Data connections through a gateway: roles of whoever creates them

GATEWAY = """
in the connection's space | owner | can_view | can_view_data | can_consume_data | can_manage | {rest}
owner | ✓ | - | - | ✓ | ✓ | - | ✓ | -
can_view | - | - | - | - | - | - | - | -
can_view_data | - | - | - | - | - | - | - | -
can_consume_data | - | - | - | - | - | - | - | -
can_manage | ✓ | - | - | ✓ | ✓ | - | ✓ | -
can_operate | - | - | - | - | - | - | - | -
can_edit | - | - | - | - | - | - | - | -
no role | - | - | - | - | - | - | - | -
""".format(rest="can_operate | can_edit | no role")


def through_gateway() -> Iterator[tuple[str, str, str, bool]]:
    for cell in cells(GATEWAY):
        name = f"003 connection through a gateway | {cell.row} | {cell.column} in the gateway's space"
        yield name, cell.row, cell.column, MARKS[cell.value]


def gateway_elsewhere() -> World:
    world = sales()
    world.member("zoe")
    space(world, "gates", "zoe")
    world.add("spaces.gateway", "gate", space="gates")
    return world


THROUGH = Draft("spaces.connection", {"space": "sales", "gateway": "gate"})


@rows("here there expected", through_gateway())
def test_connection_through_a_gateway(here: str, there: str, expected: bool) -> None:
    world = gateway_elsewhere()
    for role, where in ((here, "sales"), (there, "gates")):
        if role in ROLES:
            world.grant("mia", role, where)
    assert AccessQuestion("create", THROUGH)(world, "mia") is expected


@rows("who", [(f"003 connection through a gateway | not by tenant {who}", who)
              for who in ("owner", "admin", "data_admin", "data_space_creator")])  # fmt: skip
def test_no_connection_by_security_role(who: str) -> None:
    assert not AccessQuestion("create", THROUGH)(gateway_elsewhere(), who)


def test_003_connection_through_a_gateway_set_later() -> None:
    world = gateway_elsewhere()
    world.grant("paul", "can_view", "sales")
    change = AccessQuestion("edit", "erp", edges={"gateway": "gate"})
    assert not change(world, "paul")
    world.grant("paul", "can_consume_data", "gates")
    assert change(world, "paul")


# Groups hold roles, not ownership


@rows("role", [(f"003 groups hold roles | {role}", role) for role in ROLES[1:]])
def test_groups_hold_roles(role: str) -> None:
    world = sales()
    world.group("team", "mia")
    world.grant("team", role, "sales")
    assert world.check("mia", "see", "sales")
    assert not world.check("ben", "see", "sales")


@rows("uid", [(f"003 groups own nothing | {kind}", uid) for kind, uid in EXISTING.items()])
def test_groups_own_nothing(uid: str) -> None:
    world = sales()
    world.group("team", "mia")
    with pytest.raises(InvalidInputError):
        world.grant("team", "owner", uid)


def test_003_all_is_every_member_of_the_tenant() -> None:
    world = sales()
    world.grant(ALL, "can_view", "sales")
    assert world.actions("ben", "load") == {"list", "open"}
    assert world.actions("editor", "load") == {"list", "open"}


# Personal spaces


def personal() -> World:
    world = sales()
    world.set("sales", personal=True)
    return world


@rows("role", [(f"003 personal space | {role} opens nothing", role) for role in ROLES[1:]])
def test_nobody_else_in_a_personal_space(role: str) -> None:
    world = personal()
    world.grant("mia", role, "sales")
    for uid in EXISTING.values():
        assert world.actions("mia", uid) == set()


def test_003_personal_space_its_owner_has_all() -> None:
    world = personal()
    for uid in ("crm", "load"):
        world.grant("olga", "owner", uid)
    assert world.check("olga", "see", "sales")
    assert world.check("olga", "view_data", "load")
    assert world.check("olga", "run", "load")


def handed_over() -> World:
    """Olga made all that lies in her personal space, and an admin gave it to mia."""
    world = personal()
    for uid in ("crm", "load", "erp", "edge"):
        world.grant("olga", "owner", uid)
    world.grant("mia", "owner", "sales")
    return world


KEPT = {"task": "list open delete stop", "connection": "list delete", "gateway": "list delete"}


@rows("kind actions", [(f"003 personal space | handed over | {kind}", kind, actions) for kind, actions in KEPT.items()])
def test_a_new_owner_opens_and_deletes_what_the_old_one_made(kind: str, actions: str) -> None:
    world = handed_over()
    assert world.actions("mia", EXISTING[kind]) == set(actions.split())
    assert world.actions("olga", EXISTING[kind]) == set()


@rows("edge end", [(f"003 personal space | not used by the new owner | {end}", edge, end)
                   for edge, end in (("sources", "erp"), ("gateways", "edge"), ("reads", "load"))])  # fmt: skip
def test_a_new_owner_uses_only_their_own_things(edge: str, end: str) -> None:
    world = handed_over()
    world.add("spaces.project", "fresh", space="sales")
    world.add("spaces.task", "fresh_load", project="fresh")
    for uid in ("fresh", "fresh_load"):
        world.grant("mia", "owner", uid)
    assert world.check("mia", "run", "fresh_load")
    assert world.check("mia", "consume_data", "fresh_load")
    world.fact(Edge(edge, "fresh_load", end))
    assert not world.check("mia", "run", "fresh_load")


def test_003_personal_space_handed_back_it_is_as_before() -> None:
    world = handed_over()
    world.add("spaces.task", "mine", project="crm")
    world.grant("mia", "owner", "mine")
    world.grant("olga", "owner", "sales")
    assert world.check("olga", "view_data", "load")
    assert world.check("olga", "run", "load")
    assert not world.check("olga", "view_data", "mine")


@rows("uid", [(f"003 personal space | {uid} is not re-owned", uid) for uid in ("load", "erp", "edge")])
def test_what_the_old_owner_made_is_not_taken_over(uid: str) -> None:
    world = handed_over()
    for who in ("mia", "admin", "data_admin", "owner"):
        assert not world.decisions.check_change(who, Add(Grant("mia", "owner", uid)))


ADMINISTERED = {"space": "see delete change_owner", "project": "", "task": "", "connection": "", "gateway": ""}


@rows("who kind actions", [(f"003 personal space | tenant {who} | {kind}", who, kind, actions)
                           for who in ("owner", "admin", "data_admin")
                           for kind, actions in ADMINISTERED.items()])  # fmt: skip
def test_admins_and_a_personal_space(who: str, kind: str, actions: str) -> None:
    assert personal().actions(who, EXISTING[kind]) == set(actions.split())
