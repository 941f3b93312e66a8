"""Seed 000_e43d1ba18a15cdc7, Permission Model: its sentences, in their order."""

from __future__ import annotations

import pytest

from tests.golden.marts_world import (
    ADMIN,
    BOTH,
    BU,
    ENTIRE,
    KIND_OF,
    MAINTENANCE,
    NO_OVERLAP,
    NOT_SHARED,
    OVERLAP,
    REPORTING,
    SCOPES,
    TOGGLES,
    TU,
    USE,
    Sales,
    Seat,
    every_action,
    parse_actions,
)

MAINTAIN = "See, Use, Copy Credentials, Edit, Delete"
MAINTAIN_MART = "See, Use, Edit, Delete, Manage Triggers"


def test_the_role_is_a_factor() -> None:
    """000 Permission Model, list 1: the same Data Mart, by role."""
    assert Sales(ADMIN).shared("orders", MAINTENANCE).may("orders") == every_action("data_mart")
    assert Sales(TU).shared("orders", MAINTENANCE).may("orders") == parse_actions(MAINTAIN_MART, "data_mart")
    assert Sales(BU).shared("orders", MAINTENANCE).may("orders") == set()


def test_ownership_is_a_factor() -> None:
    """000 Permission Model, list 2: the same Data Mart, by ownership."""
    assert Sales(TU).owns("orders", "technical_owner").may("orders") == every_action("data_mart")
    assert Sales(TU).owns("orders", "business_owner").may("orders") == {"see", "use"}
    assert Sales(TU).owns("sheet").may("sheet") == every_action("destination")
    assert Sales(TU).may("orders") == Sales(TU).may("sheet") == set()


def test_the_toggles_are_a_factor() -> None:
    """000 Permission Model, list 3: the same member, by toggles."""
    assert Sales(TU).shared("warehouse", USE).may("warehouse") == {"see", "use"}
    assert Sales(TU).shared("orders", REPORTING).may("orders") == {"see", "use"}
    assert Sales(TU).shared("warehouse", MAINTENANCE).may("warehouse") == parse_actions(MAINTAIN, "storage")


def test_scope_and_contexts_are_a_factor() -> None:
    """000 Permission Model, list 4: for non-owners with Selected contexts only."""
    assert Sales(TU, ENTIRE).shared("orders", REPORTING).may("orders") == {"see", "use"}
    assert Sales(TU, OVERLAP).shared("orders", REPORTING).may("orders") == {"see", "use"}
    assert Sales(TU, NO_OVERLAP).shared("orders", REPORTING).may("orders") == set()


def test_permissions_are_additive() -> None:
    """000 Permission Model: of several valid paths the member gets the union."""
    by_ownership = Sales(TU).owns("sheet").shared("sheet", NOT_SHARED)
    by_sharing = Sales(TU).shared("orders", MAINTENANCE)
    both = Sales(TU).owns("orders", "business_owner").shared("orders", MAINTENANCE)
    assert by_ownership.may("sheet") == every_action("destination")
    assert by_sharing.may("orders") == both.may("orders") == {"see", "use", "edit", "delete", "manage_triggers"}


