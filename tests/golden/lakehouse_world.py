"""A lakehouse `lh` of two layers, with one pipeline of every kind, in which tests give levels."""

from __future__ import annotations

from lakehold.access.facts.records import Draft
from tests.world import World

LEVELS = {"Viewer": "viewer", "Editor": "editor", "Manager": "manager"}

# What the matrix calls source, query, notebook, history, destination, integration.
PIPELINES = ("source", "query", "notebook", "history", "destination", "integration")


def lakehouse() -> World:
    """Layers `bronze` (tables orders and items, volume files) and `gold` (table totals); mia and ben are Members.

    `owner` and `admin` hold these roles in the tenant. Pipelines are called by their kind.
    """
    world = World()
    world.add("lakehouse.lakehouse", "lh", tenant="acme")
    world.add("lakehouse.layer", "bronze", lakehouse="lh")
    world.add("lakehouse.layer", "gold", lakehouse="lh")
    world.add("lakehouse.table", "orders", layer="bronze")
    world.add("lakehouse.table", "items", layer="bronze")
    world.add("lakehouse.volume", "files", layer="bronze")
    world.add("lakehouse.table", "totals", layer="gold")
    for role in ("owner", "admin"):
        world.grant(world.member(role), role, "acme")
    for name in ("mia", "ben"):
        world.grant(world.member(name), "member", "lh")
    _add_pipelines(world)
    return world


def _add_pipelines(world: World) -> None:
    world.add("lakehouse.source", "source", lakehouse="lh", into="bronze")
    world.add("lakehouse.stream", "stream", source="source", writes="orders")
    for kind in ("query", "notebook", "history"):
        world.add(f"lakehouse.{kind}", kind, lakehouse="lh", reads=["orders", "files"], writes="items", into="bronze")
    for kind in ("destination", "integration"):
        world.add(f"lakehouse.{kind}", kind, lakehouse="lh", reads=["orders", "items"])


def new(kind: str, **edges: str | list[str]) -> Draft:
    """A pipeline that somebody would like to make in `lh`."""
    return Draft(f"lakehouse.{kind}", {"lakehouse": "lh", **edges})


def with_level(level: str | None, *places: str) -> World:
    """The same, and mia holds the level at these places."""
    world = lakehouse()
    for place in places if level else ():
        world.grant("mia", str(level), place)
    return world


def with_levels(**places: str) -> World:
    """The same, and mia holds at each place the level named for it."""
    world = lakehouse()
    for place, level in places.items():
        world.grant("mia", level, place)
    return world
