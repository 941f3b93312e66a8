"""access-models.md, section Tenant: tenant and security roles, in the tenant and in the four kinds of workspace."""

from __future__ import annotations

from collections.abc import Iterator

from lakehold.access.facts.records import Add, Attribute, Draft, Edge, Grant, Remove
from tests.golden.grid import MARKS, AccessQuestion, cells, is_refused, rows
from tests.golden.tenant_world import tenant
from tests.world import World

# Tenant actions. `manage_owners` is to give or take the Owner role.
ACTIONS = """
tenant action | owner | admin | editor | viewer | member | data_admin | data_space_creator
manage_billing | ✓ | - | - | - | - | - | -
set_plan | ✓ | - | - | - | - | - | -
manage_owners | ✓ | - | - | - | - | - | -
manage_members | ✓ | ✓ | - | - | - | - | -
manage_groups | ✓ | ✓ | - | - | - | - | -
set_tenant_role | ✓ | ✓ | - | - | - | - | -
set_security_role | ✓ | ✓ | - | - | - | - | -
create_workspace | ✓ | ✓ | - | - | - | - | -
see_settings | ✓ | ✓ | - | - | - | - | -
see_audit | ✓ | ✓ | - | - | - | - | -
view_as | ✓ | ✓ | - | - | - | - | -
ask_about_others | ✓ | ✓ | - | - | - | - | -
manage_models | ✓ | - | - | - | - | - | -
export | ✓ | - | - | - | - | - | -
create_space | ✓ | ✓ | - | - | - | ✓ | ✓
"""


def read(title: str, text: str) -> Iterator[tuple[str, str, str, bool]]:
    for cell in cells(text):
        yield f"tenant | {title} | {cell.row} | {cell.column}", cell.row, cell.column, MARKS[cell.value]


@rows("action who expected", read("actions", ACTIONS))
def test_tenant_actions(action: str, who: str, expected: bool) -> None:
    assert tenant().check(who, action, "acme") is expected


def test_tenant_actions_are_all_in_the_table() -> None:
    named = {cell.row for cell in cells(ACTIONS)}
    assert set(tenant().decisions.actions("owner", "acme")) == {"see", *named}


# Who gives and takes which role.
GIVING = """
role given | owner | admin | editor | viewer | member | data_admin | data_space_creator
owner | ✓ | - | - | - | - | - | -
admin | ✓ | ✓ | - | - | - | - | -
editor | ✓ | ✓ | - | - | - | - | -
viewer | ✓ | ✓ | - | - | - | - | -
data_admin | ✓ | ✓ | - | - | - | - | -
data_space_creator | ✓ | ✓ | - | - | - | - | -
"""


@rows("role who expected", read("gives and takes", GIVING))
def test_giving_tenant_roles(role: str, who: str, expected: bool) -> None:
    world = tenant()
    world.grant(world.member("sue"), role, "acme")
    assert world.decisions.check(who, "give", "acme", role=role) is expected
    assert world.decisions.check_change(who, Add(Grant("zoe", role, "acme"))) is expected
    assert world.decisions.check_change(who, Remove(Grant("sue", role, "acme"))) is expected


# What each makes: members, groups and workspaces.
MAKING = """
kind | owner | admin | editor | viewer | member | data_admin | data_space_creator
tenant.member | ✓ | ✓ | - | - | - | - | -
tenant.group | ✓ | ✓ | - | - | - | - | -
marts.project | ✓ | ✓ | - | - | - | - | -
lakehouse.lakehouse | ✓ | ✓ | - | - | - | - | -
products.project | ✓ | ✓ | - | - | - | - | -
spaces.space | ✓ | ✓ | - | - | - | ✓ | ✓
"""


@rows("kind who expected", read("makes", MAKING))
def test_making(kind: str, who: str, expected: bool) -> None:
    assert AccessQuestion("create", Draft(kind, {"tenant": "acme"}))(tenant(), who) is expected


