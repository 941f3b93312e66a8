"""Seed 000_e43d1ba18a15cdc7, Access by Entity: the tables Report and Report Trigger."""

from __future__ import annotations

import pytest

from lakehold.access.facts.records import Edge
from tests.golden.marts_world import (
    BOTH,
    BU,
    ENTIRE,
    MAINTENANCE,
    NO_OVERLAP,
    NOT_SHARED,
    OVERLAP,
    REPORTING,
    TU,
    Cell,
    Sales,
    Seat,
    cells,
    every_action,
)

TECHNICAL = {"orders": "technical_owner"}
BUSINESS = {"orders": "business_owner"}
OWNER = {"weekly": "owner"}
CONTROL = {"edit", "delete", "run", "manage_owners"}


def _on(state: str, role: str, owns: dict[str, str] | None = None, *, deleted: bool = False) -> Seat:
    return Seat(role, owns or {}, {"orders": state}, deleted)


MAINTAINS = "Has Data Mart maintenance access [1]"
OWNS = "Report Owner (Destination exists)"
OWNS_DELETED = "Report Owner (Destination deleted)"
SEES = "DM visible without maintenance access"

# Footnote [1] names three paths to maintenance access; each is a seat.
MAINTAINS_AS_OWNER = [_on(state, TU, TECHNICAL) for state in (NOT_SHARED, REPORTING, MAINTENANCE, BOTH)]
MAINTAINS_AS_BUSINESS_OWNER = [_on(MAINTENANCE, TU, BUSINESS), _on(BOTH, TU, BUSINESS)]
MAINTAINS_AS_NON_OWNER = [_on(MAINTENANCE, TU), _on(BOTH, TU)]
# access-models.md, marts, Reports: the owner's row is read with the mart shared for reporting.
OWNERS = [_on(REPORTING, BU, OWNER), _on(REPORTING, TU, OWNER)]
OWNERS_DELETED = [_on(REPORTING, BU, OWNER, deleted=True), _on(REPORTING, TU, OWNER, deleted=True)]
SEES_AS_OWNER = [
    _on(NOT_SHARED, BU, BUSINESS),
    _on(BOTH, BU, BUSINESS),
    _on(NOT_SHARED, BU, TECHNICAL),
    _on(BOTH, BU, TECHNICAL),
    _on(NOT_SHARED, TU, BUSINESS),
    _on(REPORTING, TU, BUSINESS),
]
SEES_AS_NON_OWNER = [_on(REPORTING, TU), _on(REPORTING, BU), _on(BOTH, BU)]

SEATS = {
    MAINTAINS: [*MAINTAINS_AS_OWNER, *MAINTAINS_AS_BUSINESS_OWNER, *MAINTAINS_AS_NON_OWNER],
    OWNS: OWNERS,
    OWNS_DELETED: OWNERS_DELETED,
    SEES: [*SEES_AS_OWNER, *SEES_AS_NON_OWNER],
}

REPORT_COLUMNS = ("Can see", "Can edit, delete, or run")
REPORT = {
    MAINTAINS: ["Yes", "Yes — for all Reports on that Data Mart"],
    OWNS: ["Yes", "Yes"],
    OWNS_DELETED: ["Yes", "No — read-only until Destination is restored or replaced"],
    SEES: ["Yes", "No"],
}
TRIGGER_COLUMNS = ("Can see", "Can manage (create, edit, delete)")
TRIGGER = {
    MAINTAINS: ["Yes", "Yes — for all Report Triggers on that Data Mart"],
    OWNS: ["Yes", "Yes — for own Report's triggers only"],
    OWNS_DELETED: ["Yes", "No"],
    SEES: ["Yes", "No"],
}

