"""Seed 004: both tables cell by cell and every sentence, with the tables and settled points of access-models.md."""

from __future__ import annotations

from collections.abc import Iterator

from lakehold.access.facts.records import Add, Draft, Grant, Remove
from tests.golden.grid import MARKS, AccessQuestion, cells, rows
from tests.golden.products_world import products, with_role
from tests.world import ALL

INHERITED = """
Tenant Level Role | Admin | Editor | Viewer
Admin | ✅ | ✅ | ✅
Editor | ❌ | ✅ | ✅
Viewer | ❌ | ❌ | ✅
No Role | ❌ | ❌ | ❌
"""

# What tells a project role from the one below it.
TELLS = {"Admin": "delete", "Editor": "edit_metadata", "Viewer": "browse_360"}
ASKERS = {"Admin": "admin", "Editor": "editor", "Viewer": "viewer", "No Role": "mia"}


def inherited() -> Iterator[tuple[str, str, str, bool]]:
    for cell in cells(INHERITED):
        name = f"004 Project Roles Inherited from Tenant Role | {cell.row} | {cell.column}"
        yield name, ASKERS[cell.row], TELLS[cell.column], MARKS[cell.value]
        if cell.row == "Admin":
            yield name.replace("| Admin |", "| Owner |", 1), "owner", TELLS[cell.column], MARKS[cell.value]


@rows("principal action expected", inherited())
def test_project_roles_inherited_from_tenant_role(principal: str, action: str, expected: bool) -> None:
    assert products().check(principal, action, "people") is expected


PERMISSIONS = """
Action | Admin | Editor | Viewer
Edit project metadata | ✅ | ✅ | ❌
Delete project | ✅ | ❌ | ❌
Add sources | ✅ | ✅ | ❌
View all sources | ✅ | ✅ | ❌
Edit sources | ✅ | ✅ | ❌
Delete sources | ✅ | ❌ | ❌
Workflows: Add, view, and manage workflows | ✅ | ❌ | ❌
Destinations: Add, view, and manage workflows | ✅ | ❌ | ❌
Add data products | ✅ | ✅ | ❌
"""


def _new(kind: str) -> AccessQuestion:
    return AccessQuestion("create", Draft(f"products.{kind}", {"project": "people"}))


ASKS = {
    "Edit project metadata": [AccessQuestion("edit_metadata", "people")],
    "Delete project": [AccessQuestion("delete", "people")],
    "Add sources": [AccessQuestion("add_source", "people"), _new("source")],
    "View all sources": [AccessQuestion("view_source", "people"), AccessQuestion("see", "source")],
    "Edit sources": [AccessQuestion("edit_source", "people"), AccessQuestion("edit", "source")],
    "Delete sources": [AccessQuestion("delete_source", "people"), AccessQuestion("delete", "source")],
    "Workflows: Add, view, and manage workflows": [
        AccessQuestion("manage_workflows", "people"),
        _new("workflow"),
        AccessQuestion("see", "workflow"),
        AccessQuestion("manage", "workflow"),
    ],
    "Destinations: Add, view, and manage workflows": [
        AccessQuestion("manage_destinations", "people"),
        _new("destination"),
        AccessQuestion("see", "destination"),
        AccessQuestion("manage", "destination"),
    ],
    "Add data products": [AccessQuestion("add_product", "people"), _new("product")],
}


def permissions() -> Iterator[tuple[str, str, AccessQuestion, bool]]:
    for cell in cells(PERMISSIONS):
        for ask in ASKS[cell.row]:
            name = f"004 Project Role Permissions | {cell.row} | {cell.column} | {ask}"
            yield name, cell.column.lower(), ask, MARKS[cell.value]


@rows("role ask expected", permissions())
def test_project_role_permissions(role: str, ask: AccessQuestion, expected: bool) -> None:
    assert ask(with_role(role, "people"), "mia") is expected
    assert ask(products(), role) is expected


# access-models.md, project actions: everything each role has.
VIEWS = "see_in_menu list_products browse_360"
EDITS = "edit_metadata add_source view_source edit_source add_product"
ADMINISTERS = "delete delete_source manage_workflows manage_destinations"
PROJECT = {
    "admin": f"{VIEWS} {EDITS} {ADMINISTERS}",
    "editor": f"{VIEWS} {EDITS}",
    "viewer": VIEWS,
}


@rows("role actions", [(f"004 project action | {role}", role, actions) for role, actions in PROJECT.items()])
def test_project_actions_exactly(role: str, actions: str) -> None:
    assert with_role(role, "people").actions("mia", "people") == set(actions.split())


BY_TENANT = {
    "owner": f"{PROJECT['admin']} assign_roles",
    "admin": f"{PROJECT['admin']} assign_roles",
    "editor": PROJECT["editor"],
    "viewer": PROJECT["viewer"],
    "mia": "",
}


