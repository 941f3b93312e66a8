"""Seed 000_e43d1ba18a15cdc7, Access by Entity: its tables as data, in its order and words.

Each cell is asked twice: as a decision of the model, and as a flow over REST and pages (`tests/golden/flows`).
"""

from __future__ import annotations

from tests.golden.marts_world import (
    ADMIN,
    BOTH,
    BU,
    ENTIRE,
    MAINTENANCE,
    NO_OVERLAP,
    NOT_SHARED,
    OVERLAP,
    REPORTING,
    TU,
    USE,
    Seat,
    cells,
    rows,
)

# Storage

STORAGE_COLUMNS = (NOT_SHARED, USE, MAINTENANCE, BOTH)
STORAGE_SEATS = {
    "Owner (Technical User)": [Seat(TU, {"warehouse": "owner"})],
    "Non-owner Technical User": [Seat(TU)],
    "Any Business User": [Seat(BU), Seat(BU, {"warehouse": "owner"})],
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
STORAGE_CELLS = [
    *cells("000 Storage", STORAGE_SEATS, STORAGE_COLUMNS, STORAGE, ENTIRE, OVERLAP),
    *cells("000 Storage", STORAGE_SEATS, STORAGE_COLUMNS, STORAGE_NO_OVERLAP, NO_OVERLAP),
]

# Data Mart

DATA_MART_COLUMNS = (NOT_SHARED, REPORTING, MAINTENANCE, BOTH)
TECHNICAL = {"orders": "technical_owner"}
BUSINESS = {"orders": "business_owner"}
DATA_MART_SEATS = {
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
DATA_MART_CELLS = [
    *cells("000 Data Mart", DATA_MART_SEATS, DATA_MART_COLUMNS, DATA_MART, ENTIRE, OVERLAP),
    *cells("000 Data Mart", DATA_MART_SEATS, DATA_MART_COLUMNS, DATA_MART_NO_OVERLAP, NO_OVERLAP),
]

# Data Mart Trigger


def on(state: str, role: str, owns: dict[str, str] | None = None, *, deleted: bool = False) -> Seat:
    """A seat with the Data Mart shared like this."""
    return Seat(role, owns or {}, {"orders": state}, deleted)


OWNER_BU = "Business Owner (Business User) of parent Data Mart"
DATA_MART_TRIGGER_SEATS = {
    "Technical Owner (Technical User)": [on(state, TU, TECHNICAL) for state in DATA_MART_COLUMNS],
    "Technical Owner (Business User)": [on(state, BU, TECHNICAL) for state in DATA_MART_COLUMNS],
    "Business Owner (Technical User) of parent Data Mart shared for maintenance": [
        on(MAINTENANCE, TU, BUSINESS),
        on(BOTH, TU, BUSINESS),
    ],
    "Business Owner (Technical User) of parent Data Mart not shared for maintenance": [
        on(NOT_SHARED, TU, BUSINESS),
        on(REPORTING, TU, BUSINESS),
    ],
    OWNER_BU: [on(state, BU, BUSINESS) for state in DATA_MART_COLUMNS],
    "Non-owner Technical User (DM shared for maintenance)": [on(MAINTENANCE, TU), on(BOTH, TU)],
    "Non-owner Technical User (DM shared for reporting only)": [on(REPORTING, TU)],
    "Non-owner Business User (DM visible)": [on(REPORTING, BU), on(BOTH, BU)],
}
# The columns: Can see, Can manage (create, edit, delete).
DATA_MART_TRIGGER = {
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
DATA_MART_TRIGGER_NO_OVERLAP = {
    "Technical Owner (Technical User)": ["Yes", "Yes"],
    "Technical Owner (Business User)": ["Yes", "No"],
    "Business Owner (Technical User) of parent Data Mart shared for maintenance": ["Yes", "No [1]"],
    "Business Owner (Technical User) of parent Data Mart not shared for maintenance": ["Yes", "No"],
    OWNER_BU: ["Yes", "No"],
    "Non-owner Technical User (DM shared for maintenance)": ["No [2]", "No [2]"],
    "Non-owner Technical User (DM shared for reporting only)": ["No [2]", "No"],
    "Non-owner Business User (DM visible)": ["No [2]", "No"],
}
DATA_MART_TRIGGER_ROWS = [
    *rows("000 Data Mart Trigger", DATA_MART_TRIGGER_SEATS, DATA_MART_TRIGGER, ENTIRE, OVERLAP),
    *rows("000 Data Mart Trigger", DATA_MART_TRIGGER_SEATS, DATA_MART_TRIGGER_NO_OVERLAP, NO_OVERLAP),
]

# Destination

DESTINATION_COLUMNS = (NOT_SHARED, USE, MAINTENANCE, BOTH)
SHEET = {"sheet": "owner"}
DESTINATION_SEATS = {
    "Owner (any role)": [Seat(BU, SHEET), Seat(TU, SHEET), Seat(ADMIN, SHEET)],
    "Non-owner Technical User": [Seat(TU)],
    "Non-owner Business User": [Seat(BU)],
}
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
DESTINATION_CELLS = [
    *cells("000 Destination", DESTINATION_SEATS, DESTINATION_COLUMNS, DESTINATION, ENTIRE, OVERLAP),
    *cells("000 Destination", DESTINATION_SEATS, DESTINATION_COLUMNS, DESTINATION_NO_OVERLAP, NO_OVERLAP),
]

# Report

REPORT_OWNER = {"weekly": "owner"}
MAINTAINS = "Has Data Mart maintenance access [1]"
OWNS = "Report Owner (Destination exists)"
OWNS_DELETED = "Report Owner (Destination deleted)"
SEES = "DM visible without maintenance access"

# Footnote [1] names three paths to maintenance access; each is a seat.
MAINTAINS_AS_OWNER = [on(state, TU, TECHNICAL) for state in (NOT_SHARED, REPORTING, MAINTENANCE, BOTH)]
MAINTAINS_AS_BUSINESS_OWNER = [on(MAINTENANCE, TU, BUSINESS), on(BOTH, TU, BUSINESS)]
MAINTAINS_AS_NON_OWNER = [on(MAINTENANCE, TU), on(BOTH, TU)]
# access-models.md, marts, Reports: the owner's row is read with the mart shared for reporting.
OWNERS = [on(REPORTING, BU, REPORT_OWNER), on(REPORTING, TU, REPORT_OWNER)]
OWNERS_DELETED = [on(REPORTING, BU, REPORT_OWNER, deleted=True), on(REPORTING, TU, REPORT_OWNER, deleted=True)]
SEES_AS_OWNER = [
    on(NOT_SHARED, BU, BUSINESS),
    on(BOTH, BU, BUSINESS),
    on(NOT_SHARED, BU, TECHNICAL),
    on(BOTH, BU, TECHNICAL),
    on(NOT_SHARED, TU, BUSINESS),
    on(REPORTING, TU, BUSINESS),
]
SEES_AS_NON_OWNER = [on(REPORTING, TU), on(REPORTING, BU), on(BOTH, BU)]

REPORT_SEATS = {
    MAINTAINS: [*MAINTAINS_AS_OWNER, *MAINTAINS_AS_BUSINESS_OWNER, *MAINTAINS_AS_NON_OWNER],
    OWNS: OWNERS,
    OWNS_DELETED: OWNERS_DELETED,
    SEES: [*SEES_AS_OWNER, *SEES_AS_NON_OWNER],
}
# The columns: Can see, Can edit, delete, or run.
REPORT = {
    MAINTAINS: ["Yes", "Yes — for all Reports on that Data Mart"],
    OWNS: ["Yes", "Yes"],
    OWNS_DELETED: ["Yes", "No — read-only until Destination is restored or replaced"],
    SEES: ["Yes", "No"],
}
# Footnote [1] and "visible": the gate is inherited from the Data Mart, the floors are not gated.
REPORT_NO_OVERLAP_SEATS = {
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
REPORT_ROWS = [
    *rows("000 Report", REPORT_SEATS, REPORT, ENTIRE, OVERLAP),
    *rows("000 Report", REPORT_NO_OVERLAP_SEATS, REPORT_NO_OVERLAP, NO_OVERLAP),
]

# Report Trigger

# The columns: Can see, Can manage (create, edit, delete).
REPORT_TRIGGER = {
    MAINTAINS: ["Yes", "Yes — for all Report Triggers on that Data Mart"],
    OWNS: ["Yes", "Yes — for own Report's triggers only"],
    OWNS_DELETED: ["Yes", "No"],
    SEES: ["Yes", "No"],
}
REPORT_TRIGGER_NO_OVERLAP_SEATS = {**REPORT_NO_OVERLAP_SEATS, OWNS: OWNERS}
REPORT_TRIGGER_NO_OVERLAP = {**REPORT_NO_OVERLAP, OWNS: ["Yes", "Yes"]}
REPORT_TRIGGER_ROWS = [
    *rows("000 Report Trigger", REPORT_SEATS, REPORT_TRIGGER, ENTIRE, OVERLAP),
    *rows("000 Report Trigger", REPORT_TRIGGER_NO_OVERLAP_SEATS, REPORT_TRIGGER_NO_OVERLAP, NO_OVERLAP),
]