# Footnote [1] and "visible": the gate is inherited from the Data Mart, the floors are not gated.
NO_OVERLAP_SEATS = {
    "Maintenance as Technical Owner [1]": MAINTAINS_AS_OWNER,
    "Maintenance as Business Owner [1]": MAINTAINS_AS_BUSINESS_OWNER,
    "Maintenance as non-owner [1]": MAINTAINS_AS_NON_OWNER,
    OWNS_DELETED: OWNERS_DELETED,
    "Visible to a Data Mart owner": SEES_AS_OWNER,
    "Visible to a non-owner": SEES_AS_NON_OWNER,
}
REPORT_NO_OVERLAP = {
    "Maintenance as Technical Owner [1]": ["Yes", "Yes"],
    "Maintenance as Business Owner [1]": ["Yes", "No"],
    "Maintenance as non-owner [1]": ["No", "No"],
    OWNS_DELETED: ["Yes", "No"],
    "Visible to a Data Mart owner": ["Yes", "No"],
    "Visible to a non-owner": ["No", "No"],
}

CELLS = [
    *cells("000 Report", SEATS, REPORT_COLUMNS, REPORT, ENTIRE, OVERLAP),
    *cells("000 Report", NO_OVERLAP_SEATS, REPORT_COLUMNS, REPORT_NO_OVERLAP, NO_OVERLAP),
]
TRIGGER_NO_OVERLAP = {**REPORT_NO_OVERLAP, OWNS: ["Yes", "Yes"]}
TRIGGER_CELLS = [
    *cells("000 Report Trigger", SEATS, TRIGGER_COLUMNS, TRIGGER, ENTIRE, OVERLAP),
    *cells("000 Report Trigger", {**NO_OVERLAP_SEATS, OWNS: OWNERS}, TRIGGER_COLUMNS, TRIGGER_NO_OVERLAP, NO_OVERLAP),
]


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_report(cell: Cell) -> None:
    may = cell.seat.sales(cell.scope).may("weekly")
    if cell.column == "Can see":
        assert ("see" in may) == cell.yes
    else:
        assert may - {"see"} == (CONTROL if cell.yes else set())


@pytest.mark.parametrize("cell", TRIGGER_CELLS, ids=str)
def test_report_trigger(cell: Cell) -> None:
    sales = cell.seat.sales(cell.scope)
    if cell.column == "Can see":
        assert ("see" in sales.may("monday")) == cell.yes
    else:
        assert ("manage" in sales.may("monday")) == cell.yes
        assert sales.may_create("report_trigger", report="weekly") == cell.yes


def test_a_report_owner_out_of_context_keeps_all_but_run() -> None:
    """000 Report | Report Owner (Destination exists), no overlap: the gate closes use on the mart, so run alone."""
    sales = _on(REPORTING, BU, OWNER).sales(NO_OVERLAP)
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


@pytest.mark.parametrize("seat", SEATS[MAINTAINS], ids=str)
def test_maintenance_access_reaches_all_reports_of_the_mart(seat: Seat) -> None:
    """000 Report and Report Trigger | Has Data Mart maintenance access: for all of that Data Mart."""
    sales = _two_reports(seat.sales())
    assert sales.may("weekly") == sales.may("monthly") == every_action("report")
    assert sales.may("monday") == sales.may("first") == {"see", "manage"}


@pytest.mark.parametrize("seat", SEATS[MAINTAINS], ids=str)
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
    sales = _on(REPORTING, role, OWNER).sales()
    assert sales.may("weekly") == every_action("report")
    assert sales.deleted().may("weekly") == {"see"}
    assert sales.may("monday") == {"see"}
    sales.set("sheet", deleted=False)
    assert sales.may("weekly") == every_action("report")


@pytest.mark.parametrize("role", [TU, BU])
def test_a_deleted_destination_makes_the_report_read_only_until_replaced(role: str) -> None:
    """000 Report | Report Owner (Destination deleted): replacing the Destination unlocks too."""
    sales = _on(REPORTING, role, OWNER, deleted=True).sales()
    sales.add("marts.destination", "bucket", project="sales")
    sales.fact(Edge("destination", "weekly", "bucket"))
    assert sales.may("weekly") == every_action("report")


@pytest.mark.parametrize("seat", SEATS[MAINTAINS], ids=str)
def test_maintenance_access_does_not_need_the_destination(seat: Seat) -> None:
    """000 Report | Has Data Mart maintenance access: a deleted Destination locks the Report's owner only."""
    assert seat.sales().deleted().may("weekly") == every_action("report")
