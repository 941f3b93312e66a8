"""access-models.md (spaces): its matrix cell by cell, with the column can_view_data, and each role's exact actions."""

from __future__ import annotations

from collections.abc import Iterator

from lakehold.access.facts.records import Draft
from tests.golden.grid import MARKS, AccessQuestion, cells, rows
from tests.golden.spaces_world import ROLES, holding, sales

MATRIX = """
action | owner | can_view | can_view_data | can_consume_data | can_manage | can_operate | can_edit
space: see, list_projects, list_tasks, list_connections, list_gateways | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓
space: rename, manage_members, delete | ✓ | - | - | - | ✓ | - | -
space: create_project · project: update, delete · task: create, edit_attribute, update, delete | ✓ | {can_edit}
project: open · task: open | ✓ | ✓ | - | - | - | ✓ | ✓
project: operate · task: run, stop, resume, reload, prepare | ✓ | - | - | - | - | ✓ | -
task: validate | ✓ | - | - | - | - | ✓ | ✓
task: view_data | ✓ | - | ✓ | - | - | - | -
task: consume_data | ✓ | - | - | ✓ | - | - | -
space: add_connection, add_gateway · connection, gateway: delete | ✓ | - | - | - | ✓ | - | -
""".format(can_edit="- | - | - | - | - | ✓")

AT = {"space": "sales", "project": "crm", "task": "load", "connection": "erp", "gateway": "edge"}

CREATING = {
    ("task", "create"): AccessQuestion("create", Draft("spaces.task", {"project": "crm"})),
    ("space", "create_project"): AccessQuestion("create", Draft("spaces.project", {"space": "sales"})),
    ("space", "add_connection"): AccessQuestion("create", Draft("spaces.connection", {"space": "sales"})),
    ("space", "add_gateway"): AccessQuestion("create", Draft("spaces.gateway", {"space": "sales"})),
}


def asked(row: str) -> Iterator[AccessQuestion]:
    """`space: rename, delete · project: open`."""
    for part in row.split(" · "):
        kinds, actions = part.split(": ")
        for kind in kinds.split(", "):
            for action in actions.split(", "):
                if action != "create":
                    yield AccessQuestion(action, AT[kind])
                if (kind, action) in CREATING:
                    yield CREATING[kind, action]


def matrix() -> Iterator[tuple[str, str, AccessQuestion, bool]]:
    for cell in cells(MATRIX):
        for ask in asked(cell.row):
            yield f"003 matrix | {cell.row} | {cell.column} | {ask}", cell.column, ask, MARKS[cell.value]


@rows("role ask expected", matrix())
def test_matrix(role: str, ask: AccessQuestion, expected: bool) -> None:
    assert ask(holding(role), "mia") is expected


SEES = "see list_projects list_tasks list_connections list_gateways"
MANAGES = "rename manage_members delete add_connection add_gateway"
CONTROLS = "run stop resume reload prepare"
CHANGES = "edit_attribute update delete"

# The same matrix by role: space, project, task, connection, gateway.
EXACT: dict[str, tuple[str, str, str, str, str]] = {
    "owner": (
        f"{SEES} {MANAGES} create_project",
        "list open update delete operate",
        f"list open {CHANGES} {CONTROLS} validate view_data consume_data",
        "list delete",
        "list delete",
    ),
    "can_view": (SEES, "list open", "list open", "list", "list"),
    "can_view_data": (SEES, "list", "list view_data", "list", "list"),
    "can_consume_data": (SEES, "list", "list consume_data", "list", "list"),
    "can_manage": (f"{SEES} {MANAGES}", "list", "list", "list delete", "list delete"),
    "can_operate": (SEES, "list open operate", f"list open {CONTROLS} validate", "list", "list"),
    "can_edit": (f"{SEES} create_project", "list open update delete", f"list open {CHANGES} validate", "list", "list"),
}


def exact() -> Iterator[tuple[str, str, str, str]]:
    for role, sets in EXACT.items():
        for kind, actions in zip(AT, sets, strict=True):
            yield f"003 exact | {role} | {kind}", role, kind, actions


@rows("role kind actions", exact())
def test_exact_actions(role: str, kind: str, actions: str) -> None:
    assert holding(role).actions("mia", AT[kind]) == set(actions.split())


def test_003_exact_every_role_is_there() -> None:
    assert tuple(EXACT) == ROLES


