"""Seed 002, sentences on levels, propagation, groups, tokens and plans, with the bullets of access-models.md."""

from __future__ import annotations

from collections.abc import Iterator

from lakehold.access.decisions.principal import TokenPrincipal
from lakehold.access.facts.records import Add, Draft, Edge, Grant, Remove
from tests.golden.grid import MARKS, AccessQuestion, cells, rows
from tests.golden.lakehouse_world import LEVELS, PIPELINES, lakehouse, new, with_level, with_levels
from tests.world import ALL

LAYER = {"see", "edit", "create_table", "create_volume", "delete", "grant_viewer_editor"}
TABLE = {"see", "read", "see_runs", "edit", "write", "rollback", "delete", "move", "grant_viewer_editor"}
VOLUME = {"see", "read", "edit", "write", "delete_file", "delete", "move", "grant_viewer_editor"}
PIPELINE = {"see", "see_runs", "edit", "activate", "deactivate", "trigger", "stop", "delete"}
READS_TABLE = {"see", "read", "see_runs"}
EDITS_TABLE = READS_TABLE | {"edit", "write", "rollback"}

Levels = dict[str, str]
Actions = set[str]

# Permission propagation


DOWN = [
    ("002 Permission propagation | from layer down | Viewer", "viewer", READS_TABLE, {"see", "read"}),
    ("002 Permission propagation | from layer down | Editor", "editor", EDITS_TABLE,
     {"see", "read", "edit", "write", "delete_file"}),
    ("002 Permission propagation | from layer down | Manager", "manager", TABLE, VOLUME),
]  # fmt: skip


@rows("level table volume", DOWN)
def test_layer_down(level: str, table: Actions, volume: Actions) -> None:
    world = with_level(level, "bronze")
    assert world.actions("mia", "orders") == table
    assert world.actions("mia", "items") == table
    assert world.actions("mia", "files") == volume
    assert world.actions("mia", "totals") == set()


def test_002_permission_propagation_to_tables_and_volumes_of_the_future() -> None:
    world = with_level("manager", "bronze")
    world.add("lakehouse.table", "later", layer="bronze")
    world.add("lakehouse.volume", "scans", layer="bronze")
    assert world.actions("mia", "later") == TABLE
    assert world.actions("mia", "scans") == VOLUME


UP = [
    (f"002 Permission propagation | from {kind} up | {level}", place, level)
    for kind, place in (("table", "orders"), ("volume", "files"))
    for level in ("viewer", "editor", "manager")
]


@rows("place level", UP)
def test_table_or_volume_up(place: str, level: str) -> None:
    world = with_level(level, place)
    assert world.actions("mia", "bronze") == {"see"}
    assert world.actions("mia", "gold") == set()


@rows("place level", [(name.replace(" up |", " not down again |"), place, level) for name, place, level in UP])
def test_no_echo(place: str, level: str) -> None:
    world = with_level(level, place)
    for other in {"orders", "items", "files", "totals"} - {place}:
        assert world.actions("mia", other) == set()


NO_LAYER_LEVEL = [
    ("002 Permission propagation | a table's level is not its layer's | new source",
     AccessQuestion("create", new("source", into="bronze"))),
    ("002 Permission propagation | a table's level is not its layer's | new table",
     AccessQuestion("create", Draft("lakehouse.table", {"layer": "bronze"}))),
    ("002 Permission propagation | a table's level is not its layer's | new volume",
     AccessQuestion("create", Draft("lakehouse.volume", {"layer": "bronze"}))),
    ("002 Permission propagation | a table's level is not its layer's | source with nothing else to count",
     AccessQuestion("see", "empty")),
    ("002 Permission propagation | a table's level is not its layer's | moving a table there",
     AccessQuestion("move", "totals", edges={"layer": "bronze"})),
]  # fmt: skip


@rows("ask", NO_LAYER_LEVEL)
def test_a_table_does_not_answer_for_its_layer(ask: AccessQuestion) -> None:
    world = with_level("manager", "orders", "items", "files", "totals")
    world.add("lakehouse.source", "empty", lakehouse="lh", into="bronze")
    assert not ask(world, "mia")


def test_002_permission_propagation_higher_on_the_layer_only_if_granted() -> None:
    world = with_levels(orders="manager", bronze="editor")
    assert world.actions("mia", "bronze") == {"see", "edit", "create_table", "create_volume"}
    assert world.actions("mia", "orders") == TABLE
    assert world.actions("mia", "items") == EDITS_TABLE


# Permission levels and who manages them


# The seed's table of levels and their meaning, on a layer, a table and a volume.
MEANING = [
    ("Viewer | sees the resource", "viewer", "see", True),
    ("Viewer | cannot change it", "viewer", "edit", False),
    ("Viewer | cannot grant access to others", "viewer", "grant_viewer_editor", False),
    ("Editor | changes the resource", "editor", "edit", True),
    ("Editor | cannot delete it", "editor", "delete", False),
    ("Editor | cannot manage who has access", "editor", "grant_viewer_editor", False),
    ("Manager | changes", "manager", "edit", True),
    ("Manager | deletes", "manager", "delete", True),
    ("Manager | grants Viewer or Editor", "manager", "grant_viewer_editor", True),
]


