"""Seed 001_e95442de0b1bc8c7: the roles, bullet by bullet, in the seed's order.

Where the page gives a Technical User every Report, the ownership page is the default and the project setting
`technical_users_control_all_reports` gives this page's reading (access-models.md): those rows ask for both.
"""

from __future__ import annotations

import pytest

from lakehold.access.facts.records import Grant, Remove
from tests.golden.marts_001 import CAN_INVITE, INVITE_CELLS, INVITE_IDS, INVITING
from tests.golden.marts_world import (
    ADMIN,
    BOTH,
    BU,
    KIND_OF,
    MAINTENANCE,
    NO_OVERLAP,
    NOT_SHARED,
    REPORTING,
    SCOPES,
    TU,
    USE,
    Sales,
    every_action,
)

MEMBER_ROLES = [ADMIN, TU, BU]


def test_three_roles() -> None:
    """001 first line: every project member has one of three roles."""
    assert set(Sales().view.policy.kind("marts.project").schema.roles) == {"admin", "technical_user", "business_user"}


# Table "Role | Access level".
@pytest.mark.parametrize("resource", KIND_OF)
def test_overview_admin(resource: str) -> None:
    """001 Roles Overview | Admin: full access to everything."""
    assert Sales(ADMIN).may(resource) == every_action(KIND_OF[resource])


def test_overview_technical_user_creates_data_resources() -> None:
    """001 Roles Overview | Technical User: creates and manages data resources."""
    assert Sales(TU).may("sales") == {
        "see",
        "create_storage",
        "create_data_mart",
        "create_destination",
        "invite_technical_user",
        "invite_business_user",
    }


@pytest.mark.parametrize("scope", SCOPES)
def test_overview_technical_user_controls_all_reports(scope: str) -> None:
    """001 Roles Overview | Technical User: full control over all Reports, where the project has chosen so."""
    assert Sales(TU, scope).may("weekly") == set()
    assert Sales(TU, scope).technical_users_control_all_reports().may("weekly") == every_action("report")


def test_overview_business_user_reports_on_shared_marts() -> None:
    """001 Roles Overview | Business User: self-service reporting on shared Data Marts."""
    assert Sales(BU).may("sales") == {"see", "create_destination", "invite_business_user"}
    sales = Sales(BU).shared("orders", REPORTING).owns("sheet")
    assert sales.may_create("report", data_mart="orders", destination="sheet")


def test_overview_business_user_manages_own_reports_and_destinations() -> None:
    """001 Roles Overview | Business User: manages own Reports and Destinations."""
    sales = Sales(BU).shared("orders", REPORTING).owns("sheet").owns("weekly")
    assert sales.may("sheet") == every_action("destination")
    assert sales.may("weekly") == every_action("report")


# Admin
@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("resource", KIND_OF)
def test_admins_are_unrestricted(resource: str, scope: str) -> None:
    """001 Admin: unrestricted in the whole project."""
    assert Sales(ADMIN, scope).may(resource) == every_action(KIND_OF[resource])


@pytest.mark.parametrize("invited", MEMBER_ROLES)
def test_admin_invites_with_any_role(invited: str) -> None:
    """001 Admin, members 1: invites with any role."""
    assert Sales(ADMIN).may_invite(invited)


@pytest.mark.parametrize("after", MEMBER_ROLES)
@pytest.mark.parametrize("before", MEMBER_ROLES)
def test_admin_changes_any_members_role(before: str, after: str) -> None:
    """001 Admin, members 2: from any role to any other; nobody else may."""
    for role in MEMBER_ROLES:
        sales = Sales(role).colleague("bob", before)
        assert sales.may_add(Grant("bob", after, "sales")) == (role == ADMIN)
        assert sales.may_remove(Grant("bob", before, "sales")) == (role == ADMIN)
        assert sales.decisions.check("ann", "give", "sales", role=after) == (role == ADMIN)


@pytest.mark.parametrize(("role", "yes"), [(ADMIN, True), (TU, False), (BU, False)])
def test_admin_manages_members(role: str, yes: bool) -> None:
    """001 Admin, members 3 and 4: passwords, magic links and removal are the Admins' (`manage_members`)."""
    assert ("manage_members" in Sales(role).may("sales")) == yes


@pytest.mark.parametrize("role", MEMBER_ROLES)
def test_admin_deletes_members(role: str) -> None:
    """001 Admin, members 4: a member taken out of the project has nothing left in it."""
    sales = Sales(ADMIN).colleague("bob", role).shared("orders", BOTH)
    gone = Remove(Grant("bob", role, "sales"))
    assert sales.decisions.check_change("ann", gone)
    sales.change(gone)
    assert all(sales.may(resource, "bob") == set() for resource in KIND_OF)