CREATORS = [
    ("tenant | whoever creates a marts project becomes Project Admin", "marts.project", "admin"),
    ("tenant | whoever creates a products project becomes Admin", "products.project", "admin"),
    ("tenant | whoever creates a space becomes its owner", "spaces.space", "owner"),
]


@rows("kind role", CREATORS)
def test_creators(kind: str, role: str) -> None:
    assert tenant().view.policy.kind(kind).schema.creator == role


PLANNING = """
what | owner | admin | editor | viewer | member | data_admin | data_space_creator
starter | ✓ | - | - | - | - | - | -
growth | ✓ | - | - | - | - | - | -
custom | ✓ | - | - | - | - | - | -
"""


@rows("plan who expected", read("set_plan", PLANNING))
def test_setting_the_plan(plan: str, who: str, expected: bool) -> None:
    assert tenant().decisions.check_change(who, Add(Attribute("acme", "plan", plan))) is expected


def _last_owner_is_refused(world: World, who: str) -> bool:
    return is_refused(lambda: world.decisions.check_change(who, Remove(Grant("owner", "owner", "acme"))))


def test_tenant_the_last_owner_cannot_leave() -> None:
    assert _last_owner_is_refused(tenant(), "owner")


def test_tenant_one_of_two_owners_can_leave() -> None:
    world = tenant()
    world.grant("zoe", "owner", "acme")
    assert not _last_owner_is_refused(world, "owner")
    assert not _last_owner_is_refused(world, "zoe")
    assert _last_owner_is_refused(world, "admin")


# The table of tenant roles in the four kinds of workspace, with what each role is called there.

MARTS_ADMIN = (
    "see create_storage create_data_mart create_destination invite_admin invite_technical_user "
    "invite_business_user manage_members manage_settings manage_contexts"
)
LAKEHOUSE_ADMIN = "see execute_query save_query create_layer see_all_layers see_settings manage_members manage_groups"
LAYER_ADMIN = "see edit create_table create_volume delete grant_viewer_editor grant_manager"
SPACE_ADMIN = "see rename manage_members delete change_owner list_projects list_tasks list_connections list_gateways"
PRODUCTS_VIEWER = "see_in_menu list_products browse_360"
PRODUCTS_EDITOR = f"{PRODUCTS_VIEWER} edit_metadata add_source view_source edit_source add_product"
PRODUCTS_ADMIN = f"{PRODUCTS_EDITOR} delete delete_source manage_workflows manage_destinations assign_roles"

WORKSPACES = [
    ("tenant | Owner | in marts: Project Admin", "owner", "ads", MARTS_ADMIN),
    ("tenant | Owner | in lakehouse: unrestricted", "owner", "lh", LAKEHOUSE_ADMIN),
    ("tenant | Owner | in lakehouse: unrestricted, layer", "owner", "bronze", LAYER_ADMIN),
    ("tenant | Owner | in spaces: the Tenant admin column", "owner", "sales", SPACE_ADMIN),
    ("tenant | Owner | in products: tenant Admin", "owner", "people", PRODUCTS_ADMIN),
    ("tenant | Admin | in marts: Project Admin", "admin", "ads", MARTS_ADMIN),
    ("tenant | Admin | in lakehouse: unrestricted", "admin", "lh", LAKEHOUSE_ADMIN),
    ("tenant | Admin | in lakehouse: unrestricted, layer", "admin", "bronze", LAYER_ADMIN),
    ("tenant | Admin | in spaces: the Tenant admin column", "admin", "sales", SPACE_ADMIN),
    ("tenant | Admin | in products: tenant Admin", "admin", "people", PRODUCTS_ADMIN),
    *((f"tenant | {title} | in {model}: {what}", who, where, actions)
      for title, who, products in (("Editor", "editor", PRODUCTS_EDITOR), ("Viewer", "viewer", PRODUCTS_VIEWER))
      for model, what, where, actions in (
          ("marts", "nothing by itself", "ads", ""),
          ("marts", "nothing on a data mart", "mart", ""),
          ("lakehouse", "nothing by itself", "lh", ""),
          ("lakehouse", "nothing on a table", "orders", ""),
          ("spaces", "nothing by itself", "sales", ""),
          ("spaces", "nothing on a task", "load", ""),
          ("products", f"tenant {title}", "people", products))),
    *((f"tenant | Member, no role | nothing before it is granted | {where}", "member", where, "")
      for where in ("ads", "storage", "mart", "lh", "bronze", "orders", "sales", "crm", "load", "people", "customers")),
]  # fmt: skip


