"""Seed 000_e43d1ba18a15cdc7, Access by Entity: the table Storage."""

from __future__ import annotations

import pytest

from tests.golden.marts_000 import STORAGE_CELLS, STORAGE_COLUMNS
from tests.golden.marts_world import BU, SCOPES, Cell, Sales, parse_actions


@pytest.mark.parametrize("cell", STORAGE_CELLS, ids=str)
def test_storage(cell: Cell) -> None:
    sales = cell.seat.sales(cell.scope).shared("warehouse", cell.column)
    assert sales.may("warehouse") == parse_actions(cell.says, "storage")


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("state", STORAGE_COLUMNS)
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