@rows("level action expected", [(f"002 Permission levels | {name}", *case) for name, *case in MEANING])
def test_meaning_of_levels(level: str, action: str, expected: bool) -> None:
    for place in ("bronze", "orders", "files"):
        assert with_level(level, place).check("mia", action, place) is expected


@rows("place", [(f"002 Permission levels | Viewer | read-only use | {place}", place) for place in ("orders", "files")])
def test_viewer_reads_only(place: str) -> None:
    world = with_level("viewer", place)
    assert world.check("mia", "read", place)
    assert not world.check("mia", "write", place)


@rows("kind level expected", [
    ("002 Permission levels | Editor | creates tables in the layer", "table", "editor", True),
    ("002 Permission levels | Editor | creates volumes in the layer", "volume", "editor", True),
    ("002 Permission levels | Viewer | creates no table", "table", "viewer", False),
    ("002 Permission levels | Viewer | creates no volume", "volume", "viewer", False),
])  # fmt: skip
def test_dependent_resources(kind: str, level: str, expected: bool) -> None:
    draft = Draft(f"lakehouse.{kind}", {"layer": "bronze"})
    assert AccessQuestion("create", draft)(with_level(level, "bronze"), "mia") is expected


# Who adds, changes and revokes which level.
MANAGING = """
who | Viewer | Editor | Manager
nobody | - | - | -
Viewer | - | - | -
Editor | - | - | -
Manager | ✓ | ✓ | -
Admin | ✓ | ✓ | ✓
Owner | ✓ | ✓ | ✓
"""


def managing() -> Iterator[tuple[str, str, str, str, bool]]:
    for place in ("bronze", "orders", "files"):
        for cell in cells(MANAGING):
            name = f"002 Permission levels | {cell.row} adds and revokes {cell.column} | {place}"
            yield name, place, cell.row, LEVELS[cell.column], MARKS[cell.value]


@rows("place who given expected", managing())
def test_who_manages_levels(place: str, who: str, given: str, expected: bool) -> None:
    world = with_level(LEVELS.get(who), place)
    world.grant(world.member("sue"), given, place)
    principal = who.lower() if who in {"Admin", "Owner"} else "mia"
    decisions = world.decisions
    assert decisions.check(principal, "give", place, role=given) is expected
    assert decisions.check_change(principal, Add(Grant("ben", given, place))) is expected
    assert decisions.check_change(principal, Remove(Grant("sue", given, place))) is expected


def test_002_permission_levels_a_manager_of_one_table_manages_no_other() -> None:
    world = with_level("manager", "orders")
    assert not world.decisions.check_change("mia", Add(Grant("ben", "viewer", "items")))
    assert not world.decisions.check_change("mia", Add(Grant("ben", "viewer", "bronze")))


MOVING = [
    ("002 settled | move | Manager, Editor on the target layer", {"orders": "manager", "gold": "editor"}, True),
    ("002 settled | move | Manager, Viewer on the target layer", {"orders": "manager", "gold": "viewer"}, False),
    ("002 settled | move | Manager, nothing on the target layer", {"orders": "manager"}, False),
    ("002 settled | move | Manager, a table of the target layer", {"orders": "manager", "totals": "manager"}, False),
    ("002 settled | move | Editor, Manager on the target layer", {"orders": "editor", "gold": "manager"}, False),
]


@rows("levels expected", MOVING)
def test_move(levels: Levels, expected: bool) -> None:
    world = with_levels(**levels)
    world.grant("mia", levels["orders"], "files")
    for moved in ("orders", "files"):
        assert AccessQuestion("move", moved, edges={"layer": "gold"})(world, "mia") is expected
        assert world.decisions.check_change("mia", Add(Edge("layer", moved, "gold"))) is expected


SAVING = [
    ("002 settled | a result as a table | read and create_table", {"orders": "viewer", "gold": "editor"}, True),
    ("002 settled | a result as a table | no read on an input", {"gold": "editor"}, False),
    ("002 settled | a result as a table | no create_table", {"orders": "manager", "gold": "viewer"}, False),
]


@rows("levels expected", SAVING)
def test_saving_a_result(levels: Levels, expected: bool) -> None:
    draft = Draft("lakehouse.table", {"layer": "gold", "saved_from": ["orders", "totals"]})
    assert AccessQuestion("create", draft)(with_levels(**levels), "mia") is expected


# Permission groups


def test_002_permission_groups_a_group_holds_a_level() -> None:
    world = lakehouse()
    world.group("analysts", "mia")
    world.grant("analysts", "editor", "bronze")
    assert world.actions("mia", "orders") == EDITS_TABLE
    assert world.actions("ben", "orders") == set()


