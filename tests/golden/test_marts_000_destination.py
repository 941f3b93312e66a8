"""Seed 000_e43d1ba18a15cdc7, Access by Entity: the table Destination."""

from __future__ import annotations

import pytest

from tests.golden.marts_000 import DESTINATION_CELLS
from tests.golden.marts_world import BU, Cell, Sales, every_action, parse_actions


@pytest.mark.parametrize("cell", DESTINATION_CELLS, ids=str)
def test_destination(cell: Cell) -> None:
    sales = cell.seat.sales(cell.scope).shared("sheet", cell.column)
    assert sales.may("sheet") == parse_actions(cell.says, "destination")


def test_a_business_user_manages_their_destination_completely() -> None:
    """000 Destination: the owner has full control whatever their role is."""
    sales = Sales(BU)
    assert sales.may_create("destination", project="sales")
    assert sales.owns("sheet").may("sheet") == every_action("destination")
