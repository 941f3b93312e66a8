"""access-models.md, marts: roles, scope, order of evaluation, create, contexts, and what it settles, in its order."""

from __future__ import annotations

import pytest

from lakehold.access.facts.records import Draft
from tests.golden.marts_world import (
    ADMIN,
    ANN,
    BOTH,
    BU,
    ENTIRE,
    KIND_OF,
    MAINTENANCE,
    NO_OVERLAP,
    NOT_SHARED,
    OVERLAP,
    REPORTING,
    SCOPES,
    TU,
    USE,
    Sales,
    every_action,
    parse_actions,
)

MAINTAIN_MART = {"see", "use", "edit", "delete", "manage_triggers"}
CONTROL_WITHOUT_RUN = {"see", "edit", "delete", "manage_owners"}


# Role scope and contexts
def test_the_default_scope_is_the_entire_project() -> None:
    """A member of whom no scope is said passes the gate."""
    assert Sales(BU).shared("orders", REPORTING).may("orders") == {"see", "use"}


@pytest.mark.parametrize(
    ("held", "labels", "passes"),
    [
        (["north"], ["north"], True),
        (["north", "south"], ["north"], True),
        (["north"], ["north", "south"], True),
        (["south"], ["north"], False),
        ([], ["north"], False),
        (["north"], [], False),
        ([], [], False),
    ],
)
@pytest.mark.parametrize("kind", ["storage", "data_mart", "destination"])
def test_overlap_of_contexts(kind: str, held: list[str], labels: list[str], passes: bool) -> None:
    """One context in common passes; none on either side is no overlap."""
    sales = Sales(TU)
    sales.set("sales", member=ANN, scope="selected_contexts")
    for context in held:
        sales.grant(ANN, "holder", context)
    sales.add(f"marts.{kind}", "fresh", project="sales", contexts=labels)
    sales.set("fresh", shared_for_maintenance=True)
    assert ("see" in sales.may("fresh")) == passes


@pytest.mark.parametrize(("scope", "passes"), [(ENTIRE, True), (OVERLAP, True), (NO_OVERLAP, False)])
def test_scope_is_the_members_own_by_whatever_path_the_role_comes(scope: str, passes: bool) -> None:
    """A role that comes by a group is under the member's scope and contexts."""
    sales = Sales("", scope).shared("orders", MAINTENANCE)
    sales.group("engineers", ANN)
    sales.grant("engineers", TU, "sales")
    assert sales.may("orders") == (MAINTAIN_MART if passes else set())


# Order of evaluation
@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("state", [NOT_SHARED, USE, MAINTENANCE, BOTH])
@pytest.mark.parametrize("resource", ["warehouse", "orders", "sheet"])
def test_order_1_project_admin(resource: str, state: str, scope: str) -> None:
    """Order 1: every action the kind has."""
    assert Sales(ADMIN, scope).shared(resource, state).may(resource) == every_action(KIND_OF[resource])


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize(
    ("resource", "owner", "role", "cell"),
    [
        ("warehouse", "owner", TU, "All actions"),
        ("orders", "technical_owner", TU, "All actions"),
        ("sheet", "owner", TU, "All actions"),
        ("sheet", "owner", BU, "All actions"),
        ("orders", "technical_owner", BU, "See, Use"),
        ("orders", "business_owner", TU, "See, Use"),
        ("orders", "business_owner", BU, "See, Use"),
        ("warehouse", "owner", BU, "No access"),
    ],
)
def test_order_2_ownership_floor(resource: str, owner: str, role: str, cell: str, scope: str) -> None:
    """Order 2: what ownership alone gives, without a context gate."""
    assert Sales(role, scope).owns(resource, owner).may(resource) == parse_actions(cell, KIND_OF[resource])


@pytest.mark.parametrize("scope", [ENTIRE, OVERLAP])
@pytest.mark.parametrize(
    ("resource", "role", "cell"),
    [
        ("warehouse", TU, "See, Use, Copy Credentials, Edit, Delete"),
        ("warehouse", BU, "No access"),
        ("orders", TU, "See, Use, Edit, Delete, Manage Triggers"),
        ("orders", BU, "See, Use"),
        ("sheet", TU, "See, Use, Copy Credentials, Edit, Delete"),
        ("sheet", BU, "See, Use, Copy Credentials, Edit, Delete"),
    ],
)
def test_order_3_non_owner_sharing_path(resource: str, role: str, cell: str, scope: str) -> None:
    """Order 3: shared for both, and still neither configure_sharing nor manage_owners."""
    sales = Sales(role, scope).shared(resource, BOTH)
    assert sales.may(resource) == parse_actions(cell, KIND_OF[resource])
    assert Sales(role, NO_OVERLAP).shared(resource, BOTH).may(resource) == set()


