"""Seed 003, information note on apps, with the bullet of access-models.md."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lakehold.access.facts.records import Add, Draft, Grant
from lakehold.kit.errors import InvalidInputError
from tests.golden.grid import MARKS, AccessQuestion, cells, rows
from tests.golden.spaces_world import ROLES, sales, space
from tests.world import ALL, World

# A role in the space of each of the two tasks that the app uses.
MAKING = """
in the first | owner | can_view | can_view_data | can_consume_data | can_manage | can_operate | can_edit | no role
owner | ✓ | - | - | ✓ | - | - | - | -
can_view | - | - | - | - | - | - | - | -
can_view_data | - | - | - | - | - | - | - | -
can_consume_data | ✓ | - | - | ✓ | - | - | - | -
can_manage | - | - | - | - | - | - | - | -
can_operate | - | - | - | - | - | - | - | -
can_edit | - | - | - | - | - | - | - | -
no role | - | - | - | - | - | - | - | -
"""


def tasks() -> World:
    """`load` lies in sales, `stock` in depot, which zoe owns."""
    world = sales()
    world.member("zoe")
    space(world, "depot", "zoe")
    world.add("spaces.project", "stores", space="depot")
    world.add("spaces.task", "stock", project="stores")
    return world


def making() -> Iterator[tuple[str, str, str, bool]]:
    for cell in cells(MAKING):
        yield f"003 apps | made with {cell.row} and {cell.column}", cell.row, cell.column, MARKS[cell.value]


@rows("first second expected", making())
def test_made_with_can_consume_data_on_each_task(first: str, second: str, expected: bool) -> None:
    world = tasks()
    for role, where in ((first, "sales"), (second, "depot")):
        if role in ROLES:
            world.grant("mia", role, where)
    draft = Draft("spaces.app", {"space": "sales", "uses": ["load", "stock"]})
    assert AccessQuestion("create", draft)(world, "mia") is expected


@rows("who", [(f"003 apps | not made by tenant {who} without a space role", who)
              for who in ("owner", "admin", "data_admin")])  # fmt: skip
def test_not_made_by_security_role(who: str) -> None:
    draft = Draft("spaces.app", {"space": "sales", "uses": ["load"]})
    assert not AccessQuestion("create", draft)(tasks(), who)


def app() -> World:
    """Mia made an app of `load` and shared it with ben, who is no member of the space."""
    world = tasks()
    world.grant("mia", "can_consume_data", "sales")
    world.add("spaces.app", "chart", space="sales", uses="load")
    world.grant("mia", "owner", "chart")
    world.grant("ben", "viewer", "chart")
    return world


def test_003_apps_the_maker_edits_shares_and_deletes() -> None:
    assert app().actions("mia", "chart") == {"see", "view", "edit", "share", "delete"}


def test_003_apps_shared_with_a_stranger_to_the_space_show_data() -> None:
    assert app().actions("ben", "chart") == {"see", "view"}


@rows("uid", [(f"003 apps | whom it is shared with sees nothing behind it | {uid}", uid)
              for uid in ("sales", "crm", "load", "erp", "edge")])  # fmt: skip
def test_shared_app_does_not_show_its_source(uid: str) -> None:
    assert app().actions("ben", uid) == set()


@rows("role", [(f"003 apps | not shared, not shown | {role}", role) for role in ROLES])
def test_space_roles_do_not_open_an_app(role: str) -> None:
    world = app()
    world.member("eva")
    world.grant("eva", role, "sales")
    assert world.actions("eva", "chart") == set()


@rows("who expected", [("003 apps | shared by the maker", "mia", True), ("003 apps | not by a viewer", "ben", False),
                       ("003 apps | not by the space's owner", "olga", False)])  # fmt: skip
def test_sharing(who: str, expected: bool) -> None:
    world = app()
    assert world.decisions.check_change(who, Add(Grant("paul", "viewer", "chart"))) is expected


def test_003_apps_shared_with_groups_and_all() -> None:
    world = app()
    world.group("team", "paul")
    world.grant("team", "viewer", "chart")
    assert world.check("paul", "view", "chart")
    world.grant(ALL, "viewer", "chart")
    assert world.check("zoe", "view", "chart")


def test_003_apps_a_group_makes_none() -> None:
    world = app()
    world.group("team", "paul")
    with pytest.raises(InvalidInputError):
        world.grant("team", "owner", "chart")


def test_003_apps_stop_showing_data_when_the_maker_loses_can_consume_data() -> None:
    world = app()
    world.revoke("mia", "can_consume_data", "sales")
    assert not world.check("ben", "view", "chart")
    assert not world.check("mia", "view", "chart")
    world.grant("mia", "can_consume_data", "sales")
    assert world.check("ben", "view", "chart")


def test_003_apps_the_viewers_own_can_consume_data_does_not_stand_in() -> None:
    world = app()
    world.grant("ben", "can_consume_data", "sales")
    world.revoke("mia", "can_consume_data", "sales")
    assert not world.check("ben", "view", "chart")


def test_003_apps_every_task_counts() -> None:
    world = app()
    world.add("spaces.app", "both", space="sales", uses=["load", "stock"])
    world.grant("mia", "owner", "both")
    assert not world.check("mia", "view", "both")
    world.grant("mia", "can_consume_data", "depot")
    assert world.check("mia", "view", "both")


def test_003_apps_another_task_needs_can_consume_data_on_it() -> None:
    world = app()
    change = AccessQuestion("edit", "chart", edges={"uses": ["load", "stock"]})
    assert not change(world, "mia")
    world.grant("mia", "can_consume_data", "depot")
    assert change(world, "mia")


# Our choice: nothing without an owner is stuck.
GOVERNING = ("owner", "admin", "data_admin")


@rows("who", [(f"003 apps | deleted and given another owner by tenant {who}", who) for who in GOVERNING])
def test_security_roles_delete_and_re_own_apps_and_gateways(who: str) -> None:
    world = app()
    world.revoke("mia", "owner", "chart")
    world.revoke("paul", "owner", "edge")
    assert world.actions(who, "chart") == {"see", "delete", "change_owner"}
    for uid in ("chart", "edge"):
        assert world.decisions.check_change(who, Add(Grant("olga", "owner", uid)))
        assert not world.decisions.check_change("mia", Add(Grant("olga", "owner", uid)))


@rows("who", [(f"003 apps | not in a personal space | tenant {who}", who) for who in GOVERNING])
def test_security_roles_leave_personal_spaces_alone(who: str) -> None:
    world = app()
    world.set("sales", personal=True)
    assert world.actions(who, "chart") == world.actions(who, "edge") == set()