@rows("who actions", [(f"004 project action | tenant {who}", who, actions) for who, actions in BY_TENANT.items()])
def test_project_actions_by_tenant_role_exactly(who: str, actions: str) -> None:
    assert products().actions(who, "people") == set(actions.split())


SEEN = {
    "admin": ("see edit delete", "see manage", "see manage"),
    "editor": ("see edit", "", ""),
    "viewer": ("", "", ""),
    "no role": ("", "", ""),
}


@rows(
    "role kind actions",
    [
        (f"004 In summary | project {role} | {kind}", role, kind, actions)
        for role, sets in SEEN.items()
        for kind, actions in zip(("source", "workflow", "destination"), sets, strict=True)
    ],
)
def test_resources_of_a_project(role: str, kind: str, actions: str) -> None:
    world = with_role(None if role == "no role" else role, "people")
    assert world.actions("mia", kind) == set(actions.split())


# Who assigns project roles


ASSIGNING = """
who | setting off | setting on
tenant owner | ✅ | ✅
tenant admin | ✅ | ✅
tenant editor | ❌ | ❌
tenant viewer | ❌ | ❌
project admin | ❌ | ✅
project editor | ❌ | ❌
project viewer | ❌ | ❌
no role | ❌ | ❌
"""


def assigning() -> Iterator[tuple[str, str, bool, bool]]:
    for cell in cells(ASSIGNING):
        name = f"004 assign_roles | {cell.row} | project_admins_assign_roles, {cell.column}"
        yield name, cell.row, cell.column == "setting on", MARKS[cell.value]


@rows("who setting expected", assigning())
def test_assigning_project_roles(who: str, setting: bool, expected: bool) -> None:
    level, _, role = who.partition(" ")
    world = with_role(role if level == "project" else None, "people")
    principal = role if level == "tenant" else "mia"
    world.set("people", project_admins_assign_roles=setting)
    world.grant("ben", "viewer", "people")
    assert world.check(principal, "assign_roles", "people") is expected
    for given in ("admin", "editor", "viewer"):
        assert world.decisions.check(principal, "give", "people", role=given) is expected
        assert world.decisions.check_change(principal, Add(Grant("ben", given, "people"))) is expected
    assert world.decisions.check_change(principal, Remove(Grant("ben", "viewer", "people"))) is expected


def test_004_assign_roles_the_setting_is_off_unless_set() -> None:
    assert not with_role("admin", "people").check("mia", "assign_roles", "people")


def test_004_assign_roles_the_setting_holds_for_its_project() -> None:
    world = with_role("admin", "people")
    world.grant("mia", "admin", "places")
    world.set("people", project_admins_assign_roles=True)
    assert not world.check("mia", "assign_roles", "places")


# Granted roles add to inherited ones


ADDED = [
    ("004 granted adds to inherited | tenant Viewer, project Editor", "viewer", "editor", PROJECT["editor"]),
    ("004 granted adds to inherited | tenant Viewer, project Admin", "viewer", "admin", PROJECT["admin"]),
    ("004 granted adds to inherited | tenant Editor, project Admin", "editor", "admin", PROJECT["admin"]),
    ("004 granted adds to inherited | tenant Editor, project Viewer", "editor", "viewer", PROJECT["editor"]),
]


@rows("who granted actions", ADDED)
def test_granted_adds(who: str, granted: str, actions: str) -> None:
    world = products()
    world.grant(who, granted, "people")
    assert world.actions(who, "people") == set(actions.split())
    assert world.actions(who, "places") == set(PROJECT[who].split())
    world.revoke(who, granted, "people")
    assert world.actions(who, "people") == set(PROJECT[who].split())


@rows("who", [(f"004 inherited is not removed below | tenant {who}", who) for who in ("admin", "editor", "viewer")])
def test_inherited_is_not_removed_below(who: str) -> None:
    world = products()
    world.revoke(who, who, "people")
    assert world.actions(who, "people") == set(BY_TENANT[who].split())


def test_004_project_roles_hold_in_their_project() -> None:
    assert with_role("admin", "people").actions("mia", "places") == set()


def test_004_project_roles_from_a_group_and_from_all() -> None:
    world = products()
    world.group("stewards", "mia")
    world.grant("stewards", "editor", "people")
    assert world.actions("mia", "people") == set(PROJECT["editor"].split())
    world.grant(ALL, "viewer", "people")
    assert world.actions("ben", "people") == set(PROJECT["viewer"].split())


def test_004_whoever_creates_a_project_becomes_its_admin() -> None:
    assert products().view.policy.kind("products.project").schema.creator == "admin"
