"""access-models.md, marts: reports, deleted destinations, triggers, runs and joined marts, in its order."""

from __future__ import annotations

from itertools import pairwise

import pytest

from lakehold.access.facts.records import Attribute, Edge
from tests.golden.marts_settled import (
    ALL_BUT_RUN,
    ALL_OF_IT,
    BUSINESS,
    DELETED,
    MAINTAINED,
    READ,
    REPORT_OWNER,
    REPORTS,
    RUNS,
    TECHNICAL,
)
from tests.golden.marts_world import (
    ADMIN,
    ANN,
    BOTH,
    BU,
    MAINTENANCE,
    NOT_SHARED,
    REPORTING,
    TU,
    Sales,
    Seat,
    every_action,
)


@pytest.mark.parametrize(("who", "seat", "scope", "expected"), REPORTS, ids=[row[0] for row in REPORTS])
def test_reports(who: str, seat: Seat, scope: str, expected: set[str]) -> None:
    """Reports: see, then edit with its companions, then run."""
    assert seat.sales(scope).may("weekly") == expected, who


@pytest.mark.parametrize(("who", "seat", "scope", "expected"), DELETED, ids=[row[0] for row in DELETED])
def test_a_deleted_destination(who: str, seat: Seat, scope: str, expected: set[str]) -> None:
    """Deleted destination: see and restore only; the change back is made by whoever may restore."""
    sales = seat.sales(scope).deleted()
    assert sales.may("sheet") == expected, who
    assert sales.may_add(Attribute("sheet", "deleted", "false")) == ("restore" in expected), who


@pytest.mark.parametrize("role", [ADMIN, TU, BU])
def test_no_report_is_made_on_a_deleted_destination(role: str) -> None:
    """Deleted destination: it cannot be used, by its owner or anybody else."""
    sales = Sales(role).shared("orders", REPORTING).owns("sheet")
    assert sales.may_create("report", data_mart="orders", destination="sheet")
    assert not sales.deleted().may_create("report", data_mart="orders", destination="sheet")


@pytest.mark.parametrize("role", [TU, BU])
def test_a_new_owner_does_not_unlock_the_report(role: str) -> None:
    """Deleted destination: reassigning the owner does not help, restoring does."""
    sales = Sales(BU).colleague("bob", role).shared("orders", REPORTING).owns("weekly").deleted()
    sales.revoke(ANN, "owner", "weekly")
    sales.grant("bob", "owner", "weekly")
    assert sales.may("weekly", "bob") == {"see"}
    sales.set("sheet", deleted=False)
    assert sales.may("weekly", "bob") == every_action("report")


def test_replacing_the_destination_unlocks_the_report() -> None:
    """Deleted destination: a maintainer points the report at another one; its locked owner cannot."""
    sales = Sales(BU).colleague("bob", TU).shared("orders", BOTH).owns("weekly").deleted()
    sales.add("marts.destination", "bucket", project="sales")
    sales.set("bucket", shared_for_use=True)
    assert not sales.may_add(Edge("destination", "weekly", "bucket"))
    assert sales.decisions.check("bob", "edit", "weekly", edges={"destination": "bucket"})
    sales.fact(Edge("destination", "weekly", "bucket"))
    assert sales.may("weekly") == every_action("report")


# Triggers
TRIGGERS = [
    ("sees the mart", Seat(BU, {}, READ), {"see"}, {"see"}),
    ("manages triggers and edits", Seat(TU, {}, MAINTAINED), {"see", "manage"}, {"see", "manage"}),
    ("owns the report", Seat(BU, REPORT_OWNER), set(), {"see", "manage"}),
    ("owns the report, deleted", Seat(BU, REPORT_OWNER, {}, deleted=True), set(), {"see"}),
    ("Business Owner", Seat(BU, BUSINESS), {"see"}, {"see"}),
    ("stranger", Seat(TU), set(), set()),
]


@pytest.mark.parametrize(("who", "seat", "of_mart", "of_report"), TRIGGERS, ids=[row[0] for row in TRIGGERS])
def test_triggers_follow_their_parent(who: str, seat: Seat, of_mart: set[str], of_report: set[str]) -> None:
    """Triggers: see and manage_triggers of the mart; see and edit of the report."""
    sales = seat.sales()
    assert sales.may("nightly") == of_mart, who
    assert sales.may("monday") == of_report, who


@pytest.mark.parametrize(("who", "seat", "of_report", "of_mart"), RUNS, ids=[row[0] for row in RUNS])
def test_runs(who: str, seat: Seat, of_report: set[str], of_mart: set[str]) -> None:
    """Runs: see as the mart, stop with edit on it or run on the report, delete as Project Admin."""
    sales = seat.sales()
    sales.add("marts.run", "refresh", data_mart="orders")
    assert sales.may("weekly_run") == of_report, who
    assert sales.may("refresh") == of_mart, who


STARTS = [
    ("Project Admin", Seat(ADMIN), True, True),
    ("edit on the mart", Seat(TU, {}, MAINTAINED), True, True),
    ("use on the mart", Seat(TU, {}, READ), False, False),
    ("runs the report", Seat(BU, REPORT_OWNER, READ), False, True),
    ("Technical Owner (BU)", Seat(BU, TECHNICAL), False, False),
    ("stranger", Seat(TU), False, False),
]