HIGHEST = [
    ("002 Permission groups | highest | direct above group", "editor", ["viewer"], EDITS_TABLE),
    ("002 Permission groups | highest | group above direct", "viewer", ["editor"], EDITS_TABLE),
    ("002 Permission groups | highest | of two groups", None, ["viewer", "editor"], EDITS_TABLE),
    ("002 Permission groups | highest | same from both", "viewer", ["viewer"], READS_TABLE),
]


@rows("direct groups expected", HIGHEST)
def test_highest_counts(direct: str | None, groups: list[str], expected: Actions) -> None:
    world = with_level(direct, "orders")
    for number, level in enumerate(groups):
        world.group(f"group{number}", "mia")
        world.grant(f"group{number}", level, "orders")
    assert world.actions("mia", "orders") == expected


def test_002_permission_groups_levels_from_different_paths_meet_in_a_pipeline() -> None:
    world = with_level("editor", "orders")
    world.group("analysts", "mia")
    world.grant("analysts", "editor", "items")
    assert world.check("mia", "edit", "destination")


def test_002_permission_groups_all_grants_and_revokes_for_every_member() -> None:
    world = lakehouse()
    world.member("guest")
    world.grant(ALL, "viewer", "bronze")
    assert world.actions("mia", "orders") == READS_TABLE
    assert world.actions("ben", "orders") == READS_TABLE
    assert world.actions("guest", "orders") == set()
    world.revoke(ALL, "viewer", "bronze")
    assert world.actions("mia", "orders") == set()
    assert world.actions("ben", "orders") == set()


def test_002_permission_groups_all_adds_to_a_members_own_level() -> None:
    world = with_level("viewer", "orders")
    world.grant(ALL, "editor", "orders")
    assert world.actions("mia", "orders") == EDITS_TABLE


# API tokens


INHERITED = [("bronze", LAYER), ("orders", TABLE), ("files", VOLUME), ("gold", set()), ("totals", set()),
             *((kind, PIPELINE) for kind in PIPELINES)]  # fmt: skip


@rows("place expected", [(f"002 API tokens | inherit | {place}", place, held) for place, held in INHERITED])
def test_tokens_inherit(place: str, expected: Actions) -> None:
    assert set(with_level("manager", "bronze").decisions.actions(TokenPrincipal("mia"), place)) == expected


def test_002_api_tokens_follow_new_and_revoked_access() -> None:
    world = lakehouse()
    assert not world.decisions.check(TokenPrincipal("mia"), "read", "orders")
    world.grant("mia", "viewer", "orders")
    assert world.decisions.check(TokenPrincipal("mia"), "read", "orders")
    world.revoke("mia", "viewer", "orders")
    assert not world.decisions.check(TokenPrincipal("mia"), "read", "orders")


def test_002_api_tokens_follow_groups() -> None:
    world = lakehouse()
    world.group("analysts")
    world.grant("analysts", "viewer", "orders")
    world.fact(Edge("member_of", "mia", "analysts"))
    assert world.decisions.check(TokenPrincipal("mia"), "read", "orders")
    world.change(Remove(Edge("member_of", "mia", "analysts")))
    assert not world.decisions.check(TokenPrincipal("mia"), "read", "orders")


def test_002_api_tokens_follow_a_role_change() -> None:
    world = lakehouse()
    world.grant("mia", "admin", "acme")
    assert world.decisions.check(TokenPrincipal("mia"), "create_layer", "lh")
    world.revoke("mia", "admin", "acme")
    assert not world.decisions.check(TokenPrincipal("mia"), "create_layer", "lh")


# Plans

STARTER = [("bronze", LAYER), ("orders", TABLE), ("files", VOLUME), ("totals", TABLE),
           *((kind, PIPELINE) for kind in PIPELINES),
           ("lh", {"see", "execute_query", "save_query"})]  # fmt: skip


@rows("place expected", [(f"002 Starter: Manager on all data | {place}", place, held) for place, held in STARTER])
def test_starter(place: str, expected: Actions) -> None:
    world = lakehouse()
    world.set("acme", plan="starter")
    assert world.actions("mia", place) == expected


@rows("place", [(f"002 Starter: for members of the lakehouse | {place}", place) for place, _ in STARTER])
def test_starter_is_for_members(place: str) -> None:
    world = lakehouse()
    world.member("guest")
    world.set("acme", plan="starter")
    assert world.actions("guest", place) == set()


@rows("plan", [(f"002 Growth or Custom apply levels | {plan}", plan) for plan in ("growth", "custom")])
def test_levels_apply(plan: str) -> None:
    world = with_level("viewer", "orders")
    world.set("acme", plan=plan)
    assert world.actions("mia", "orders") == READS_TABLE
    assert world.actions("mia", "items") == set()
    assert world.actions("mia", "bronze") == {"see"}