def test_order_3_owners_get_the_sharing_path_too() -> None:
    """Order 3: a Business Owner who is a Technical User maintains what is shared for maintenance."""
    assert Sales(TU).owns("orders", "business_owner").shared("orders", BOTH).may("orders") == MAINTAIN_MART


# Create
@pytest.mark.parametrize(("role", "yes"), [(ADMIN, True), (TU, True), (BU, False), ("", False)])
def test_create_storage(role: str, yes: bool) -> None:
    """Create: a storage by Technical User or Admin."""
    assert Sales(role).may_create("storage", project="sales") == yes


@pytest.mark.parametrize(
    ("role", "owner", "state", "yes"),
    [
        (ADMIN, False, NOT_SHARED, True),
        (TU, False, NOT_SHARED, False),
        (TU, False, USE, True),
        (TU, False, MAINTENANCE, True),
        (TU, True, NOT_SHARED, True),
        (BU, False, BOTH, False),
        (BU, True, BOTH, False),
        ("", False, BOTH, False),
    ],
)
def test_create_data_mart(role: str, owner: bool, state: str, yes: bool) -> None:
    """Create: a data mart by Technical User or Admin with use on its storage."""
    sales = Sales(role).shared("warehouse", state)
    if owner:
        sales.owns("warehouse")
    assert sales.may_create("data_mart", project="sales", storage="warehouse") == yes


def test_create_data_mart_takes_the_role_in_this_project() -> None:
    """Create: a Business User here makes no data mart here with a storage that they use as Technical User elsewhere."""
    sales = Sales(BU)
    sales.add("marts.project", "finance", tenant="acme")
    sales.add("marts.storage", "vault", project="finance")
    sales.grant(ANN, TU, "finance")
    assert sales.owns("vault").may("vault") == every_action("storage")
    assert not sales.may_create("data_mart", project="sales", storage="vault")


def test_create_data_mart_out_of_context() -> None:
    """Create: use on the storage is behind the context gate."""
    assert Sales(TU, OVERLAP).shared("warehouse", USE).may_create("data_mart", project="sales", storage="warehouse")
    out = Sales(TU, NO_OVERLAP).shared("warehouse", USE)
    assert not out.may_create("data_mart", project="sales", storage="warehouse")


@pytest.mark.parametrize(("role", "yes"), [(ADMIN, True), (TU, True), (BU, True), ("", False)])
def test_create_destination(role: str, yes: bool) -> None:
    """Create: a destination by any member of the project."""
    assert Sales(role).may_create("destination", project="sales") == yes


@pytest.mark.parametrize(
    ("role", "mart", "destination", "yes"),
    [
        (ADMIN, NOT_SHARED, NOT_SHARED, True),
        (TU, REPORTING, USE, True),
        (TU, MAINTENANCE, MAINTENANCE, True),
        (TU, REPORTING, NOT_SHARED, False),
        (TU, NOT_SHARED, USE, False),
        (BU, REPORTING, USE, True),
        (BU, REPORTING, MAINTENANCE, True),
        (BU, MAINTENANCE, USE, False),
        (BU, REPORTING, NOT_SHARED, False),
        (BU, NOT_SHARED, USE, False),
        ("", BOTH, BOTH, False),
    ],
)
def test_create_report(role: str, mart: str, destination: str, yes: bool) -> None:
    """Create: a report with use on the data mart and on the destination."""
    sales = Sales(role).shared("orders", mart).shared("sheet", destination)
    assert sales.may_create("report", data_mart="orders", destination="sheet") == yes


@pytest.mark.parametrize(("scope", "yes"), [(ENTIRE, True), (OVERLAP, True), (NO_OVERLAP, False)])
@pytest.mark.parametrize("role", [TU, BU])
def test_create_report_out_of_context(role: str, scope: str, yes: bool) -> None:
    """Create: both uses are behind the context gate."""
    sales = Sales(role, scope).shared("orders", REPORTING).shared("sheet", USE)
    assert sales.may_create("report", data_mart="orders", destination="sheet") == yes


