"""access-models.md, marts: its sentences about reports, deleted destinations and runs as data, in its order.

Each row is asked twice: as a decision of the model, and as a flow over REST and pages (`tests/golden/flows`).
"""

from __future__ import annotations

from tests.golden.marts_world import ADMIN, BOTH, BU, ENTIRE, MAINTENANCE, NO_OVERLAP, OVERLAP, REPORTING, TU, USE, Seat

REPORT_OWNER = {"weekly": "owner"}
TECHNICAL, BUSINESS = {"orders": "technical_owner"}, {"orders": "business_owner"}
ALL_BUT_RUN = {"see", "edit", "delete", "manage_owners"}
ALL_OF_IT = {"see", "edit", "delete", "run", "manage_owners"}
READ, MAINTAINED = {"orders": REPORTING}, {"orders": MAINTENANCE}

# Who, under which scope, may do what with the report `weekly`.
REPORTS = [
    ("sees the mart", Seat(BU, {}, READ), ENTIRE, {"see"}),
    ("does not see the mart", Seat(TU), ENTIRE, set()),
    ("report owner, mart not shared: no use, no run", Seat(BU, REPORT_OWNER), ENTIRE, ALL_BUT_RUN),
    ("report owner (TU), mart not shared", Seat(TU, REPORT_OWNER), ENTIRE, ALL_BUT_RUN),
    ("report owner, mart shared for reporting", Seat(BU, REPORT_OWNER, READ), ENTIRE, ALL_OF_IT),
    ("report owner, shared, in context", Seat(BU, REPORT_OWNER, READ), OVERLAP, ALL_OF_IT),
    ("report owner, shared, out of context", Seat(BU, REPORT_OWNER, READ), NO_OVERLAP, ALL_BUT_RUN),
    ("report owner (BU), shared for maintenance only", Seat(BU, REPORT_OWNER, MAINTAINED), ENTIRE, ALL_BUT_RUN),
    ("report owner who is Business Owner", Seat(BU, {**REPORT_OWNER, **BUSINESS}), NO_OVERLAP, ALL_OF_IT),
    ("report owner who is Technical Owner (BU)", Seat(BU, {**REPORT_OWNER, **TECHNICAL}), NO_OVERLAP, ALL_OF_IT),
    ("edit on the mart by ownership", Seat(TU, TECHNICAL), NO_OVERLAP, ALL_OF_IT),
    ("edit on the mart by sharing", Seat(TU, {}, MAINTAINED), OVERLAP, ALL_OF_IT),
    ("Business Owner (TU), shared for maintenance", Seat(TU, BUSINESS, MAINTAINED), ENTIRE, ALL_OF_IT),
    ("Business Owner (TU), out of context", Seat(TU, BUSINESS, MAINTAINED), NO_OVERLAP, {"see"}),
    ("owner, destination deleted", Seat(BU, REPORT_OWNER, READ, deleted=True), ENTIRE, {"see"}),
    ("owner, destination deleted, mart not shared", Seat(BU, REPORT_OWNER, {}, deleted=True), ENTIRE, {"see"}),
    ("edit on the mart, destination deleted", Seat(TU, {}, MAINTAINED, deleted=True), ENTIRE, ALL_OF_IT),
    ("owner with edit, deleted", Seat(TU, REPORT_OWNER, MAINTAINED, deleted=True), ENTIRE, ALL_OF_IT),
    ("Project Admin, destination deleted", Seat(ADMIN, {}, {}, deleted=True), NO_OVERLAP, ALL_OF_IT),
]

# Who may do what with the deleted destination `sheet`, whose report `weekly` is on the mart `orders`.
SHEET_OWNER = {"sheet": "owner"}
DELETED = [
    ("owner (BU)", Seat(BU, SHEET_OWNER), ENTIRE, {"see", "restore"}),
    ("owner (TU)", Seat(TU, SHEET_OWNER), NO_OVERLAP, {"see", "restore"}),
    ("Project Admin", Seat(ADMIN), NO_OVERLAP, {"see", "restore"}),
    ("TU, shared for use, no report seen", Seat(TU, {}, {"sheet": USE}), ENTIRE, {"see"}),
    ("TU, shared for both, no report seen", Seat(TU, {}, {"sheet": BOTH}), ENTIRE, {"see"}),
    ("BU, shared for both", Seat(BU, {}, {"sheet": BOTH}), ENTIRE, {"see"}),
    ("TU, shared, out of context", Seat(TU, {}, {"sheet": BOTH}), NO_OVERLAP, set()),
    ("TU who sees a report, shared for use", Seat(TU, {}, {"sheet": USE, **READ}), ENTIRE, {"see", "restore"}),
    ("TU who sees a report, not shared", Seat(TU, {}, READ), ENTIRE, {"restore"}),
    ("TU who sees a report in context", Seat(TU, {}, READ), OVERLAP, {"restore"}),
    ("TU whose report is out of context", Seat(TU, {}, READ), NO_OVERLAP, set()),
    ("TU who owns a report", Seat(TU, REPORT_OWNER), NO_OVERLAP, {"restore"}),
    ("BU who sees a report", Seat(BU, {}, READ), ENTIRE, set()),
    ("BU who owns a report", Seat(BU, REPORT_OWNER, READ), ENTIRE, set()),
]

# Runs: of the report `weekly`, and of the mart itself.
RUNS = [
    ("Project Admin", Seat(ADMIN), {"see", "stop", "delete"}, {"see", "stop", "delete"}),
    ("edit on the mart by ownership", Seat(TU, TECHNICAL), {"see", "stop"}, {"see", "stop"}),
    ("edit on the mart by sharing", Seat(TU, {}, MAINTAINED), {"see", "stop"}, {"see", "stop"}),
    ("sees the mart", Seat(BU, {}, READ), {"see"}, {"see"}),
    ("Business Owner", Seat(BU, BUSINESS), {"see"}, {"see"}),
    ("runs the report", Seat(BU, REPORT_OWNER, READ), {"see", "stop"}, {"see"}),
    ("owner, destination deleted", Seat(BU, REPORT_OWNER, READ, deleted=True), {"see"}, {"see"}),
    ("owner without the mart", Seat(BU, REPORT_OWNER), set(), set()),
    ("stranger", Seat(TU), set(), set()),
]