@pytest.mark.parametrize(
    ("kind", "edges"),
    [
        ("data_mart", {"project": "sales", "storage": "warehouse"}),
        ("storage", {"project": "sales"}),
        ("destination", {"project": "sales"}),
        ("report", {"data_mart": "orders", "destination": "sheet"}),
        ("data_mart_trigger", {"data_mart": "orders"}),
        ("report_trigger", {"report": "weekly"}),
        ("run", {"data_mart": "orders"}),
        ("run", {"data_mart": "orders", "report": "weekly"}),
    ],
)
def test_admin_creates_anything(kind: str, edges: dict[str, str]) -> None:
    """001 Admin, data: creates every kind of resource, on whatever others have made."""
    assert Sales(ADMIN).may_create(kind, **edges)


@pytest.mark.parametrize(
    ("resource", "actions"),
    [
        ("orders", {"edit", "delete"}),
        ("warehouse", {"edit", "delete"}),
        ("sheet", {"edit", "delete"}),
        ("weekly", {"edit", "delete"}),
        ("nightly", {"manage"}),
        ("monday", {"manage"}),
        ("weekly_run", {"stop", "delete"}),
    ],
)
def test_admin_edits_and_deletes_anything(resource: str, actions: set[str]) -> None:
    """001 Admin, data: edits and deletes any of them, whoever made it."""
    assert actions <= Sales(ADMIN).colleague("bob", TU).may(resource)


# Technical User
@pytest.mark.parametrize(("invited", "yes"), [(ADMIN, False), (TU, True), (BU, True)])
def test_technical_user_invites(invited: str, yes: bool) -> None:
    """001 Technical User, members: Technical and Business Users, not Admins."""
    assert Sales(TU).may_invite(invited) == yes


def test_technical_user_creates_marts_storages_and_destinations() -> None:
    """001 Technical User, data 1: creates Data Marts, Storages and Destinations."""
    sales = Sales(TU).owns("warehouse")
    assert sales.may_create("storage", project="sales")
    assert sales.may_create("data_mart", project="sales", storage="warehouse")
    assert sales.may_create("destination", project="sales")


OWN = [("orders", "technical_owner"), ("warehouse", "owner"), ("sheet", "owner")]


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize(("resource", "owner"), OWN)
def test_technical_user_edits_and_deletes_their_own(resource: str, owner: str, scope: str) -> None:
    """001 Technical User, data 1: edits and deletes their own, and not what others keep to themselves."""
    sales = Sales(TU, scope)
    assert sales.may(resource) == set()
    assert {"edit", "delete"} <= sales.owns(resource, owner).may(resource)


def test_technical_user_manages_data_mart_triggers() -> None:
    """001 Technical User, data 2: creates, edits, deletes Triggers of Data Marts that the ownership page opens."""
    own, maintained = Sales(TU).owns("orders", "technical_owner"), Sales(TU).shared("orders", MAINTENANCE)
    for sales in (own, maintained):
        assert sales.may("nightly") == {"see", "manage"}
        assert sales.may_create("data_mart_trigger", data_mart="orders")
    assert Sales(TU).may("nightly") == set()
    assert Sales(TU).shared("orders", REPORTING).may("nightly") == {"see"}


@pytest.mark.parametrize(("resource", "owner"), OWN)
def test_technical_user_configures_sharing_and_owners_of_their_own(resource: str, owner: str) -> None:
    """001 Technical User, data 3: of their own only."""
    reserved = {"configure_sharing", "manage_owners"}
    assert not reserved & Sales(TU).shared(resource, BOTH).may(resource)
    assert reserved <= Sales(TU).owns(resource, owner).may(resource)


@pytest.mark.parametrize("resource", ["orders", "warehouse", "sheet"])
def test_technical_user_accesses_what_is_shared(resource: str) -> None:
    """001 Technical User, data 4: as far as it is shared."""
    assert Sales(TU).shared(resource, NOT_SHARED).may(resource) == set()
    assert Sales(TU).shared(resource, USE).may(resource) == {"see", "use"}
    assert {"see", "use", "edit", "delete"} <= Sales(TU).shared(resource, MAINTENANCE).may(resource)


@pytest.mark.parametrize(
    ("resource", "actions"),
    [("weekly", {"edit", "delete"}), ("weekly", {"manage_owners"}), ("monday", {"manage"})],
    ids=["data 5: edit and delete any Report", "data 6: manage owners of any", "data 7: Report Triggers on any"],
)
@pytest.mark.parametrize("scope", SCOPES)
def test_technical_user_on_any_report(scope: str, resource: str, actions: set[str]) -> None:
    """001 Technical User, data 5 to 7: with the setting, whoever owns it; without it, as the ownership page says."""
    assert not actions & Sales(TU, scope).shared("orders", REPORTING).may(resource)
    assert actions <= Sales(TU, scope).technical_users_control_all_reports().may(resource)


