"""Seed 000_e43d1ba18a15cdc7, Access by Entity: the tables Data Mart and Data Mart Trigger."""

from __future__ import annotations

import pytest

from tests.golden.marts_000 import DATA_MART_CELLS, DATA_MART_TRIGGER_ROWS
from tests.golden.marts_world import BU, MAINTENANCE, NOT_SHARED, SCOPES, Cell, Row, Sales, parse_actions


@pytest.mark.parametrize("cell", DATA_MART_CELLS, ids=str)
def test_data_mart(cell: Cell) -> None:
    sales = cell.seat.sales(cell.scope).shared("orders", cell.column)
    assert sales.may("orders") == parse_actions(cell.says, "data_mart")


@pytest.mark.parametrize("scope", SCOPES)
def test_maintenance_is_reserved_for_technical_users(scope: str) -> None:
    """000 Data Mart, note: shared for maintenance opens nothing to Business Users who are not owners."""
    assert Sales(BU, scope).shared("orders", MAINTENANCE).may("orders") == set()


@pytest.mark.parametrize("row", DATA_MART_TRIGGER_ROWS, ids=str)
def test_data_mart_trigger(row: Row) -> None:
    sales = row.seat.sales(row.scope)
    assert ("see" in sales.may("nightly")) == row.can_see
    assert ("manage" in sales.may("nightly")) == row.can_more
    assert sales.may_create("data_mart_trigger", data_mart="orders") == row.can_more


@pytest.mark.parametrize("kind", ["data_mart_trigger", "report_trigger"])
def test_triggers_have_no_owners(kind: str) -> None:
    """000 Data Mart Trigger and Report Trigger: no dedicated ownership."""
    assert not Sales().view.policy.kind(f"marts.{kind}").schema.roles


@pytest.mark.parametrize("state", [NOT_SHARED, MAINTENANCE])
def test_an_invisible_mart_hides_its_triggers(state: str) -> None:
    """000 Data Mart Trigger: who can see them follows the parent, so not from a mart that is out of sight."""
    assert Sales(BU).shared("orders", state).may("nightly") == set()
