"""Seed 000_e43d1ba18a15cdc7, Actions: its two tables, in their order."""

from __future__ import annotations

import pytest

from lakehold.access.facts.records import Attribute, Edge, Grant
from tests.golden.marts_world import (
    ACTIONS,
    ADMIN,
    BOTH,
    BU,
    ENTIRE,
    KIND_OF,
    MAINTENANCE,
    NO_OVERLAP,
    OVERLAP,
    REPORTING,
    TU,
    USE,
    EntitlementCell,
    Sales,
    Seat,
    entitlement_cells,
    every_action,
)

# Table "Action | Description": the kinds that an action belongs to, where the description or the tables name them.
KINDS_WITH = {
    "see": {"storage", "data_mart", "destination", "report", "data_mart_trigger", "report_trigger", "run", "project"},
    "use": {"storage", "data_mart", "destination"},
    "edit": {"storage", "data_mart", "destination", "report"},
    "delete": {"storage", "data_mart", "destination", "report", "run"},
    "copy_credentials": {"storage", "destination"},
    "configure_sharing": {"storage", "data_mart", "destination"},
    "manage_owners": {"storage", "data_mart", "destination", "report"},
    "manage_triggers": {"data_mart"},
    "run": {"report"},
}


@pytest.mark.parametrize("kind", ACTIONS)
@pytest.mark.parametrize("action", KINDS_WITH)
def test_which_kinds_have_the_action(action: str, kind: str) -> None:
    """000 Actions | Description: Copy Credentials of Storage and Destination, Run of Report, and so on."""
    assert (action in Sales().view.policy.kind(f"marts.{kind}").schema.actions) == (kind in KINDS_WITH[action])


@pytest.mark.parametrize("kind", ACTIONS)
def test_the_kinds_have_no_other_actions(kind: str) -> None:
    """000 Actions with the table of kinds in access-models.md: these ids, in this order."""
    assert list(Sales().view.policy.kind(f"marts.{kind}").schema.actions) == ACTIONS[kind].split()


def test_use_links_a_storage_to_a_data_mart() -> None:
    """000 Actions | Use: linking, for example a Storage to a Data Mart, needs use on the Storage."""
    sales = Sales(TU).owns("orders", "technical_owner")
    sales.add("marts.storage", "lake", project="sales")
    assert not sales.may_add(Edge("storage", "orders", "lake"))
    sales.set("lake", shared_for_use=True)
    assert sales.may_add(Edge("storage", "orders", "lake"))


def test_use_links_a_destination_to_a_report() -> None:
    """000 Actions | Use: a Report's Destination likewise."""
    sales = Sales(TU).owns("orders", "technical_owner")
    sales.add("marts.destination", "bucket", project="sales")
    assert not sales.may_add(Edge("destination", "weekly", "bucket"))
    sales.set("bucket", shared_for_use=True)
    assert sales.may_add(Edge("destination", "weekly", "bucket"))


def test_use_links_a_data_mart_to_a_report() -> None:
    """000 Actions | Use: a Report is moved to another Data Mart with use on that one."""
    sales = Sales(BU).owns("weekly")
    sales.add("marts.data_mart", "returns", project="sales")
    assert not sales.may_add(Edge("data_mart", "weekly", "returns"))
    sales.set("returns", shared_for_reporting=True)
    assert sales.may_add(Edge("data_mart", "weekly", "returns"))


def test_edit_modifies_the_configuration() -> None:
    """000 Actions | Edit: use alone does not change what a Data Mart is made of."""
    sales = Sales(TU).shared("orders", REPORTING)
    sales.add("marts.storage", "lake", project="sales")
    sales.set("lake", shared_for_use=True)
    assert not sales.may_add(Edge("storage", "orders", "lake"))
    assert sales.shared("orders", MAINTENANCE).may_add(Edge("storage", "orders", "lake"))


@pytest.mark.parametrize("role", [TU, BU])
def test_delete_removes_the_resource(role: str) -> None:
    """000 Actions | Delete: a Destination is deleted by whoever has the action, and by no one else."""
    gone = Attribute("sheet", "deleted", "true")
    assert not Sales(role).shared("sheet", USE).may_add(gone)
    assert Sales(role).shared("sheet", MAINTENANCE).may_add(gone)
    assert Sales(role).owns("sheet").may_add(gone)


@pytest.mark.parametrize("resource", ["warehouse", "sheet"])
def test_copy_credentials_is_not_part_of_use(resource: str) -> None:
    """000 Actions | Copy Credentials: with maintenance, not with use."""
    assert "copy_credentials" not in Sales(TU).shared(resource, USE).may(resource)
    assert "copy_credentials" in Sales(TU).shared(resource, MAINTENANCE).may(resource)


