"""Seed 000_e43d1ba18a15cdc7, Sharing: its sentences and two tables, in their order."""

from __future__ import annotations

import pytest

from lakehold.access.facts.records import Attribute
from lakehold.kit.errors import InvalidInputError
from tests.golden.marts_world import (
    ADMIN,
    BOTH,
    BU,
    FIRST_TOGGLE,
    KIND_OF,
    MAINTENANCE,
    NOT_SHARED,
    REPORTING,
    TU,
    USE,
    EntitlementCell,
    Sales,
    entitlement_cells,
    every_action,
    parse_actions,
)

FULL_OWNERS = [
    ("warehouse", "owner", TU),
    ("orders", "technical_owner", TU),
    ("sheet", "owner", TU),
    ("sheet", "owner", BU),
]
ADMINS = [("warehouse", "", ADMIN), ("orders", "", ADMIN), ("sheet", "", ADMIN)]
BUSINESS_OWNERS = [("orders", "business_owner", TU), ("orders", "business_owner", BU)]


@pytest.mark.parametrize("state", [NOT_SHARED, USE, MAINTENANCE, BOTH])
@pytest.mark.parametrize(("resource", "owner", "role"), FULL_OWNERS)
def test_sharing_does_not_concern_owners_in_full_control(resource: str, owner: str, role: str, state: str) -> None:
    """000 Sharing: full access whatever the settings (a summary: of owners whom the tables give full control)."""
    sales = Sales(role).owns(resource, owner).shared(resource, state)
    assert sales.may(resource) == every_action(KIND_OF[resource])


@pytest.mark.parametrize("state", [NOT_SHARED, USE, MAINTENANCE, BOTH])
@pytest.mark.parametrize("resource", ["warehouse", "orders", "sheet"])
def test_sharing_does_not_concern_project_admins(resource: str, state: str) -> None:
    """000 Sharing: nor does it bind a Project Admin."""
    assert Sales(ADMIN).shared(resource, state).may(resource) == every_action(KIND_OF[resource])


@pytest.mark.parametrize(
    ("resource", "first", "not_its_own"),
    [
        ("orders", "shared_for_reporting", "shared_for_use"),
        ("warehouse", "shared_for_use", "shared_for_reporting"),
        ("sheet", "shared_for_use", "shared_for_reporting"),
    ],
)
def test_the_names_of_the_toggles(resource: str, first: str, not_its_own: str) -> None:
    """000 Sharing: reporting on a Data Mart, use on Storage and Destination; maintenance on all three."""
    sales = Sales(ADMIN)
    assert sales.may_add(Attribute(resource, first, "true"))
    assert sales.may_add(Attribute(resource, "shared_for_maintenance", "true"))
    with pytest.raises(InvalidInputError):
        sales.may_add(Attribute(resource, not_its_own, "true"))


@pytest.mark.parametrize("resource", ["warehouse", "orders", "sheet"])
def test_the_toggles_are_independent(resource: str) -> None:
    """000 Sharing: turning one off leaves what the other one opens."""
    sales = Sales(TU).shared(resource, BOTH)
    sales.set(resource, shared_for_maintenance=False)
    assert sales.may(resource) == {"see", "use"}
    sales.set(resource, None, shared_for_maintenance=True, **{FIRST_TOGGLE[resource]: False})
    assert {"see", "use", "edit", "delete"} <= sales.may(resource)


# Table "State | What non-owners can do". Where an entity's own table differs, that one wins (access-models.md).
SEE_USE, SEE_USE_EDIT_DELETE = {"see", "use"}, {"see", "use", "edit", "delete"}
NON_OWNERS = [("warehouse", TU), ("orders", TU), ("sheet", TU), ("sheet", BU)]


@pytest.mark.parametrize(("resource", "role"), [*NON_OWNERS, ("warehouse", BU), ("orders", BU)])
def test_state_both_off_hides_from_non_owners(resource: str, role: str) -> None:
    """000 Sharing, states | Both toggles off: not visible."""
    assert Sales(role).shared(resource, NOT_SHARED).may(resource) == set()


@pytest.mark.parametrize(("resource", "owner", "role"), [*FULL_OWNERS, *BUSINESS_OWNERS, *ADMINS])
def test_state_both_off_shows_to_owners_and_admins(resource: str, owner: str, role: str) -> None:
    """000 Sharing, states | Both toggles off: only owners and Project Admins see it."""
    sales = Sales(role).shared(resource, NOT_SHARED)
    assert "see" in (sales.owns(resource, owner) if owner else sales).may(resource)


