"""Seed 000_e43d1ba18a15cdc7, Access by Entity: the table Storage."""

from __future__ import annotations

import pytest

from tests.golden.marts_world import (
    BOTH,
    BU,
    ENTIRE,
    MAINTENANCE,
    NO_OVERLAP,
    NOT_SHARED,
    OVERLAP,
    SCOPES,
    TU,
    USE,
    Cell,
    Sales,
    Seat,
    cells,
    named,
)

COLUMNS = (NOT_SHARED, USE, MAINTENANCE, BOTH)
OWNER = {"warehouse": "owner"}

SEATS = {
    "Owner (Technical User)": [Seat(TU, OWNER)],
    "Non-owner Technical User": [Seat(TU)],
    "Any Business User": [Seat(BU), Seat(BU, OWNER)],
}

MAINTAIN = "See, Use, Copy Credentials, Edit, Delete"
STORAGE = {
    "Owner (Technical User)": ["All actions", "All actions", "All actions", "All actions"],
    "Non-owner Technical User": ["No access", "See, Use", MAINTAIN, MAINTAIN],
    "Any Business User": ["No access", "No access", "No access", "No access"],
}
# Permission Model: the non-owner path is behind the context gate, the ownership floor is not.
STORAGE_NO_OVERLAP = {
    "Owner (Technical User)": ["All actions", "All actions", "All actions", "All actions"],
    "Non-owner Technical User": ["No access", "No access", "No access", "No access"],
    "Any Business User": ["No access", "No access", "No access", "No access"],
}

CELLS = [
    *cells("000 Storage", SEATS, COLUMNS, STORAGE, ENTIRE, OVERLAP),
    *cells("000 Storage", SEATS, COLUMNS, STORAGE_NO_OVERLAP, NO_OVERLAP),
]


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_storage(cell: Cell) -> None:
    sales = cell.seat.sales(cell.scope).shared("warehouse", cell.column)
    assert sales.may("warehouse") == named(cell.says, "storage")


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("state", COLUMNS)
def test_business_users_have_no_direct_access_to_storages(state: str, scope: str) -> None:
    """000 Storage, note: Business Users do not reach a Storage however it is shared, owner or not."""
    sales = Sales(BU, scope).owns("warehouse").shared("warehouse", state)
    assert sales.may("warehouse") == set()


def test_business_users_work_through_what_is_shared_with_them() -> None:
    """000 Storage, note: Data Marts and Destinations shared with a Business User are open without the Storage."""
    sales = Sales(BU).shared("orders", "Shared for reporting").shared("sheet", "Shared for use")
    assert sales.may("warehouse") == set()
    assert sales.may("orders") == {"see", "use"}
    assert sales.may("sheet") == {"see", "use"}
