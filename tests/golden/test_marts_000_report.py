"""Seed 000_e43d1ba18a15cdc7, Access by Entity: the tables Report and Report Trigger."""

from __future__ import annotations

import pytest

from lakehold.access.facts.records import Edge
from tests.golden.marts_000 import MAINTAINS, REPORT_OWNER, REPORT_ROWS, REPORT_SEATS, REPORT_TRIGGER_ROWS, on
from tests.golden.marts_world import (
    BU,
    MAINTENANCE,
    NO_OVERLAP,
    NOT_SHARED,
    REPORTING,
    TU,
    Row,
    Sales,
    Seat,
    every_action,
)

CONTROL = {"edit", "delete", "run", "manage_owners"}


@pytest.mark.parametrize("row", REPORT_ROWS, ids=str)
def test_report(row: Row) -> None:
    may = row.seat.sales(row.scope).may("weekly")
    assert ("see" in may) == row.can_see
    assert may - {"see"} == (CONTROL if row.can_more else set())


@pytest.mark.parametrize("row", REPORT_TRIGGER_ROWS, ids=str)
def test_report_trigger(row: Row) -> None:
    sales = row.seat.sales(row.scope)
    assert ("see" in sales.may("monday")) == row.can_see
    assert ("manage" in sales.may("monday")) == row.can_more
    assert sales.may_create("report_trigger", report="weekly") == row.can_more


def test_a_report_owner_out_of_context_keeps_all_but_run() -> None:
    """000 Report | Report Owner (Destination exists), no overlap: the gate closes use on the mart, so run alone."""
    sales = on(REPORTING, BU, REPORT_OWNER).sales(NO_OVERLAP)
    assert sales.may("weekly") == {"see", "edit", "delete", "manage_owners"}


def test_reports_have_no_sharing_settings() -> None:
    """000 Report: a Report has no toggles."""
    assert not Sales().view.policy.kind("marts.report").schema.attributes


def _two_reports(sales: Sales) -> Sales:
    sales.add("marts.report", "monthly", data_mart="orders", destination="sheet")
    sales.add("marts.report_trigger", "first", report="monthly")
    return sales


@pytest.mark.parametrize("role", [TU, BU])
def test_who_sees_a_mart_sees_all_its_reports(role: str) -> None:
    """000 Report: visibility follows the parent Data Mart, for every Report built on it."""
    sales = _two_reports(Sales(role).shared("orders", REPORTING))
    assert sales.may("weekly") == sales.may("monthly") == {"see"}


@pytest.mark.parametrize("state", [NOT_SHARED, MAINTENANCE])
def test_who_does_not_see_a_mart_sees_none_of_its_reports(state: str) -> None:
    """000 Report: without the Data Mart in sight, no Report is."""
    sales = _two_reports(Sales(BU).shared("orders", state))
    assert sales.may("weekly") == sales.may("monthly") == sales.may("monday") == set()


@pytest.mark.parametrize("seat", REPORT_SEATS[MAINTAINS], ids=str)
def test_maintenance_access_reaches_all_reports_of_the_mart(seat: Seat) -> None:
    """000 Report and Report Trigger | Has Data Mart maintenance access: for all of that Data Mart."""
    sales = _two_reports(seat.sales())
    assert sales.may("weekly") == sales.may("monthly") == every_action("report")
    assert sales.may("monday") == sales.may("first") == {"see", "manage"}


@pytest.mark.parametrize("seat", REPORT_SEATS[MAINTAINS], ids=str)
def test_maintenance_access_stops_at_the_mart(seat: Seat) -> None:
    """000 Report | Has Data Mart maintenance access: of that Data Mart, not of others."""
    sales = seat.sales()
    sales.add("marts.data_mart", "returns", project="sales", storage="warehouse")
    sales.add("marts.report", "other", data_mart="returns", destination="sheet")
    assert sales.may("other") == set()


@pytest.mark.parametrize("role", [TU, BU])
def test_a_report_owner_manages_triggers_of_their_own_report_only(role: str) -> None:
    """000 Report Trigger | Report Owner (Destination exists): own Report's triggers only."""
    sales = _two_reports(Sales(role).shared("orders", REPORTING).owns("weekly"))
    assert sales.may("monday") == {"see", "manage"}
    assert sales.may("first") == {"see"}
    assert not sales.may_create("report_trigger", report="monthly")


@pytest.mark.parametrize("role", [TU, BU])
def test_a_deleted_destination_makes_the_report_read_only_until_restored(role: str) -> None:
    """000 Report, note: the owner edits, deletes and runs only while the Destination exists."""
    sales = on(REPORTING, role, REPORT_OWNER).sales()
    assert sales.may("weekly") == every_action("report")
    assert sales.deleted().may("weekly") == {"see"}
    assert sales.may("monday") == {"see"}
    sales.set("sheet", deleted=False)
    assert sales.may("weekly") == every_action("report")


@pytest.mark.parametrize("role", [TU, BU])
def test_a_deleted_destination_makes_the_report_read_only_until_replaced(role: str) -> None:
    """000 Report | Report Owner (Destination deleted): replacing the Destination unlocks too."""
    sales = on(REPORTING, role, REPORT_OWNER, deleted=True).sales()
    sales.add("marts.destination", "bucket", project="sales")
    sales.fact(Edge("destination", "weekly", "bucket"))
    assert sales.may("weekly") == every_action("report")


@pytest.mark.parametrize("seat", REPORT_SEATS[MAINTAINS], ids=str)
def test_maintenance_access_does_not_need_the_destination(seat: Seat) -> None:
    """000 Report | Has Data Mart maintenance access: a deleted Destination locks the Report's owner only."""
    assert seat.sales().deleted().may("weekly") == every_action("report")
