"""Seed 003: data tasks operate in the context of the owner of their data project. Two people in one decision.

Paul owns the project `crm` in `sales`; mia may operate there. What the task uses lies in spaces of its own, which
zoe owns, so that each of paul's roles can be given, changed and left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.golden.grid import MARKS, cells, rows
from tests.golden.spaces_world import ROLES, sales, space
from tests.world import World

# What the seed and access-models.md ask of the project's owner in each space.
ASKED = """
where | owner | can_view | can_view_data | can_consume_data | can_manage | can_operate | can_edit | no role
project | ✓ | - | - | - | - | - | ✓ | -
source connection | ✓ | - | - | ✓ | ✓ | - | ✓ | -
target connection | ✓ | - | - | ✓ | ✓ | - | ✓ | -
gateway of the task | ✓ | - | - | ✓ | ✓ | - | ✓ | -
gateway of a connection | ✓ | - | - | ✓ | ✓ | - | ✓ | -
foreign task | ✓ | - | - | ✓ | ✓ | - | ✓ | -
"""

SPACE = {
    "project": "sales",
    "source connection": "sources",
    "target connection": "targets",
    "gateway of the task": "gates",
    "gateway of a connection": "far_gates",
    "foreign task": "abroad",
}
CONTEXT = ("run", "resume", "reload", "prepare")
SUPPLYING = tuple(name for name in SPACE.values() if name != "sales")


def plant() -> World:
    """Everything in its own space; paul holds nothing in any of them yet."""
    world = sales()
    world.member("zoe")
    for name in SUPPLYING:
        space(world, name, "zoe")
    world.add("spaces.connection", "shop", space="sources")
    world.add("spaces.connection", "lake", space="targets")
    world.add("spaces.gateway", "gate", space="gates")
    world.add("spaces.gateway", "far_gate", space="far_gates")
    world.add("spaces.connection", "remote", space="sources", gateway="far_gate")
    world.add("spaces.project", "foreign", space="abroad")
    world.add("spaces.task", "foreign_task", project="foreign")
    _task(world)
    world.grant("mia", "can_operate", "sales")
    world.revoke("paul", "can_edit", "sales")
    return world


def _task(world: World) -> None:
    world.add(
        "spaces.task",
        "whole",
        project="crm",
        sources=["shop", "remote"],
        targets="lake",
        gateways="gate",
        reads="foreign_task",
    )
    world.grant("ben", "owner", "whole")


def prepared(**roles: str) -> World:
    """Paul holds what is needed everywhere, but for the places named here."""
    world = plant()
    needed = dict.fromkeys(SUPPLYING, "can_consume_data") | {"sales": "can_edit"} | roles
    for where, role in needed.items():
        if role != "no role":
            world.grant("paul", role, where)
    return world


def asked() -> Iterator[tuple[str, str, str, str, bool]]:
    for cell in cells(ASKED):
        for action in CONTEXT:
            name = f"003 owner's context | {cell.row} | {cell.column} | {action}"
            yield name, SPACE[cell.row], cell.column, action, MARKS[cell.value]


@rows("where role action expected", asked())
def test_role_of_the_projects_owner(where: str, role: str, action: str, expected: bool) -> None:
    assert prepared(**{where: role}).check("mia", action, "whole") is expected


STOPPING = [(f"003 owner's context | stop asks the actor only | {row}", where) for row, where in SPACE.items()]


@rows("where", STOPPING)
def test_stop_asks_the_actor_only(where: str) -> None:
    assert prepared(**{where: "no role"}).check("mia", "stop", "whole")


def test_003_owners_context_stop_when_nothing_is_left() -> None:
    assert plant().actions("mia", "whole") == {"list", "open", "stop", "validate"}


# The other half: with an owner who has it all, the actor still needs Can operate, or to own the space.
ACTOR = """
action | owner | can_view | can_view_data | can_consume_data | can_manage | can_operate | can_edit | no role
run | ✓ | - | - | - | - | ✓ | - | -
resume | ✓ | - | - | - | - | ✓ | - | -
reload | ✓ | - | - | - | - | ✓ | - | -
prepare | ✓ | - | - | - | - | ✓ | - | -
stop | ✓ | - | - | - | - | ✓ | - | -
"""


def acting() -> Iterator[tuple[str, str, str, bool]]:
    for cell in cells(ACTOR):
        name = f"003 owner's context | the actor may do it | {cell.row} | {cell.column}"
        yield name, cell.row, cell.column, MARKS[cell.value]


@rows("action role expected", acting())
def test_the_actor_too(action: str, role: str, expected: bool) -> None:
    world = prepared()
    world.revoke("mia", "can_operate", "sales")
    if role in ROLES:
        world.grant("mia", role, "sales")
    assert world.check("mia", action, "whole") is expected


@rows("action", [(f"003 owner's context | the actor's own roles do not stand in | {action}", action)
                 for action in CONTEXT])  # fmt: skip
def test_the_actors_roles_do_not_stand_in(action: str) -> None:
    world = plant()
    for where in SPACE.values():
        for role in ROLES[1:]:
            world.grant("mia", role, where)
    assert not world.check("mia", action, "whole")


@rows("action", [(f"003 owner's context | the task's own owner is not asked | {action}", action)
                 for action in CONTEXT])  # fmt: skip
def test_the_tasks_owner_is_not_asked(action: str) -> None:
    # Ben owns the task and has no role anywhere; paul, who owns the project, has what is needed.
    assert prepared().check("mia", action, "whole")


@rows("who", [(f"003 owner's context | a tenant or security role does not stand in | {who}", who)
              for who in ("owner", "admin", "data_admin")])  # fmt: skip
def test_security_roles_do_not_stand_in(who: str) -> None:
    world = plant()
    world.grant(who, "owner", "crm")
    for action in CONTEXT:
        assert not world.check("mia", action, "whole")


def test_003_owners_context_a_new_project_owner_is_asked_instead() -> None:
    world = prepared()
    world.grant("ben", "owner", "crm")
    assert not world.check("mia", "run", "whole")
    world.grant("ben", "can_edit", "sales")
    for where in SUPPLYING:
        world.grant("ben", "can_manage", where)
    assert world.check("mia", "run", "whole")


def test_003_owners_context_roles_of_a_group_count() -> None:
    world = plant()
    world.group("engineers", "paul")
    world.grant("engineers", "can_edit", "sales")
    for where in SUPPLYING:
        world.grant("engineers", "can_consume_data", where)
    assert world.check("mia", "run", "whole")


def test_003_owners_context_every_connection_counts() -> None:
    world = prepared()
    space(world, "second", "zoe")
    world.add("spaces.connection", "more", space="second")
    world.add("spaces.task", "two", project="crm", sources=["shop", "more"])
    assert not world.check("mia", "run", "two")
    world.grant("paul", "can_consume_data", "second")
    assert world.check("mia", "run", "two")


def test_003_owners_context_a_task_that_uses_nothing_asks_the_project_space() -> None:
    world = sales()
    world.grant("mia", "can_operate", "sales")
    assert world.check("mia", "run", "load")
    world.revoke("paul", "can_edit", "sales")
    assert not world.check("mia", "run", "load")


def test_003_owners_context_who_owns_both_needs_nothing_else() -> None:
    world = sales()
    world.grant("olga", "owner", "crm")
    for action in (*CONTEXT, "stop"):
        assert world.check("olga", action, "load")
