"""Seed 000_e43d1ba18a15cdc7, Access by Entity: the table Destination."""

from __future__ import annotations

import pytest

from tests.golden.marts_world import (
    ADMIN,
    BOTH,
    BU,
    ENTIRE,
    MAINTENANCE,
    NO_OVERLAP,
    NOT_SHARED,
    OVERLAP,
    TU,
    USE,
    Cell,
    Sales,
    Seat,
    cells,
    every_action,
    named,
)

COLUMNS = (NOT_SHARED, USE, MAINTENANCE, BOTH)
OWNER = {"sheet": "owner"}

SEATS = {
    "Owner (any role)": [Seat(BU, OWNER), Seat(TU, OWNER), Seat(ADMIN, OWNER)],
    "Non-owner Technical User": [Seat(TU)],
    "Non-owner Business User": [Seat(BU)],
}

MAINTAIN = "See, Use, Copy Credentials, Edit, Delete"
DESTINATION = {
    "Owner (any role)": ["All actions", "All actions", "All actions", "All actions"],
    "Non-owner Technical User": ["No access", "See, Use", MAINTAIN, MAINTAIN],
    "Non-owner Business User": ["No access", "See, Use", MAINTAIN, MAINTAIN],
}
# Permission Model: the non-owner path is behind the context gate, the ownership floor is not.
DESTINATION_NO_OVERLAP = {
    "Owner (any role)": ["All actions", "All actions", "All actions", "All actions"],
    "Non-owner Technical User": ["No access", "No access", "No access", "No access"],
    "Non-owner Business User": ["No access", "No access", "No access", "No access"],
}

CELLS = [
    *cells("000 Destination", SEATS, COLUMNS, DESTINATION, ENTIRE, OVERLAP),
    *cells("000 Destination", SEATS, COLUMNS, DESTINATION_NO_OVERLAP, NO_OVERLAP),
]


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_destination(cell: Cell) -> None:
    sales = cell.seat.sales(cell.scope).shared("sheet", cell.column)
    assert sales.may("sheet") == named(cell.says, "destination")


def test_a_business_user_manages_their_destination_completely() -> None:
    """000 Destination: the owner has full control whatever their role is."""
    sales = Sales(BU)
    assert sales.may_create("destination", project="sales")
    assert sales.owns("sheet").may("sheet") == every_action("destination")
