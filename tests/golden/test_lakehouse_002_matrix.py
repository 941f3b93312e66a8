"""Seed 002 and the matrix of access-models.md (lakehouse): every kind and level, with exact sets of actions.

The seed's own table has no check marks left; its rows are read with the matrix.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.golden.grid import MARKS, AccessQuestion, cells, rows
from tests.golden.lakehouse_world import LEVELS, PIPELINES, lakehouse, new, with_level
from tests.world import World

MATRIX = """
kind | Viewer | Editor adds | Manager adds | tenant Admin/Owner adds
layer | see | edit create_table create_volume | delete grant_viewer_editor | grant_manager
table | see read see_runs | edit write rollback | delete move grant_viewer_editor | grant_manager
volume | see read | edit write delete_file | delete move grant_viewer_editor | grant_manager
source | see see_runs | edit activate deactivate trigger stop | delete |
query | see see_runs | edit activate deactivate trigger stop | delete |
notebook | see see_runs | edit activate deactivate trigger stop | delete |
history | see see_runs | edit activate deactivate trigger stop | delete |
destination | see see_runs | edit activate deactivate trigger stop | delete |
integration | see see_runs | edit activate deactivate trigger stop | delete |
lakehouse | see execute_query save_query | | | {lakehouse}
""".format(lakehouse="create_layer see_all_layers see_settings manage_members manage_groups")

AT = {"layer": "bronze", "table": "orders", "volume": "files", "lakehouse": "lh"}


def matrix() -> Iterator[tuple[str, str, str, set[str]]]:
    """For each kind and column all that has been added up to there."""
    held: dict[str, set[str]] = {}
    for cell in cells(MATRIX):
        held.setdefault(cell.row, set()).update(cell.value.split())
        column = cell.column.removesuffix(" adds")
        yield f"002 matrix | {cell.row} | {column}", cell.row, column, set(held[cell.row])


@rows("kind column expected", matrix())
def test_level_on_the_layer(kind: str, column: str, expected: set[str]) -> None:
    where = AT.get(kind, kind)
    if column in LEVELS:
        assert with_level(LEVELS[column], "bronze").actions("mia", where) == expected
    else:
        assert lakehouse().actions("admin", where) == expected
        assert lakehouse().actions("owner", where) == expected


@rows("kind column expected", (case for case in matrix() if case[1] in {"table", "volume"} and case[2] in LEVELS))
def test_level_on_the_resource_itself(kind: str, column: str, expected: set[str]) -> None:
    assert with_level(LEVELS[column], AT[kind]).actions("mia", AT[kind]) == expected


@rows("kind column expected", (case for case in matrix() if case[1] in PIPELINES and case[2] in LEVELS))
def test_level_on_every_table_of_a_pipeline(kind: str, column: str, expected: set[str]) -> None:
    assert with_level(LEVELS[column], "orders", "items", "files").actions("mia", kind) == expected


@rows("column expected", (case[:1] + case[2:] for case in matrix() if case[1] == "layer" and case[2] in LEVELS))
def test_level_on_a_layer_with_nothing_in_it(column: str, expected: set[str]) -> None:
    world = lakehouse()
    world.add("lakehouse.layer", "silver", lakehouse="lh")
    world.grant("mia", LEVELS[column], "silver")
    assert world.actions("mia", "silver") == expected


@rows("who", ((f"002 matrix | lakehouse with nothing in it | {who}", who) for who in ("admin", "owner")))
def test_a_lakehouse_with_nothing_in_it(who: str) -> None:
    world = lakehouse()
    world.add("lakehouse.lakehouse", "pond", tenant="acme")
    assert world.actions(who, "pond") == {
        *("see", "execute_query", "save_query"),
        *("create_layer", "see_all_layers", "see_settings", "manage_members", "manage_groups"),
    }


@rows("kind", ((f"002 matrix | {kind} | no level", kind) for kind in ("layer", "table", "volume", *PIPELINES)))
def test_no_level_no_sight(kind: str) -> None:
    assert lakehouse().actions("mia", AT.get(kind, kind)) == set()


SAVED = """
whose | tables | actions
one's own | read on every table | see edit delete execute
one's own | read on one of two | see edit delete
one's own | read on none | see edit delete
one's own | reads no table | see edit delete execute
somebody else's | read on every table |
"""


def saved() -> Iterator[tuple[str, str, str, str]]:
    for line in SAVED.strip().splitlines()[1:]:
        whose, tables, actions = (part.strip() for part in line.split("|"))
        yield f"002 matrix | saved_query | {whose}, {tables}", whose, tables, actions


READABLE = {"read on every table": ["orders", "items"], "read on one of two": ["orders"]}


@rows("whose tables actions", saved())
def test_saved_query(whose: str, tables: str, actions: str) -> None:
    world = with_level("viewer", *READABLE.get(tables, []))
    reads = [] if tables == "reads no table" else ["orders", "items"]
    world.add("lakehouse.saved_query", "saved", lakehouse="lh", reads=reads)
    world.grant("mia" if whose == "one's own" else "ben", "owner", "saved")
    assert world.actions("mia", "saved") == set(actions.split())


@rows("who", ((f"002 Owners and admins are not restricted | saved_query | {who}", who) for who in ("owner", "admin")))
def test_admins_and_saved_queries(who: str) -> None:
    world = lakehouse()
    world.add("lakehouse.saved_query", "saved", lakehouse="lh", reads="orders")
    world.grant("ben", "owner", "saved")
    assert world.actions(who, "saved") == {"see", "edit", "delete", "execute"}


# The seed's table "What each level can do". * only admins and owners. ** only owners.
SEED = """
Module | Viewer | Editor | Manager | Admin | Owner
See layers (with access) | ✓ | ✓ | ✓ | ✓ | ✓
See tables (with access) | ✓ | ✓ | ✓ | ✓ | ✓
Change layer/table/field descriptions | - | ✓ | ✓ | ✓ | ✓
Manage users (add, remove, change Viewer/Editor) | - | - | ✓ | ✓ | ✓
Manage users (change Viewer/Editor/Manager)* | - | - | - | ✓ | ✓
Create layers* | - | - | - | ✓ | ✓
See all layers* | - | - | - | ✓ | ✓
See sources, queries, notebooks, histories, destinations, integrations | ✓ | ✓ | ✓ | ✓ | ✓
Add sources, destinations, queries, notebooks, histories | - | ✓ | ✓ | ✓ | ✓
Edit sources, destinations, queries, notebooks, histories | - | ✓ | ✓ | ✓ | ✓
Activate or deactivate sources, destinations, queries, notebooks, histories | - | ✓ | ✓ | ✓ | ✓
Manually trigger sources, destinations, queries, notebooks, histories | - | ✓ | ✓ | ✓ | ✓
Delete sources, destinations, queries, notebooks, histories | - | - | ✓ | ✓ | ✓
See runs | ✓ | ✓ | ✓ | ✓ | ✓
Execute queries | ✓ | ✓ | ✓ | ✓ | ✓
Edit queries | ✓ | ✓ | ✓ | ✓ | ✓
Save queries individually | ✓ | ✓ | ✓ | ✓ | ✓
Delete saved queries | ✓ | ✓ | ✓ | ✓ | ✓
See settings* | - | - | - | ✓ | ✓
Manage users and roles* | - | - | - | ✓ | ✓
Create groups* | - | - | - | ✓ | ✓
Add users* | - | - | - | ✓ | ✓
Manage billing** | - | - | - | - | ✓
"""

DATA = ("bronze", "orders", "files")
# The seed's order in the rows that name five kinds.
NAMED = ("source", "destination", "query", "notebook", "history")


def _on(places: tuple[str, ...], *actions: str) -> list[AccessQuestion]:
    return [AccessQuestion(action, place) for place in places for action in actions]


def _giving(*roles: str) -> list[AccessQuestion]:
    return [AccessQuestion("give", place, role) for place in DATA for role in roles]


ASKS: dict[str, list[AccessQuestion]] = {
    "See layers (with access)": _on(("bronze",), "see"),
    "See tables (with access)": _on(("orders",), "see", "read"),
    "Change layer/table/field descriptions": _on(("bronze", "orders"), "edit"),
    "Manage users (add, remove, change Viewer/Editor)": [
        *_on(DATA, "grant_viewer_editor"),
        *_giving("viewer", "editor"),
    ],
    "Manage users (change Viewer/Editor/Manager)*": [*_on(DATA, "grant_manager"), *_giving("manager")],
    "Create layers*": [AccessQuestion("create_layer", "lh"), AccessQuestion("create", new("layer"))],
    "See all layers*": _on(("lh",), "see_all_layers"),
    "See sources, queries, notebooks, histories, destinations, integrations": _on(PIPELINES, "see"),
    "Add sources, destinations, queries, notebooks, histories": [
        AccessQuestion("create", new("source", into="bronze")),
        AccessQuestion("create", new("destination", reads=["orders"])),
        AccessQuestion("create", new("query", reads=["orders"], into="bronze")),
        AccessQuestion("create", new("notebook", reads=["files"], writes=["items"], into="bronze")),
        AccessQuestion("create", new("history", reads=["orders"], writes=["bronze"], into="bronze")),
    ],
    "Edit sources, destinations, queries, notebooks, histories": _on(NAMED, "edit"),
    "Activate or deactivate sources, destinations, queries, notebooks, histories": _on(NAMED, "activate", "deactivate"),
    "Manually trigger sources, destinations, queries, notebooks, histories": _on(NAMED, "trigger"),
    "Delete sources, destinations, queries, notebooks, histories": _on(NAMED, "delete"),
    "See runs": _on(("orders", *PIPELINES), "see_runs"),
    "Execute queries": [*_on(("lh",), "execute_query"), *_on(("saved",), "execute")],
    "Edit queries": _on(("saved",), "edit"),
    "Save queries individually": [
        AccessQuestion("save_query", "lh"),
        AccessQuestion("create", new("saved_query", reads=["orders"])),
    ],
    "Delete saved queries": _on(("saved",), "delete"),
    "See settings*": [AccessQuestion("see_settings", "lh")],
    "Manage users and roles*": [AccessQuestion("manage_members", "lh"), AccessQuestion("give", "lh", "member")],
    "Create groups*": _on(("lh", "acme"), "manage_groups"),
    "Add users*": _on(("lh", "acme"), "manage_members"),
    "Manage billing**": [AccessQuestion("manage_billing", "acme")],
}


def seed_rows() -> Iterator[tuple[str, str, AccessQuestion, bool]]:
    for cell in cells(SEED):
        for ask in ASKS[cell.row]:
            name = f"002 What each level can do | {cell.row} | {cell.column} | {ask}"
            yield name, cell.column, ask, MARKS[cell.value]


def _asker(world: World, column: str) -> str:
    if column in {"Admin", "Owner"}:
        return column.lower()
    world.grant("mia", LEVELS[column], "bronze")
    return "mia"


@rows("column ask expected", seed_rows())
def test_what_each_level_can_do(column: str, ask: AccessQuestion, expected: bool) -> None:
    world = lakehouse()
    principal = _asker(world, column)
    world.add("lakehouse.saved_query", "saved", lakehouse="lh", reads="orders")
    world.grant(principal, "owner", "saved")
    assert ask(world, principal) is expected