@rows("who where actions", WORKSPACES)
def test_tenant_roles_in_workspaces(who: str, where: str, actions: str) -> None:
    assert tenant().actions(who, where) == set(actions.split())


@rows("who where", [(f"tenant | security roles act in spaces only | {who} | {where}", who, where)
                    for who in ("data_admin", "data_space_creator")
                    for where in ("ads", "mart", "lh", "bronze", "orders", "people", "customers")])  # fmt: skip
def test_security_roles_act_in_spaces_only(who: str, where: str) -> None:
    assert tenant().actions(who, where) == set()


def test_tenant_one_person_in_workspaces_of_several_kinds() -> None:
    world = tenant()
    world.grant("member", "technical_user", "ads")
    world.grant("member", "viewer", "orders")
    world.grant("member", "can_operate", "sales")
    assert world.check("member", "create_storage", "ads")
    assert world.actions("member", "orders") == {"see", "read", "see_runs"}
    assert world.actions("member", "crm") == {"list", "open", "operate"}
    assert world.actions("member", "people") == set()


# Adding people

ADDING = """
who is added where | owner | admin | editor | viewer | member | data_admin | data_space_creator
member of the lakehouse | ✓ | ✓ | - | - | - | - | -
Project Admin of the marts project | ✓ | ✓ | - | - | - | - | -
viewer of the products project | ✓ | ✓ | - | - | - | - | -
can_view in the space | ✓ | ✓ | - | - | - | ✓ | -
"""

PLACES = {
    "member of the lakehouse": ("member", "lh"),
    "Project Admin of the marts project": ("admin", "ads"),
    "viewer of the products project": ("viewer", "people"),
    "can_view in the space": ("can_view", "sales"),
}


@rows("what who expected", read("adding people", ADDING))
def test_adding_people(what: str, who: str, expected: bool) -> None:
    role, where = PLACES[what]
    assert tenant().decisions.check_change(who, Add(Grant("zoe", role, where))) is expected


def test_tenant_a_lakehouse_manager_does_not_add_members() -> None:
    world = tenant()
    world.grant("member", "member", "lh")
    world.grant("member", "manager", "bronze")
    assert not world.decisions.check_change("member", Add(Grant("zoe", "member", "lh")))


MANAGING = """
what | owner | admin | editor | viewer | member | data_admin | data_space_creator
edit zoe | ✓ | ✓ | - | - | - | - | -
delete zoe | ✓ | ✓ | - | - | - | - | -
edit team | ✓ | ✓ | - | - | - | - | -
delete team | ✓ | ✓ | - | - | - | - | -
"""


@rows("what who expected", read("manage_members and manage_groups", MANAGING))
def test_managing_members_and_groups(what: str, who: str, expected: bool) -> None:
    world = tenant()
    world.group("team")
    action, uid = what.split()
    assert world.check(who, action, uid) is expected


GROUPING = """
what | owner | admin | editor | viewer | member | data_admin | data_space_creator
put into a group | ✓ | ✓ | - | - | - | - | -
take out of a group | ✓ | ✓ | - | - | - | - | -
"""


@rows("what who expected", read("manage_groups", GROUPING))
def test_who_is_in_a_group(what: str, who: str, expected: bool) -> None:
    world = tenant()
    world.group("team", "viewer")
    put, take = Add(Edge("member_of", "zoe", "team")), Remove(Edge("member_of", "viewer", "team"))
    change = put if what == "put into a group" else take
    assert world.decisions.check_change(who, change) is expected