# The seed's table "Data space roles": what each summary says a role can, and cannot, do.
SUMMARIES: list[tuple[str, str, str, str, bool]] = [
    ("Is owner | manages the space", "owner", "space", "rename manage_members delete", True),
    ("Is owner | manages all data projects", "owner", "project", "open update delete operate", True),
    ("Is owner | manages all data tasks", "owner", "task", f"open {CHANGES} {CONTROLS}", True),
    ("Is owner | manages data resources", "owner", "connection", "list delete", True),
    ("Can view | views data projects", "can_view", "project", "list open", True),
    ("Can view | views data tasks", "can_view", "task", "list open", True),
    ("Can view | views data resources", "can_view", "connection", "list", True),
    ("Can view | changes no space", "can_view", "space", "rename manage_members delete create_project", False),
    ("Can view | changes no project", "can_view", "project", "update delete operate", False),
    ("Can view | changes no task", "can_view", "task", f"{CHANGES} {CONTROLS}", False),
    ("Can view | changes no connection", "can_view", "connection", "edit delete", False),
    ("Can view data | views data in data tasks", "can_view_data", "task", "view_data", True),
    ("Can consume data | consumes data of data tasks", "can_consume_data", "task", "consume_data", True),
    ("Can manage | manages space details and members", "can_manage", "space", "rename manage_members", True),
    ("Can operate | views data projects", "can_operate", "project", "list open", True),
    ("Can operate | views data tasks", "can_operate", "task", "list open", True),
    ("Can operate | runs, stops, resumes", "can_operate", "task", "run stop resume", True),
    ("Can edit | views and edits data projects", "can_edit", "project", "list open update", True),
    ("Can edit | views and edits data tasks", "can_edit", "task", f"list open {CHANGES}", True),
]


@rows("role kind actions expected", [(f"003 Data space roles | {name}", *case) for name, *case in SUMMARIES])
def test_summaries(role: str, kind: str, actions: str, expected: bool) -> None:
    world = holding(role)
    for action in actions.split():
        assert world.check("mia", action, AT[kind]) is expected


def test_003_data_space_roles_can_edit_creates_data_tasks() -> None:
    assert CREATING["task", "create"](holding("can_edit"), "mia")


# Tenant admin and data admin without a space role. Gateways stand in none of the seed's three tables: our choice, so
# that nothing without an owner is stuck.
GOVERNS = {
    "space": "see rename manage_members delete change_owner list_projects list_tasks list_connections list_gateways",
    "project": "list open delete change_owner",
    "task": "list open delete change_owner",
    "connection": "list delete change_owner change_space",
    "gateway": "list delete change_owner",
}


def governing() -> Iterator[tuple[str, str, str, str]]:
    for who in ("owner", "admin", "data_admin"):
        for kind, actions in GOVERNS.items():
            yield f"003 exact | tenant {who} | {kind}", who, kind, actions


@rows("who kind actions", governing())
def test_security_roles_exactly(who: str, kind: str, actions: str) -> None:
    assert sales().actions(who, AT[kind]) == set(actions.split())


NOTHING = [(f"003 exact | {who} | {kind}", who, kind) for who in ("data_space_creator", "editor", "viewer", "mia")
           for kind in AT]  # fmt: skip


@rows("who kind", NOTHING)
def test_others_have_nothing(who: str, kind: str) -> None:
    assert sales().actions(who, AT[kind]) == set()


NOT_CREATED = [(f"003 security roles do not create | {ask} | {who}", ask, who) for ask in CREATING.values()
               for who in ("owner", "admin", "data_admin", "data_space_creator")]  # fmt: skip


@rows("ask who", NOT_CREATED)
def test_security_roles_do_not_create(ask: AccessQuestion, who: str) -> None:
    assert not ask(sales(), who)


UNIONS = [
    ("003 several roles are a union | Can view and Can view data", ("can_view", "can_view_data"),
     "list open view_data"),
    ("003 several roles are a union | Can consume data and Can operate", ("can_consume_data", "can_operate"),
     f"list open {CONTROLS} validate consume_data"),
    ("003 several roles are a union | Can operate and Can edit", ("can_operate", "can_edit"),
     f"list open {CHANGES} {CONTROLS} validate"),
    ("003 several roles are a union | Can manage and Can view data", ("can_manage", "can_view_data"), "list view_data"),
]  # fmt: skip


@rows("roles actions", UNIONS)
def test_union_of_roles(roles: tuple[str, ...], actions: str) -> None:
    assert holding(*roles).actions("mia", "load") == set(actions.split())


def test_003_a_security_role_adds_to_a_space_role() -> None:
    world = sales()
    world.grant("data_admin", "can_operate", "sales")
    assert world.actions("data_admin", "crm") == {"list", "open", "operate", "delete", "change_owner"}