# Settled
@pytest.mark.parametrize("scope", SCOPES)
def test_setting_off_is_the_default(scope: str) -> None:
    """Settled 1: the ownership page, so a Technical User has nothing on a Report of a mart out of sight."""
    assert Sales(TU, scope).may("weekly") == Sales(TU, scope).may("monday") == set()


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("deleted", [False, True])
def test_setting_on(deleted: bool, scope: str) -> None:
    """Settled 1: with the setting every Report and its triggers, no context gate, with or without a destination."""
    sales = Sales(TU, scope).technical_users_control_all_reports()
    if deleted:
        sales.deleted()
    assert sales.may("weekly") == every_action("report")
    assert sales.may("monday") == {"see", "manage"}


def test_setting_on_opens_nothing_but_reports() -> None:
    """Settled 1: not the mart, its storage, its triggers, nor the destination."""
    sales = Sales(TU).technical_users_control_all_reports()
    assert sales.may("orders") == sales.may("warehouse") == sales.may("nightly") == set()
    assert not {"see", "use", "edit"} & sales.may("sheet")


def test_setting_on_is_for_technical_users() -> None:
    """Settled 1: a Business User and a stranger get nothing by it."""
    assert Sales(BU).technical_users_control_all_reports().may("weekly") == set()
    assert Sales("").technical_users_control_all_reports().may("weekly") == set()


def test_setting_is_of_one_project() -> None:
    """Settled 1: Reports of another project are not meant."""
    sales = Sales(TU).technical_users_control_all_reports()
    sales.add("marts.project", "finance", tenant="acme")
    sales.add("marts.data_mart", "costs", project="finance")
    sales.add("marts.report", "monthly", data_mart="costs")
    sales.grant(ANN, TU, "finance")
    assert sales.may("monthly") == set()


@pytest.mark.parametrize("role", [TU, BU])
def test_second_toggle_alone_on_destinations(role: str) -> None:
    """Settled 2: first off, second on holds for Technical Users and for destinations."""
    expected = {"see", "use", "edit", "delete", "copy_credentials"}
    assert Sales(role).shared("sheet", MAINTENANCE).may("sheet") == expected


@pytest.mark.parametrize(("role", "expected"), [(TU, MAINTAIN_MART), (BU, set())])
def test_second_toggle_alone_on_data_marts(role: str, expected: set[str]) -> None:
    """Settled 2: a Business User has no access to a mart shared for maintenance only."""
    assert Sales(role).shared("orders", MAINTENANCE).may("orders") == expected


def test_owners_always_have_full_access_is_a_summary() -> None:
    """Settled 2: not these owners."""
    assert Sales(BU).owns("warehouse").may("warehouse") == set()
    assert Sales(BU).owns("orders", "technical_owner").may("orders") == {"see", "use"}
    assert Sales(TU).owns("orders", "business_owner").may("orders") == {"see", "use"}


def test_unqualified_triggers_and_destinations_of_the_roles_page() -> None:
    """Settled 2: those that the ownership page opens."""
    assert Sales(TU).may("nightly") == set()
    assert Sales(BU).may("sheet") == set()


@pytest.mark.parametrize(("role", "cell"), [(TU, "All actions"), (BU, "See, Use")])
def test_technical_and_business_owner_at_once(role: str, cell: str) -> None:
    """Settled 3: the union."""
    sales = Sales(role, NO_OVERLAP).owns("orders", "technical_owner").owns("orders", "business_owner")
    assert sales.may("orders") == parse_actions(cell, "data_mart")


@pytest.mark.parametrize("toggles", [(), ("shared_for_reporting",), ("shared_for_reporting", "shared_for_maintenance")])
def test_toggles_of_new_and_imported_resources(toggles: tuple[str, ...]) -> None:
    """Settled 4: new: both off; imported: both on. What each means for a Technical User who does not own it."""
    sales = Sales(TU)
    sales.add("marts.data_mart", "fresh", project="sales")
    for toggle in toggles:
        sales.set("fresh", None, **{toggle: True})
    expected = {0: set[str](), 1: {"see", "use"}, 2: MAINTAIN_MART}
    assert sales.may("fresh") == expected[len(toggles)]


def test_a_draft_cannot_be_made_for_somebody_elses_project() -> None:
    """Create: a role in one project makes nothing in another."""
    sales = Sales(ADMIN)
    sales.add("marts.project", "finance", tenant="acme")
    for kind in ("storage", "destination", "context"):
        assert not sales.decisions.check(ANN, "create", Draft(f"marts.{kind}", {"project": "finance"}))
