"""Whoever is removed, somebody may delete what they owned and give it a new owner."""

from __future__ import annotations

import pytest

from lakehold.access.facts.records import Add, Grant
from lakehold.workspaces import policy
from tests.world import World

POLICY = policy()
OWNED = {
    kind.id: role.name
    for kind in POLICY.kinds.values()
    for role in kind.schema.roles.values()
    if kind.schema.creator and kind.schema.roles[kind.schema.creator].person_only and role.person_only
}
PLACES = {
    "lakehouse.saved_query": {"lakehouse": "lake"},
    "marts.storage": {"project": "mart"},
    "marts.data_mart": {"project": "mart"},
    "marts.destination": {"project": "mart"},
    "marts.report": {"data_mart": "sales"},
    "spaces.space": {"tenant": "acme"},
    "spaces.project": {"space": "space"},
    "spaces.task": {"project": "crm"},
    "spaces.connection": {"space": "space"},
    "spaces.gateway": {"space": "space"},
    "spaces.app": {"space": "space"},
}

KEPT_CLOSED = {"spaces.task", "spaces.connection", "spaces.gateway"}
"""In a personal space they are never re-owned: who takes one over would see its data, or reach what it reaches."""


def orphaned(kind: str) -> World:
    """A resource of the kind, which Dana owned who was removed; her space, too."""
    world = World()
    for role in ("owner", "admin", "data_admin"):
        world.grant(world.member(role), role, "acme")
    world.member("erik")
    world.add("lakehouse.lakehouse", "lake", tenant="acme")
    world.add("marts.project", "mart", tenant="acme")
    world.add("marts.data_mart", "sales", project="mart")
    world.add("spaces.space", "space", tenant="acme")
    world.add("spaces.project", "crm", space="space")
    world.add(kind, "thing", **PLACES[kind])
    return world


def keepers(world: World, role: str, *members: str) -> list[str]:
    return [
        who
        for who in members
        if world.check(who, "delete", "thing") and world.decisions.check_change(who, Add(Grant("erik", role, "thing")))
    ]


def test_every_kind_that_is_owned_has_its_row() -> None:
    assert set(OWNED) == set(PLACES)


@pytest.mark.parametrize("kind", OWNED)
def test_what_a_removed_member_owned_is_deleted_and_re_owned_by_somebody(kind: str) -> None:
    assert keepers(orphaned(kind), OWNED[kind], "owner", "admin")


@pytest.mark.parametrize("kind", [kind for kind in OWNED if kind.startswith("spaces.")])
def test_so_it_is_in_a_personal_space_once_that_has_a_new_owner(kind: str) -> None:
    world = orphaned(kind)
    for space in ("space", "thing") if kind == "spaces.space" else ("space",):
        world.set(space, personal=True)
        assert world.decisions.check_change("data_admin", Add(Grant("erik", "owner", space)))
        world.grant("erik", "owner", space)
    assert world.check("erik", "delete", "thing") or world.check("data_admin", "delete", "thing")
    assert bool(keepers(world, "owner", "erik", "data_admin")) == (kind not in KEPT_CLOSED)
    if kind != "spaces.space":
        assert not world.actions("data_admin", "thing")
    if kind == "spaces.app":
        assert world.actions("erik", "thing") == {"see", "delete", "change_owner"}
