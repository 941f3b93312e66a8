"""Seed 004, sentences on data products, with the table of data product actions in access-models.md."""

from __future__ import annotations

from collections.abc import Iterator

from lakehold.access.facts.records import Add, Draft, Grant, Remove
from tests.golden.grid import MARKS, AccessQuestion, cells, rows
from tests.golden.products_world import products, with_role
from tests.world import ALL

ACTIONS = """
data product action | admin | developer | curator | viewer
see_in_list view_360 suggest_merge | ✓ | ✓ | ✓ | ✓
open view_insights view_records edit_views | ✓ | ✓ | ✓ | -
configure run publish edit_metadata copy | ✓ | ✓ | - | -
override verify delete_views curate | ✓ | - | ✓ | -
delete manage_roles | ✓ | - | - | -
"""


def table() -> Iterator[tuple[str, str, str, bool]]:
    for cell in cells(ACTIONS):
        for action in cell.row.split():
            yield f"004 data product action | {action} | {cell.column}", cell.column, action, MARKS[cell.value]


@rows("role action expected", table())
def test_data_product_actions(role: str, action: str, expected: bool) -> None:
    assert with_role(role, "customers").check("mia", action, "customers") is expected


SEES = "see_in_list view_360 suggest_merge"
OPENS = "open view_insights view_records edit_views"
DEVELOPS = "configure run publish edit_metadata copy"
CURATES = "override verify delete_views curate"
EXACT = {
    "admin": f"{SEES} {OPENS} {DEVELOPS} {CURATES} delete manage_roles",
    "developer": f"{SEES} {OPENS} {DEVELOPS}",
    "curator": f"{SEES} {OPENS} {CURATES}",
    "viewer": SEES,
}


@rows("role actions", [(f"004 data product, exactly | {role}", role, actions) for role, actions in EXACT.items()])
def test_data_product_actions_exactly(role: str, actions: str) -> None:
    assert with_role(role, "customers").actions("mia", "customers") == set(actions.split())


# Project role → data product roles
INHERITED = """
project role | admin | developer | curator | viewer
admin | ✓ | ✓ | ✓ | ✓
editor | - | ✓ | ✓ | ✓
viewer | - | - | - | ✓
none | - | - | - | -
"""

# An action that tells each data product role from the others.
TELLS = {"admin": "delete", "developer": "run", "curator": "curate", "viewer": "view_360"}


def inherited() -> Iterator[tuple[str, str, str, bool]]:
    for cell in cells(INHERITED):
        name = f"004 project role to data product roles | {cell.row} | {cell.column}"
        yield name, cell.row, TELLS[cell.column], MARKS[cell.value]


@rows("role action expected", inherited())
def test_data_product_roles_inherited_from_project_role(role: str, action: str, expected: bool) -> None:
    world = with_role(None if role == "none" else role, "people")
    for product in ("customers", "vendors"):
        assert world.check("mia", action, product) is expected


FROM_PROJECT = {
    "admin": EXACT["admin"],
    "editor": f"{SEES} {OPENS} {DEVELOPS} {CURATES}",
    "viewer": SEES,
}


@rows("role actions", [(f"004 All other data product actions | project {role}", role, actions)
                       for role, actions in FROM_PROJECT.items()])  # fmt: skip
def test_project_role_on_its_data_products(role: str, actions: str) -> None:
    world = with_role(role, "people")
    assert world.actions("mia", "customers") == set(actions.split())
    assert world.actions("mia", "vendors") == set(actions.split())
    assert world.actions("mia", "sites") == set()


FROM_TENANT = {"owner": "admin", "admin": "admin", "editor": "editor", "viewer": "viewer"}


@rows("who actions", [(f"004 tenant to project to data product | {who}", who, FROM_PROJECT[role])
                      for who, role in FROM_TENANT.items()])  # fmt: skip
def test_tenant_role_on_data_products(who: str, actions: str) -> None:
    for product in ("customers", "vendors", "sites"):
        assert products().actions(who, product) == set(actions.split())


def test_004_tenant_to_project_to_data_product_no_role() -> None:
    assert products().actions("mia", "customers") == set()


# In summary


def test_004_in_summary_a_viewer_browses_360_pages_of_all_data_products() -> None:
    world = with_role("viewer", "people")
    assert world.check("mia", "browse_360", "people")
    assert world.check("mia", "view_360", "customers")
    assert world.check("mia", "view_360", "vendors")


