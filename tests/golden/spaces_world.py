"""A data space `sales` with a project, a task, a connection, a gateway and an app, in which tests give roles."""

from __future__ import annotations

from tests.world import World

# The seed's columns, in its order; Can view data has none there and is in access-models.md only.
COLUMNS = {
    "Is owner": "owner",
    "Can view": "can_view",
    "Can consume data": "can_consume_data",
    "Can manage": "can_manage",
    "Can operate": "can_operate",
    "Can edit": "can_edit",
}
ROLES = ("owner", "can_view", "can_view_data", "can_consume_data", "can_manage", "can_operate", "can_edit")

SECURITY = {"Tenant admin": "admin", "Data admin": "data_admin", "Data space creator": "data_space_creator"}


def sales() -> World:
    """Olga owns the space; paul owns what is in it and holds Can edit, so that tasks run. Mia has nothing yet.

    Askers with a tenant or security role are called by it.
    """
    world = World()
    for name in ("olga", "paul", "mia", "ben"):
        world.member(name)
    for role in ("owner", "admin", "editor", "viewer", "data_admin", "data_space_creator"):
        world.grant(world.member(role), role, "acme")
    space(world, "sales", "olga")
    world.grant("paul", "can_edit", "sales")
    world.add("spaces.project", "crm", space="sales")
    world.add("spaces.task", "load", project="crm")
    world.add("spaces.connection", "erp", space="sales")
    world.add("spaces.gateway", "edge", space="sales")
    for uid in ("crm", "load", "erp", "edge"):
        world.grant("paul", "owner", uid)
    return world


def space(world: World, uid: str, owner: str) -> str:
    """Another data space."""
    world.add("spaces.space", uid, tenant="acme")
    world.grant(owner, "owner", uid)
    return uid


def holding(*roles: str) -> World:
    """The same, and mia holds these roles in `sales`; as owner she takes olga's place."""
    world = sales()
    for role in roles:
        world.grant("mia", role, "sales")
    return world
