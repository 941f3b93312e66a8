"""Seed 000_e43d1ba18a15cdc7, Access by Entity: the tables Data Mart and Data Mart Trigger."""

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
    REPORTING,
    SCOPES,
    TU,
    Cell,
    Sales,
    Seat,
    cells,
    named,
)

COLUMNS = (NOT_SHARED, REPORTING, MAINTENANCE, BOTH)
TECHNICAL = {"orders": "technical_owner"}
BUSINESS = {"orders": "business_owner"}

SEATS = {
    "Technical Owner (Technical User)": [Seat(TU, TECHNICAL)],
    "Technical Owner (Business User)": [Seat(BU, TECHNICAL)],
    "Business Owner (Technical User)": [Seat(TU, BUSINESS)],
    "Business Owner (Business User)": [Seat(BU, BUSINESS)],
    "Non-owner Technical User": [Seat(TU)],
    "Non-owner Business User": [Seat(BU)],
}

VIA_1 = "See, Use; + Edit, Delete, Manage Triggers [1]"
MAINTAIN_2 = "See, Use, Edit, Delete, Manage Triggers [2]"
DATA_MART = {
    "Technical Owner (Technical User)": ["All actions", "All actions", "All actions", "All actions"],
    "Technical Owner (Business User)": ["See, Use", "See, Use", "See, Use", "See, Use"],
    "Business Owner (Technical User)": ["See, Use", "See, Use", VIA_1, VIA_1],
    "Business Owner (Business User)": ["See, Use", "See, Use", "See, Use", "See, Use"],
    "Non-owner Technical User": ["No access [2]", "See, Use [2]", MAINTAIN_2, MAINTAIN_2],
    "Non-owner Business User": ["No access [2]", "See, Use [2]", "No access [2]", "See, Use [2]"],
}
# Footnotes [1] and [2]: what is left of each cell under Selected contexts only without an overlap.
DATA_MART_NO_OVERLAP = {
    "Technical Owner (Technical User)": ["All actions", "All actions", "All actions", "All actions"],
    "Technical Owner (Business User)": ["See, Use", "See, Use", "See, Use", "See, Use"],
    "Business Owner (Technical User)": ["See, Use", "See, Use", "See, Use [1]", "See, Use [1]"],
    "Business Owner (Business User)": ["See, Use", "See, Use", "See, Use", "See, Use"],
    "Non-owner Technical User": ["No access [2]", "No access [2]", "No access [2]", "No access [2]"],
    "Non-owner Business User": ["No access [2]", "No access [2]", "No access [2]", "No access [2]"],
}

CELLS = [
    *cells("000 Data Mart", SEATS, COLUMNS, DATA_MART, ENTIRE, OVERLAP),
    *cells("000 Data Mart", SEATS, COLUMNS, DATA_MART_NO_OVERLAP, NO_OVERLAP),
]


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_data_mart(cell: Cell) -> None:
    sales = cell.seat.sales(cell.scope).shared("orders", cell.column)
    assert sales.may("orders") == named(cell.says, "data_mart")


@pytest.mark.parametrize("scope", SCOPES)
def test_maintenance_is_reserved_for_technical_users(scope: str) -> None:
    """000 Data Mart, note: shared for maintenance opens nothing to Business Users who are not owners."""
    assert Sales(BU, scope).shared("orders", MAINTENANCE).may("orders") == set()


def _on(state: str, role: str, owns: dict[str, str] | None = None) -> Seat:
    return Seat(role, owns or {}, {"orders": state})


OWNER_BU = "Business Owner (Business User) of parent Data Mart"
TRIGGER_SEATS = {
    "Technical Owner (Technical User)": [_on(state, TU, TECHNICAL) for state in COLUMNS],
    "Technical Owner (Business User)": [_on(state, BU, TECHNICAL) for state in COLUMNS],
    "Business Owner (Technical User) of parent Data Mart shared for maintenance": [
        _on(MAINTENANCE, TU, BUSINESS),
        _on(BOTH, TU, BUSINESS),
    ],
    "Business Owner (Technical User) of parent Data Mart not shared for maintenance": [
        _on(NOT_SHARED, TU, BUSINESS),
        _on(REPORTING, TU, BUSINESS),
    ],
    OWNER_BU: [_on(state, BU, BUSINESS) for state in COLUMNS],
    "Non-owner Technical User (DM shared for maintenance)": [_on(MAINTENANCE, TU), _on(BOTH, TU)],
    "Non-owner Technical User (DM shared for reporting only)": [_on(REPORTING, TU)],
    "Non-owner Business User (DM visible)": [_on(REPORTING, BU), _on(BOTH, BU)],
}

TRIGGER_COLUMNS = ("Can see", "Can manage (create, edit, delete)")
TRIGGER = {
    "Technical Owner (Technical User)": ["Yes", "Yes"],
    "Technical Owner (Business User)": ["Yes", "No"],
    "Business Owner (Technical User) of parent Data Mart shared for maintenance": ["Yes", "Yes [1]"],
    "Business Owner (Technical User) of parent Data Mart not shared for maintenance": ["Yes", "No"],
    OWNER_BU: ["Yes", "No"],
    "Non-owner Technical User (DM shared for maintenance)": ["Yes [2]", "Yes [2]"],
    "Non-owner Technical User (DM shared for reporting only)": ["Yes [2]", "No"],
    "Non-owner Business User (DM visible)": ["Yes [2]", "No"],
}
# Footnotes [1] and [2]: the same rows under Selected contexts only without an overlap.
TRIGGER_NO_OVERLAP = {
    "Technical Owner (Technical User)": ["Yes", "Yes"],
    "Technical Owner (Business User)": ["Yes", "No"],
    "Business Owner (Technical User) of parent Data Mart shared for maintenance": ["Yes", "No [1]"],
    "Business Owner (Technical User) of parent Data Mart not shared for maintenance": ["Yes", "No"],
    OWNER_BU: ["Yes", "No"],
    "Non-owner Technical User (DM shared for maintenance)": ["No [2]", "No [2]"],
    "Non-owner Technical User (DM shared for reporting only)": ["No [2]", "No"],
    "Non-owner Business User (DM visible)": ["No [2]", "No"],
}

TRIGGER_CELLS = [
    *cells("000 Data Mart Trigger", TRIGGER_SEATS, TRIGGER_COLUMNS, TRIGGER, ENTIRE, OVERLAP),
    *cells("000 Data Mart Trigger", TRIGGER_SEATS, TRIGGER_COLUMNS, TRIGGER_NO_OVERLAP, NO_OVERLAP),
]


@pytest.mark.parametrize("cell", TRIGGER_CELLS, ids=str)
def test_data_mart_trigger(cell: Cell) -> None:
    sales = cell.seat.sales(cell.scope)
    if cell.column == "Can see":
        assert ("see" in sales.may("nightly")) == cell.yes
    else:
        assert ("manage" in sales.may("nightly")) == cell.yes
        assert sales.may_create("data_mart_trigger", data_mart="orders") == cell.yes


@pytest.mark.parametrize("kind", ["data_mart_trigger", "report_trigger"])
def test_triggers_have_no_owners(kind: str) -> None:
    """000 Data Mart Trigger and Report Trigger: no dedicated ownership."""
    assert not Sales().view.policy.kind(f"marts.{kind}").schema.roles


@pytest.mark.parametrize("state", [NOT_SHARED, MAINTENANCE])
def test_an_invisible_mart_hides_its_triggers(state: str) -> None:
    """000 Data Mart Trigger: who can see them follows the parent, so not from a mart that is out of sight."""
    assert Sales(BU).shared("orders", state).may("nightly") == set()