NEVER_REDUCES = [
    ("warehouse", "owner", Seat(TU, {}, {"warehouse": NOT_SHARED}), "No access", "All actions"),
    ("warehouse", "owner", Seat(TU, {}, {"warehouse": USE}), "See, Use", "All actions"),
    ("warehouse", "owner", Seat(TU, {}, {"warehouse": MAINTENANCE}), MAINTAIN, "All actions"),
    ("warehouse", "owner", Seat(BU, {}, {"warehouse": BOTH}), "No access", "No access"),
    ("orders", "technical_owner", Seat(TU, {}, {"orders": MAINTENANCE}), MAINTAIN_MART, "All actions"),
    ("orders", "technical_owner", Seat(BU, {}, {"orders": REPORTING}), "See, Use", "See, Use"),
    ("orders", "technical_owner", Seat(BU, {}, {"orders": MAINTENANCE}), "No access", "See, Use"),
    ("orders", "business_owner", Seat(TU, {}, {"orders": NOT_SHARED}), "No access", "See, Use"),
    ("orders", "business_owner", Seat(TU, {}, {"orders": REPORTING}), "See, Use", "See, Use"),
    ("orders", "business_owner", Seat(TU, {}, {"orders": MAINTENANCE}), MAINTAIN_MART, MAINTAIN_MART),
    ("orders", "business_owner", Seat(TU, {}, {"orders": BOTH}), MAINTAIN_MART, MAINTAIN_MART),
    ("orders", "business_owner", Seat(BU, {}, {"orders": REPORTING}), "See, Use", "See, Use"),
    ("orders", "business_owner", Seat(BU, {}, {"orders": MAINTENANCE}), "No access", "See, Use"),
    ("sheet", "owner", Seat(TU, {}, {"sheet": MAINTENANCE}), MAINTAIN, "All actions"),
    ("sheet", "owner", Seat(BU, {}, {"sheet": USE}), "See, Use", "All actions"),
    ("sheet", "owner", Seat(BU, {}, {"sheet": MAINTENANCE}), MAINTAIN, "All actions"),
]


@pytest.mark.parametrize(("resource", "owner", "seat", "before", "after"), NEVER_REDUCES, ids=str)
def test_ownership_only_adds(resource: str, owner: str, seat: Seat, before: str, after: str) -> None:
    """000 Permission Model: becoming an owner never takes away what the member could do before."""
    kind, sales = KIND_OF[resource], seat.sales()
    assert sales.may(resource) == parse_actions(before, kind)
    assert sales.owns(resource, owner).may(resource) == parse_actions(after, kind)


@pytest.mark.parametrize("role", [TU, BU])
@pytest.mark.parametrize("owner", ["technical_owner", "business_owner"])
def test_ownership_implies_visibility(owner: str, role: str) -> None:
    """000 Permission Model, ownership floor: see and use at least, past the context gate and with nothing shared."""
    assert {"see", "use"} <= Sales(role, NO_OVERLAP).owns("orders", owner).may("orders")


@pytest.mark.parametrize("role", [TU, BU])
def test_a_business_owner_is_guaranteed_see_and_use(role: str) -> None:
    """000 Permission Model, ownership floor: exactly see and use for a Business Owner out of context."""
    assert Sales(role, NO_OVERLAP).owns("orders", "business_owner").may("orders") == {"see", "use"}


def test_the_non_owner_path_of_a_technical_user() -> None:
    """000 Permission Model, non-owner sharing path: shared for maintenance lets one edit, delete, manage triggers."""
    assert {"edit", "delete", "manage_triggers"} <= Sales(TU).shared("orders", MAINTENANCE).may("orders")


@pytest.mark.parametrize("owner", ["", "business_owner"])
def test_the_non_owner_path_is_gated_even_for_owners(owner: str) -> None:
    """000 Permission Model, non-owner sharing path: without overlap only the floor is left to an owner."""
    sales = Sales(TU, NO_OVERLAP).shared("orders", BOTH)
    left = sales.owns("orders", owner).may("orders") if owner else sales.may("orders")
    assert left == ({"see", "use"} if owner else set())


def test_owning_one_resource_does_not_lift_the_gate_of_another() -> None:
    """000 Permission Model, non-owner sharing path: the restriction stays where one is not the owner."""
    sales = Sales(TU, NO_OVERLAP).owns("warehouse").owns("sheet").shared("orders", BOTH)
    assert sales.may("orders") == set()


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("state", [NOT_SHARED, REPORTING, MAINTENANCE, BOTH])
@pytest.mark.parametrize("owner", ["technical_owner", "business_owner"])
def test_role_gate_on_data_marts(owner: str, state: str, scope: str) -> None:
    """000 Permission Model, role gate: a Business User never maintains a Data Mart, not even as its owner."""
    assert Sales(BU, scope).owns("orders", owner).shared("orders", state).may("orders") == {"see", "use"}


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("state", [NOT_SHARED, USE, MAINTENANCE, BOTH])
def test_role_gate_on_storages(state: str, scope: str) -> None:
    """000 Permission Model, role gate: nor a Storage."""
    assert Sales(BU, scope).owns("warehouse").shared("warehouse", state).may("warehouse") == set()