@pytest.mark.parametrize(("resource", "role"), [*NON_OWNERS, ("orders", BU)])
def test_state_first_on(resource: str, role: str) -> None:
    """000 Sharing, states | First toggle on, second off: see and use."""
    assert Sales(role).shared(resource, USE).may(resource) == SEE_USE


@pytest.mark.parametrize("role", [TU, BU])
def test_state_first_on_lets_one_build_reports(role: str) -> None:
    """000 Sharing, states | First toggle on, second off: for example a Report on the Data Mart."""
    sales = Sales(role).owns("sheet").shared("orders", REPORTING)
    assert sales.may_create("report", data_mart="orders", destination="sheet")


def test_state_first_on_lets_one_link_a_storage() -> None:
    """000 Sharing, states | First toggle on, second off: for example a Storage under one's own Data Mart."""
    sales = Sales(TU)
    assert not sales.may_create("data_mart", project="sales", storage="warehouse")
    assert sales.shared("warehouse", USE).may_create("data_mart", project="sales", storage="warehouse")


@pytest.mark.parametrize(("resource", "role"), NON_OWNERS)
@pytest.mark.parametrize("state", [MAINTENANCE, BOTH])
def test_state_second_on(state: str, resource: str, role: str) -> None:
    """000 Sharing, states | First toggle off, second on, and Both toggles on: see, use, edit and delete."""
    assert Sales(role).shared(resource, state).may(resource) >= SEE_USE_EDIT_DELETE


@pytest.mark.parametrize(
    ("resource", "state", "cell"),
    [
        ("orders", MAINTENANCE, "No access"),
        ("orders", BOTH, "See, Use"),
        ("warehouse", USE, "No access"),
        ("warehouse", MAINTENANCE, "No access"),
        ("warehouse", BOTH, "No access"),
    ],
)
def test_state_second_on_for_a_business_user(resource: str, state: str, cell: str) -> None:
    """000 Sharing, states, where the entity's table differs: Business Users on Data Marts and Storages."""
    assert Sales(BU).shared(resource, state).may(resource) == parse_actions(cell, KIND_OF[resource])


@pytest.mark.parametrize("kind", ["storage", "data_mart", "destination"])
@pytest.mark.parametrize("role", [TU, BU])
def test_new_resources_start_with_both_toggles_off(role: str, kind: str) -> None:
    """000 Sharing, note: what has just been made is not visible to others."""
    sales = Sales(role)
    sales.add(f"marts.{kind}", "fresh", project="sales")
    assert sales.may("fresh") == set()


# Table "Entity | Can configure sharing": who is named in the cell, and who therefore is not.
CONFIGURE = [
    ("Data Mart", "technical_owner", TU, True),
    ("Data Mart", "technical_owner", ADMIN, True),
    ("Data Mart", "", ADMIN, True),
    ("Data Mart", "technical_owner", BU, False),
    ("Data Mart", "business_owner", TU, False),
    ("Data Mart", "business_owner", BU, False),
    ("Data Mart", "", TU, False),
    ("Data Mart", "", BU, False),
    ("Storage", "owner", TU, True),
    ("Storage", "owner", ADMIN, True),
    ("Storage", "", ADMIN, True),
    ("Storage", "owner", BU, False),
    ("Storage", "", TU, False),
    ("Storage", "", BU, False),
    ("Destination", "owner", TU, True),
    ("Destination", "owner", BU, True),
    ("Destination", "owner", ADMIN, True),
    ("Destination", "", ADMIN, True),
    ("Destination", "", TU, False),
    ("Destination", "", BU, False),
]


@pytest.mark.parametrize("row", entitlement_cells("000 Can configure sharing", CONFIGURE), ids=str)
def test_can_configure_sharing(row: EntitlementCell) -> None:
    """000 Sharing, table "Can configure sharing": the action, and both toggles in both directions."""
    sales = row.sales()
    assert ("configure_sharing" in sales.may(row.resource)) == row.yes
    for toggle in (FIRST_TOGGLE[row.resource], "shared_for_maintenance"):
        assert sales.may_add(Attribute(row.resource, toggle, "false")) == row.yes
        assert sales.may_add(Attribute(row.resource, toggle, "true")) == row.yes
