"""Two products projects, in which tests give tenant, project and data product roles."""

from __future__ import annotations

from tests.world import World

TENANT_ROLES = ("owner", "admin", "editor", "viewer")


def products() -> World:
    """Project `people` with two data products, a source, a workflow and a destination; project `places` with one.

    `owner`, `admin`, `editor` and `viewer` hold these roles in the tenant. Mia and ben have none.
    """
    world = World()
    for role in TENANT_ROLES:
        world.grant(world.member(role), role, "acme")
    world.member("mia")
    world.member("ben")
    for project, *inside in (("people", "customers", "vendors"), ("places", "sites")):
        world.add("products.project", project, tenant="acme")
        for product in inside:
            world.add("products.product", product, project=project)
    for kind in ("source", "workflow", "destination"):
        world.add(f"products.{kind}", kind, project="people")
    return world


def with_role(role: str | None, where: str) -> World:
    """The same, and mia holds the role."""
    world = products()
    if role:
        world.grant("mia", role, where)
    return world