@pytest.mark.parametrize("role", [TU, BU])
@pytest.mark.parametrize("resource", ["warehouse", "orders", "sheet"])
def test_sharing_gate_for_non_owners(resource: str, role: str) -> None:
    """000 Permission Model, sharing gate: a non-owner gets what the toggles open, so nothing with both off."""
    assert Sales(role).shared(resource, NOT_SHARED).may(resource) == set()


@pytest.mark.parametrize(
    ("resource", "owner", "role"),
    [
        ("warehouse", "owner", TU),
        ("orders", "technical_owner", TU),
        ("orders", "technical_owner", BU),
        ("orders", "business_owner", TU),
        ("orders", "business_owner", BU),
        ("sheet", "owner", TU),
        ("sheet", "owner", BU),
    ],
)
def test_sharing_gate_for_owners(resource: str, owner: str, role: str) -> None:
    """000 Permission Model, sharing gate: ownership guarantees see and use with nothing shared."""
    assert {"see", "use"} <= Sales(role).owns(resource, owner).shared(resource, NOT_SHARED).may(resource)


@pytest.mark.parametrize(
    ("resource", "role"), [("warehouse", TU), ("orders", TU), ("orders", BU), ("sheet", TU), ("sheet", BU)]
)
def test_context_gate(resource: str, role: str) -> None:
    """000 Permission Model, context gate: under Selected contexts only at least one context must be shared."""
    assert "see" in Sales(role, ENTIRE).shared(resource, BOTH).may(resource)
    assert "see" in Sales(role, OVERLAP).shared(resource, BOTH).may(resource)
    assert Sales(role, NO_OVERLAP).shared(resource, BOTH).may(resource) == set()


@pytest.mark.parametrize("resource", ["warehouse", "orders", "sheet"])
def test_one_overlapping_context_of_many_is_enough(resource: str) -> None:
    """000 Permission Model, context gate: one in common is enough."""
    sales = Sales(TU, NO_OVERLAP).shared(resource, BOTH)
    sales.grant("ann", "holder", "north")
    assert "see" in sales.may(resource)


RESERVED = {"configure_sharing", "manage_owners"}


@pytest.mark.parametrize("state", TOGGLES)
@pytest.mark.parametrize("role", [TU, BU])
@pytest.mark.parametrize("resource", ["warehouse", "orders", "sheet"])
def test_owner_only_actions_never_come_by_sharing(resource: str, role: str, state: str) -> None:
    """000 Permission Model, owner-only actions: no toggle gives Configure Sharing or Manage Owners."""
    assert not RESERVED & Sales(role).shared(resource, state).may(resource)


@pytest.mark.parametrize(
    ("resource", "owner", "role", "reserved"),
    [
        ("warehouse", "owner", TU, RESERVED),
        ("warehouse", "owner", BU, set()),
        ("warehouse", "owner", ADMIN, RESERVED),
        ("orders", "technical_owner", TU, RESERVED),
        ("orders", "technical_owner", BU, set()),
        ("orders", "technical_owner", ADMIN, RESERVED),
        ("orders", "business_owner", TU, set()),
        ("orders", "business_owner", BU, set()),
    ],
)
def test_owner_only_actions(resource: str, owner: str, role: str, reserved: set[str]) -> None:
    """000 Permission Model, owner-only actions: a (Technical) Owner who is a Technical User, or a Project Admin."""
    assert RESERVED & Sales(role).owns(resource, owner).shared(resource, BOTH).may(resource) == reserved


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("resource", KIND_OF)
def test_project_admins_bypass_all_of_it(resource: str, scope: str) -> None:
    """000 Permission Model, last line: full access to every resource, shared or not, in context or not."""
    assert Sales(ADMIN, scope).may(resource) == every_action(KIND_OF[resource])