def test_004_in_summary_a_viewer_sees_data_products_listed_but_does_not_open_them() -> None:
    world = with_role("viewer", "people")
    assert world.check("mia", "list_products", "people")
    for product in ("customers", "vendors"):
        assert world.check("mia", "see_in_list", product)
        assert not world.check("mia", "open", product)


def test_004_in_summary_without_a_project_role_nothing_of_the_project() -> None:
    for uid in ("people", "customers", "vendors", "source", "workflow", "destination"):
        assert products().actions("mia", uid) == set()


# Note: a role in a data product, and none in the project


@rows("role", [(f"004 Note | only a data product role | {role}", role) for role in EXACT])
def test_only_a_data_product_role(role: str) -> None:
    world = with_role(role, "customers")
    assert world.actions("mia", "people") == {"see_in_menu"}
    assert world.actions("mia", "customers") == set(EXACT[role].split())
    for other in ("vendors", "source", "workflow", "destination", "places", "sites"):
        assert world.actions("mia", other) == set()


# Roles add up, and are given by the data product's admin


BOTH = [
    ("004 roles add up | developer and curator", ("developer", "curator"), f"{SEES} {OPENS} {DEVELOPS} {CURATES}"),
    ("004 roles add up | developer and viewer", ("developer", "viewer"), EXACT["developer"]),
    ("004 roles add up | curator and viewer", ("curator", "viewer"), EXACT["curator"]),
]


@rows("roles actions", BOTH)
def test_roles_add_up(roles: tuple[str, ...], actions: str) -> None:
    world = products()
    for role in roles:
        world.grant("mia", role, "customers")
    assert world.actions("mia", "customers") == set(actions.split())


def test_004_granted_adds_to_inherited_in_a_data_product() -> None:
    world = with_role("viewer", "people")
    world.grant("mia", "curator", "customers")
    assert world.actions("mia", "customers") == set(EXACT["curator"].split())
    assert world.actions("mia", "vendors") == set(EXACT["viewer"].split())


def test_004_inherited_is_not_removed_in_a_data_product() -> None:
    world = with_role("editor", "people")
    world.revoke("mia", "developer", "customers")
    assert world.actions("mia", "customers") == set(FROM_PROJECT["editor"].split())


GIVING = """
who | may
product admin | ✓
product developer | -
product curator | -
product viewer | -
project admin | ✓
project editor | -
project viewer | -
tenant owner | ✓
tenant admin | ✓
tenant editor | -
tenant viewer | -
"""


@rows("who expected", [(f"004 manage_roles | {cell.row}", cell.row, MARKS[cell.value]) for cell in cells(GIVING)])
def test_giving_data_product_roles(who: str, expected: bool) -> None:
    level, _, role = who.partition(" ")
    world = products()
    if level != "tenant":
        world.grant("mia", role, "customers" if level == "product" else "people")
    world.grant("ben", "viewer", "customers")
    principal = role if level == "tenant" else "mia"
    for given in EXACT:
        assert world.decisions.check(principal, "give", "customers", role=given) is expected
    assert world.decisions.check_change(principal, Remove(Grant("ben", "viewer", "customers"))) is expected
    assert world.decisions.check_change(principal, Add(Grant("ben", "curator", "customers"))) is expected


def test_004_data_product_roles_from_a_group_and_from_all() -> None:
    world = products()
    world.group("stewards", "mia")
    world.grant("stewards", "curator", "customers")
    world.grant(ALL, "viewer", "customers")
    assert world.actions("mia", "customers") == set(EXACT["curator"].split())
    assert world.actions("ben", "customers") == set(EXACT["viewer"].split())


def test_004_whoever_creates_a_data_product_becomes_its_admin() -> None:
    assert products().view.policy.kind("products.product").schema.creator == "admin"


# copy into a target project

COPYING = """
on the data product | admin | editor | viewer | none
admin | ✓ | ✓ | - | -
developer | ✓ | ✓ | - | -
curator | - | - | - | -
viewer | - | - | - | -
none | - | - | - | -
"""


def copying() -> Iterator[tuple[str, str, str, bool]]:
    for cell in cells(COPYING):
        name = f"004 copy | {cell.row} of the data product, {cell.column} in the target project"
        yield name, cell.row, cell.column, MARKS[cell.value]


@rows("on_product in_target expected", copying())
def test_copy_into_a_target_project(on_product: str, in_target: str, expected: bool) -> None:
    world = products()
    for role, where in ((on_product, "customers"), (in_target, "places")):
        if role != "none":
            world.grant("mia", role, where)
    draft = Draft("products.product", {"project": "places", "copied_from": "customers"})
    assert AccessQuestion("create", draft)(world, "mia") is expected