def test_technical_user_creates_report_triggers_on_any_report() -> None:
    """001 Technical User, data 7: creates them, with the setting."""
    assert not Sales(TU).may_create("report_trigger", report="weekly")
    assert Sales(TU).technical_users_control_all_reports().may_create("report_trigger", report="weekly")


# Business User
@pytest.mark.parametrize(("invited", "yes"), [(ADMIN, False), (TU, False), (BU, True)])
def test_business_user_invites(invited: str, yes: bool) -> None:
    """001 Business User, members: Business Users only."""
    assert Sales(BU).may_invite(invited) == yes


def test_business_user_views_shared_marts_and_their_triggers() -> None:
    """001 Business User, data 1: Data Marts and Triggers that are shared with them, and no others."""
    shared = Sales(BU).shared("orders", REPORTING)
    assert shared.may("orders") == {"see", "use"}
    assert shared.may("nightly") == {"see"}
    assert Sales(BU).may("orders") == Sales(BU).may("nightly") == set()


@pytest.mark.parametrize(("state", "yes"), [(NOT_SHARED, False), (REPORTING, True), (MAINTENANCE, False), (BOTH, True)])
def test_business_user_creates_reports_on_available_marts(state: str, yes: bool) -> None:
    """001 Business User, data 2: Reports on Data Marts that are available for reporting."""
    sales = Sales(BU).owns("sheet").shared("orders", state)
    assert sales.may_create("report", data_mart="orders", destination="sheet") == yes


def test_business_user_controls_own_reports() -> None:
    """001 Business User, data 3: edits, deletes, runs and manages owners of Reports they own, not of others."""
    assert Sales(BU).shared("orders", REPORTING).owns("weekly").may("weekly") == every_action("report")
    assert Sales(BU).shared("orders", REPORTING).may("weekly") == {"see"}


def test_business_user_manages_triggers_of_own_reports() -> None:
    """001 Business User, data 4: Report Triggers on Reports they own, not on others."""
    own, other = Sales(BU).shared("orders", REPORTING).owns("weekly"), Sales(BU).shared("orders", REPORTING)
    assert own.may("monday") == {"see", "manage"}
    assert own.may_create("report_trigger", report="weekly")
    assert other.may("monday") == {"see"}
    assert not other.may_create("report_trigger", report="weekly")


def test_business_user_creates_edits_and_deletes_destinations() -> None:
    """001 Business User, data 5: Destinations that the ownership page opens."""
    assert Sales(BU).may_create("destination", project="sales")
    assert {"edit", "delete"} <= Sales(BU).owns("sheet").may("sheet")
    assert Sales(BU).may("sheet") == set()


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (NOT_SHARED, set()),
        (USE, {"see", "use"}),
        (MAINTENANCE, {"see", "use", "copy_credentials", "edit", "delete"}),
        (BOTH, {"see", "use", "copy_credentials", "edit", "delete"}),
    ],
)
def test_business_user_accesses_shared_destinations(state: str, expected: set[str]) -> None:
    """001 Business User, data 6: Destinations that others have shared with them."""
    assert Sales(BU).shared("sheet", state).may("sheet") == expected


def test_business_user_report_is_read_only_without_its_destination() -> None:
    """001 Business User, note: edits or runs a Report only while its Destination exists."""
    sales = Sales(BU).shared("orders", REPORTING).owns("weekly")
    assert sales.deleted().may("weekly") == {"see"}
    assert sales.may("monday") == {"see"}


@pytest.mark.parametrize("scope", [SCOPES[0], SCOPES[1]])
def test_a_technical_user_restores_the_destination(scope: str) -> None:
    """001 Business User, note: until a Technical User restores the Destination."""
    sales = Sales(TU, scope).shared("orders", REPORTING).deleted()
    assert sales.may("sheet") == {"restore"}
    assert Sales(TU, NO_OVERLAP).shared("orders", REPORTING).deleted().may("sheet") == set()


@pytest.mark.parametrize(("inviting", "column", "yes"), INVITE_CELLS, ids=INVITE_IDS)
def test_who_can_invite_whom(inviting: str, column: str, yes: bool) -> None:
    sales, invited = Sales(INVITING[inviting]), CAN_INVITE[column]
    assert sales.may_invite(invited) == yes
    assert (f"invite_{invited}" in sales.may("sales")) == yes
