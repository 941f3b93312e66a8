"""A tenant with one workspace of each of the four kinds, and a member for each tenant and security role."""

from __future__ import annotations

from tests.world import World

TENANT_ROLES = ("owner", "admin", "editor", "viewer")
SECURITY_ROLES = ("data_admin", "data_space_creator")


def tenant() -> World:
    """Members are called by their role; `member` has none. Zoe made the four workspaces and owns the space."""
    world = World()
    for role in (*TENANT_ROLES, *SECURITY_ROLES):
        world.grant(world.member(role), role, "acme")
    world.member("member")
    world.member("zoe")
    _marts(world)
    _lakehouse(world)
    _spaces(world)
    world.add("products.project", "people", tenant="acme")
    world.add("products.product", "customers", project="people")
    return world


def _marts(world: World) -> None:
    world.add("marts.project", "ads", tenant="acme")
    world.add("marts.storage", "storage", project="ads")
    world.add("marts.data_mart", "mart", project="ads", storage="storage")


def _lakehouse(world: World) -> None:
    world.add("lakehouse.lakehouse", "lh", tenant="acme")
    world.add("lakehouse.layer", "bronze", lakehouse="lh")
    world.add("lakehouse.table", "orders", layer="bronze")


def _spaces(world: World) -> None:
    world.add("spaces.space", "sales", tenant="acme")
    world.grant("zoe", "owner", "sales")
    world.add("spaces.project", "crm", space="sales")
    world.add("spaces.task", "load", project="crm")
    world.add("spaces.connection", "erp", space="sales")
    for uid in ("crm", "load", "erp"):
        world.grant("zoe", "owner", uid)