@pytest.mark.parametrize(("who", "seat", "of_mart", "of_report"), STARTS, ids=[row[0] for row in STARTS])
def test_starting_a_run(who: str, seat: Seat, of_mart: bool, of_report: bool) -> None:
    """Runs: refresh, publish, validate and dry run with edit on the mart; a report's with run on it."""
    sales = seat.sales()
    assert sales.may_create("run", data_mart="orders") == of_mart, who
    assert sales.may_create("run", data_mart="orders", report="weekly") == of_report, who


# Joined marts: `orders` joins `customers` and `regions`; use is asked on every one.
def _joined(sales: Sales, *usable: str) -> Sales:
    for mart in ("customers", "regions"):
        sales.add("marts.data_mart", mart, project="sales")
        sales.set(mart, shared_for_reporting=mart in usable)
        sales.fact(Edge("joins", "orders", mart))
    return sales


JOINED = [(("customers", "regions"), True), (("customers",), False), (("regions",), False), ((), False)]
JOINED_IDS = ["use on both", "use on the first", "use on the second", "use on neither"]


@pytest.mark.parametrize(("usable", "yes"), JOINED, ids=JOINED_IDS)
def test_joined_marts_running_a_report(usable: tuple[str, ...], yes: bool) -> None:
    """Joined marts: to run a report, as its owner or as a maintainer of its mart."""
    owner = _joined(Sales(BU).shared("orders", REPORTING).owns("weekly"), *usable)
    maintainer = _joined(Sales(TU).shared("orders", MAINTENANCE), *usable)
    for sales in (owner, maintainer):
        assert sales.may("weekly") == (ALL_OF_IT if yes else ALL_BUT_RUN)


@pytest.mark.parametrize(("usable", "yes"), JOINED, ids=JOINED_IDS)
def test_joined_marts_creating_a_report(usable: tuple[str, ...], yes: bool) -> None:
    """Joined marts: to create a report."""
    sales = _joined(Sales(BU).shared("orders", REPORTING).owns("sheet"), *usable)
    assert sales.may_create("report", data_mart="orders", destination="sheet") == yes


@pytest.mark.parametrize("missing", range(1, 6))
def test_joined_marts_along_the_whole_chain(missing: int) -> None:
    """Joined marts: use on every one, also on those that are joined to joined ones, five behind each other."""
    for hidden in (0, missing):
        sales = Sales(BU).shared("orders", REPORTING).owns("weekly")
        before = "orders"
        for number in range(1, 6):
            sales.add("marts.data_mart", mart := f"joined_{number}", project="sales")
            sales.set(mart, shared_for_reporting=number != hidden)
            sales.fact(Edge("joins", before, mart))
            before = mart
        assert sales.may("weekly") == (ALL_BUT_RUN if hidden else ALL_OF_IT)


@pytest.mark.parametrize(("usable", "yes"), JOINED, ids=JOINED_IDS)
def test_joined_marts_starting_a_run_of_the_mart(usable: tuple[str, ...], yes: bool) -> None:
    """Joined marts: to refresh a mart that reads them."""
    sales = _joined(Sales(TU).shared("orders", MAINTENANCE), *usable)
    assert sales.may_create("run", data_mart="orders") == yes


@pytest.mark.parametrize(("usable", "yes"), JOINED, ids=JOINED_IDS)
def test_joined_marts_starting_a_run_of_a_report(usable: tuple[str, ...], yes: bool) -> None:
    """Joined marts: to start a run of a report that one may edit."""
    sales = _joined(Sales(TU).shared("orders", MAINTENANCE), *usable)
    assert sales.may_create("run", data_mart="orders", report="weekly") == yes


def _joinable(state: str) -> Sales:
    sales = Sales(TU).owns("orders", "technical_owner").owns("warehouse")
    sales.add("marts.data_mart", "customers", project="sales")
    sales.set("customers", shared_for_reporting=state == REPORTING)
    return sales


@pytest.mark.parametrize(("state", "yes"), [(NOT_SHARED, False), (REPORTING, True)])
def test_joined_marts_joining_one_to_a_mart(state: str, yes: bool) -> None:
    """Joined marts: to join another one to a mart that one edits."""
    assert _joinable(state).may_add(Edge("joins", "orders", "customers")) == yes


@pytest.mark.parametrize(("state", "yes"), [(NOT_SHARED, False), (REPORTING, True)])
def test_joined_marts_joining_one_in_a_new_mart(state: str, yes: bool) -> None:
    """Joined marts: to create a mart that joins another one."""
    sales = _joinable(state)
    assert sales.may_create("data_mart", project="sales", storage="warehouse", joins=["customers"]) == yes


@pytest.mark.parametrize(("behind", "yes"), [(5, True), (6, False)])
def test_joined_marts_in_a_chain(behind: int, yes: bool) -> None:
    """Joined marts: at most five one behind the other, whoever asks, as a run reads them."""
    sales = Sales(ADMIN)
    chain = ["orders", *(f"joined_{n}" for n in range(behind))]
    for mart, joined in pairwise(chain):
        sales.add("marts.data_mart", joined, project="sales")
        sales.fact(Edge("joins", mart, joined))
    assert ("run" in sales.may("weekly")) == yes
    assert sales.may_create("run", data_mart="orders") == yes
    assert sales.may_create("report", data_mart="orders", destination="sheet") == yes


def test_joined_marts_for_a_project_admin() -> None:
    """Joined marts: a Project Admin has use on every one."""
    sales = _joined(Sales(ADMIN))
    assert sales.may("weekly") == ALL_OF_IT
    assert sales.may_create("report", data_mart="orders", destination="sheet")