def test_manage_triggers_creates_edits_and_deletes_them() -> None:
    """000 Actions | Manage Triggers: on the Data Mart, for its Triggers."""
    reader, maintainer = Sales(TU).shared("orders", REPORTING), Sales(TU).shared("orders", MAINTENANCE)
    assert reader.may("nightly") == {"see"}
    assert not reader.may_create("data_mart_trigger", data_mart="orders")
    assert maintainer.may("nightly") == {"see", "manage"}
    assert maintainer.may_create("data_mart_trigger", data_mart="orders")


def test_run_executes_a_report_by_hand() -> None:
    """000 Actions | Run: whoever may run the Report may start a Run of it."""
    owner, reader = Sales(BU).owns("weekly").shared("orders", REPORTING), Sales(BU).shared("orders", REPORTING)
    assert owner.may("weekly") == every_action("report")
    assert owner.may_create("run", data_mart="orders", report="weekly")
    assert reader.may("weekly") == {"see"}
    assert not reader.may_create("run", data_mart="orders", report="weekly")


# Table "Entity | Can manage owners": who is named in the cell, and who therefore is not.
MANAGE = [
    ("Data Mart", "technical_owner", TU, True),
    ("Data Mart", "technical_owner", ADMIN, True),
    ("Data Mart", "", ADMIN, True),
    ("Data Mart", "technical_owner", BU, False),
    ("Data Mart", "business_owner", TU, False),
    ("Data Mart", "business_owner", BU, False),
    ("Data Mart", "", TU, False),
    ("Data Mart", "", BU, False),
    ("Storage", "owner", TU, True),
    ("Storage", "owner", ADMIN, True),
    ("Storage", "", ADMIN, True),
    ("Storage", "owner", BU, False),
    ("Storage", "", TU, False),
    ("Storage", "", BU, False),
    ("Destination", "owner", TU, True),
    ("Destination", "owner", BU, True),
    ("Destination", "owner", ADMIN, True),
    ("Destination", "", ADMIN, True),
    ("Destination", "", TU, False),
    ("Destination", "", BU, False),
]
OWNER_ROLES = {"orders": ("technical_owner", "business_owner"), "warehouse": ("owner",), "sheet": ("owner",)}


@pytest.mark.parametrize("row", entitlement_cells("000 Can manage owners", MANAGE), ids=str)
def test_can_manage_owners(row: EntitlementCell) -> None:
    """000 Actions, table "Can manage owners": the action, assigning and revoking."""
    sales = row.sales().colleague("bob", TU)
    assert ("manage_owners" in sales.may(row.resource)) == row.yes
    for given in OWNER_ROLES[row.resource]:
        assert sales.may_add(Grant("bob", given, row.resource)) == row.yes
        sales.grant("bob", given, row.resource)
        assert sales.may_remove(Grant("bob", given, row.resource)) == row.yes


# The row Report of the same table.
REPORT_OWNER, TECHNICAL = {"weekly": "owner"}, {"orders": "technical_owner"}
MAINTAINED = {"orders": MAINTENANCE}
MANAGE_REPORT = [
    ("Technical User with Data Mart maintenance access", Seat(TU, {}, MAINTAINED), ENTIRE, True),
    ("the same, in context", Seat(TU, {}, MAINTAINED), OVERLAP, True),
    ("the same, out of context", Seat(TU, {}, MAINTAINED), NO_OVERLAP, False),
    ("Technical Owner (Technical User)", Seat(TU, TECHNICAL), NO_OVERLAP, True),
    ("Technical User without maintenance access", Seat(TU, {}, {"orders": REPORTING}), ENTIRE, False),
    ("Business User on a mart shared for both", Seat(BU, {}, {"orders": BOTH}), ENTIRE, False),
    ("Report Owner (Business User) with active Destination", Seat(BU, REPORT_OWNER), NO_OVERLAP, True),
    ("Report Owner (Technical User) with active Destination", Seat(TU, REPORT_OWNER), NO_OVERLAP, True),
    ("Report Owner (Business User), Destination deleted", Seat(BU, REPORT_OWNER, {}, deleted=True), ENTIRE, False),
    ("Report Owner (Technical User), Destination deleted", Seat(TU, REPORT_OWNER, {}, deleted=True), ENTIRE, False),
    ("Project Admin", Seat(ADMIN), NO_OVERLAP, True),
]


@pytest.mark.parametrize(("who", "seat", "scope", "yes"), MANAGE_REPORT, ids=[row[0] for row in MANAGE_REPORT])
def test_can_manage_owners_of_a_report(who: str, seat: Seat, scope: str, yes: bool) -> None:
    """000 Actions, table "Can manage owners" | Report."""
    sales = seat.sales(scope).colleague("bob", BU)
    assert ("manage_owners" in sales.may("weekly")) == yes, who
    assert sales.may_add(Grant("bob", "owner", "weekly")) == yes, who


@pytest.mark.parametrize("resource", KIND_OF)
def test_project_admin_is_not_listed_in_the_tables(resource: str) -> None:
    """000 Access by Entity, first line: a Project Admin has every action on every resource."""
    assert Sales(ADMIN).may(resource) == every_action(KIND_OF[resource])
