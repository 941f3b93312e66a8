"""Seed 003: the three tables for members of a data space and the three for security roles, cell by cell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lakehold.access.facts.records import Draft
from tests.golden.grid import MARKS, AccessQuestion, cells, rows
from tests.golden.spaces_world import COLUMNS, SECURITY, holding, sales

Asks = Mapping[str, list[AccessQuestion]]
Row = tuple[str, str, AccessQuestion, bool]

ON_SPACE = """
Action | Is owner | Can view | Can consume data | Can manage | Can operate | Can edit
See data space in Data Integration home | Yes | Yes | Yes | Yes | Yes | Yes
Change space name, description, members, and roles | Yes | | | Yes | |
Delete space | Yes | | | Yes | |
"""

ON_PROJECTS = """
Action | Is owner | Can view | Can consume data | Can manage | Can operate | Can edit
List data projects | Yes | Yes | Yes | Yes | Yes | Yes
Create project | Yes | | | | | Yes
Update project | Yes | | | | | Yes
Open project | Yes | Yes | | | Yes | Yes
Delete project | Yes | | | | | Yes
Operate project | Yes | | | | Yes |
"""

ON_TASKS = """
Action | Is owner | Can view | Can consume data | Can manage | Can operate | Can edit
Create data task | Yes | | | | | Yes
List data tasks and information about tasks | Yes | Yes | Yes | Yes | Yes | Yes
Edit data task attribute | Yes | | | | | Yes
Open data task | Yes | Yes | | | Yes | Yes
Update data task | Yes | | | | | Yes
Delete data task | Yes | | | | | Yes
Control data task (run, stop, resume, reload) | Yes | | | | Yes |
List data resources (data connections) | Yes | Yes | Yes | Yes | Yes | Yes
Add data connection | Yes | | | Yes | |
Edit data connection | See note below | | | | |
Delete data connection | Yes | | | Yes | |
"""

SPACES_BY_SECURITY_ROLE = """
Action | Tenant admin | Data admin | Data space creator
Create data space | Yes | Yes | Yes
See data space in Data Integration home | Yes | Yes |
Change space name and description | Yes | Yes |
Delete space | Yes | Yes |
Change space owner | Yes | Yes |
"""

PROJECTS_BY_SECURITY_ROLE = """
Action | Tenant admin | Data admin
List data projects | Yes | Yes
Open project | Yes | Yes
Delete project | Yes | Yes
Change owner of project | Yes | Yes
"""

TASKS_BY_SECURITY_ROLE = """
Action | Tenant admin | Data admin
List data tasks and information about assets | Yes | Yes
Open data task | Yes | Yes
Delete data task | Yes | Yes
Change owner of data task | Yes | Yes
List data resources (data connections) | Yes | Yes
Delete data connection | Yes | Yes
Change owner of data connection | Yes | Yes
Change space of data connection | Yes | Yes
"""

GIVEN = ("can_view", "can_view_data", "can_consume_data", "can_manage", "can_operate", "can_edit")

ASKS: Asks = {
    "See data space in Data Integration home": [AccessQuestion("see", "sales")],
    "Change space name, description, members, and roles": [
        AccessQuestion("rename", "sales"),
        AccessQuestion("manage_members", "sales"),
        *(AccessQuestion("give", "sales", role) for role in GIVEN),
    ],
    "Delete space": [AccessQuestion("delete", "sales")],
    "List data projects": [AccessQuestion("list_projects", "sales"), AccessQuestion("list", "crm")],
    "Create project": [
        AccessQuestion("create_project", "sales"),
        AccessQuestion("create", Draft("spaces.project", {"space": "sales"})),
    ],
    "Update project": [AccessQuestion("update", "crm")],
    "Open project": [AccessQuestion("open", "crm")],
    "Delete project": [AccessQuestion("delete", "crm")],
    "Operate project": [AccessQuestion("operate", "crm")],
    "Create data task": [AccessQuestion("create", Draft("spaces.task", {"project": "crm"}))],
    "List data tasks and information about tasks": [
        AccessQuestion("list_tasks", "sales"),
        AccessQuestion("list", "load"),
    ],
    "Edit data task attribute": [AccessQuestion("edit_attribute", "load")],
    "Open data task": [AccessQuestion("open", "load")],
    "Update data task": [AccessQuestion("update", "load")],
    "Delete data task": [AccessQuestion("delete", "load")],
    "Control data task (run, stop, resume, reload)": [
        AccessQuestion(action, "load") for action in ("run", "stop", "resume", "reload")
    ],
    "List data resources (data connections)": [
        AccessQuestion("list_connections", "sales"),
        AccessQuestion("list", "erp"),
    ],
    "Add data connection": [
        AccessQuestion("add_connection", "sales"),
        AccessQuestion("create", Draft("spaces.connection", {"space": "sales"})),
    ],
    "Edit data connection": [AccessQuestion("edit", "erp")],
    "Delete data connection": [AccessQuestion("delete", "erp")],
}

SECURITY_ASKS: Asks = {
    **ASKS,
    "Create data space": [
        AccessQuestion("create_space", "acme"),
        AccessQuestion("create", Draft("spaces.space", {"tenant": "acme"})),
    ],
    "Change space name and description": [AccessQuestion("rename", "sales")],
    "Change space owner": [AccessQuestion("change_owner", "sales"), AccessQuestion("give", "sales", "owner")],
    "Change owner of project": [AccessQuestion("change_owner", "crm"), AccessQuestion("give", "crm", "owner")],
    "List data tasks and information about assets": [
        AccessQuestion("list_tasks", "sales"),
        AccessQuestion("list", "load"),
    ],
    "Change owner of data task": [AccessQuestion("change_owner", "load"), AccessQuestion("give", "load", "owner")],
    "Change owner of data connection": [AccessQuestion("change_owner", "erp"), AccessQuestion("give", "erp", "owner")],
    "Change space of data connection": [
        AccessQuestion("change_space", "erp"),
        AccessQuestion("change_space", "erp", edges={"space": "other"}),
    ],
}

# "See note below": the owner of the data connection edits it, and here that is somebody else.
SEED_MARKS = {**MARKS, "See note below": False}


def read(title: str, text: str, asks: Asks) -> Iterator[Row]:
    for cell in cells(text):
        for number, ask in enumerate(asks[cell.row]):
            name = f"003 {title} | {cell.row} | {cell.column} | {number + 1} {ask}"
            yield name, cell.column, ask, SEED_MARKS[cell.value]


MEMBERS = [
    *read("Permissions on the data space", ON_SPACE, ASKS),
    *read("Permissions on data projects", ON_PROJECTS, ASKS),
    *read("Permissions on data tasks and data resources", ON_TASKS, ASKS),
]


@rows("column ask expected", MEMBERS)
def test_members_of_the_data_space(column: str, ask: AccessQuestion, expected: bool) -> None:
    assert ask(holding(COLUMNS[column]), "mia") is expected


SECURITY_ROLES = [
    *read("Permissions on data spaces with security roles", SPACES_BY_SECURITY_ROLE, SECURITY_ASKS),
    *read("Permissions on data projects with security roles", PROJECTS_BY_SECURITY_ROLE, SECURITY_ASKS),
    *read("Permissions on data tasks and data resources with security roles", TASKS_BY_SECURITY_ROLE, SECURITY_ASKS),
]


@rows("column ask expected", SECURITY_ROLES)
def test_users_with_security_roles(column: str, ask: AccessQuestion, expected: bool) -> None:
    world = sales()
    world.add("spaces.space", "other", tenant="acme")
    assert ask(world, SECURITY[column]) is expected


@rows("ask", [(name.replace("Tenant admin", "Tenant owner"), ask) for name, column, ask, expected in SECURITY_ROLES
              if column == "Tenant admin" and expected])  # fmt: skip
def test_tenant_owner_has_the_tenant_admin_column(ask: AccessQuestion) -> None:
    world = sales()
    world.add("spaces.space", "other", tenant="acme")
    assert ask(world, "owner")


NO_ROLE = [(name.split(" | Is owner")[0] + " | no role" + name.split(" | Is owner")[1], ask)
           for name, column, ask, _ in MEMBERS if column == "Is owner"]  # fmt: skip


@rows("ask", NO_ROLE)
def test_without_a_role_nothing(ask: AccessQuestion) -> None:
    assert not ask(sales(), "mia")
