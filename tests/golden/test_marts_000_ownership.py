"""Seed 000_e43d1ba18a15cdc7, Ownership: its sentences and two tables, in their order."""

from __future__ import annotations

import pytest

from lakehold.access.facts.records import Grant
from lakehold.kit.errors import InvalidInputError
from tests.golden.marts_world import (
    ADMIN,
    BU,
    KIND_OF,
    MAINTENANCE,
    NO_OVERLAP,
    REPORTING,
    SCOPES,
    TU,
    EntitlementCell,
    Sales,
    entitlement_cells,
    every_action,
)

OWNER_ROLES = {
    "storage": ["owner"],
    "data_mart": ["technical_owner", "business_owner"],
    "destination": ["owner"],
    "report": ["owner"],
}
OWNED = [("warehouse", "owner"), ("orders", "technical_owner"), ("orders", "business_owner"), ("sheet", "owner")]
OWNED_AND_REPORT = [*OWNED, ("weekly", "owner")]


@pytest.mark.parametrize("kind", OWNER_ROLES)
def test_every_resource_has_owners(kind: str) -> None:
    """000 Ownership: one Owner role on each, two on a Data Mart."""
    assert list(Sales().view.policy.kind(f"marts.{kind}").schema.roles) == OWNER_ROLES[kind]


@pytest.mark.parametrize("role", [ADMIN, TU, BU])
@pytest.mark.parametrize(("resource", "owner"), OWNED_AND_REPORT)
def test_any_project_member_can_be_assigned_as_an_owner(resource: str, owner: str, role: str) -> None:
    """000 Ownership: a member of any role can be made an owner."""
    sales = Sales(ADMIN).colleague("bob", role)
    assert sales.may_add(Grant("bob", owner, resource))


@pytest.mark.parametrize(
    ("kind", "first"),
    [("storage", "owner"), ("data_mart", "technical_owner"), ("destination", "owner"), ("report", "owner")],
)
def test_the_creator_is_the_first_owner(kind: str, first: str) -> None:
    """000 Ownership: who creates a resource owns it (a Data Mart as Technical Owner, access-models.md)."""
    assert Sales().view.policy.kind(f"marts.{kind}").schema.creator == first


@pytest.mark.parametrize(("resource", "owner"), OWNED_AND_REPORT)
def test_more_owners_can_be_assigned(resource: str, owner: str) -> None:
    """000 Ownership: a second owner joins the first one and does not take their place."""
    sales = Sales(TU).colleague("bob", TU).owns(resource, owner).shared("orders", REPORTING)
    before = sales.may(resource)
    sales.grant("bob", owner, resource)
    assert sales.may(resource) == sales.may(resource, "bob") == before


# Table "Owner type | Responsibility | Access level". Responsibility says what a person is for, not what they may do.
def test_owner_type_technical_owner_access_level() -> None:
    """000 Ownership, owner types | Technical Owner | Access level: full control."""
    assert Sales(TU).owns("orders", "technical_owner").may("orders") == every_action("data_mart")


@pytest.mark.parametrize("role", [TU, BU])
def test_owner_type_business_owner_access_level_is_guaranteed(role: str) -> None:
    """000 Ownership, owner types | Business Owner | Access level: see and use guaranteed."""
    assert Sales(role, NO_OVERLAP).owns("orders", "business_owner").may("orders") == {"see", "use"}


@pytest.mark.parametrize(
    ("role", "expected"),
    [(TU, {"see", "use", "edit", "delete", "manage_triggers"}), (BU, {"see", "use"})],
)
def test_owner_type_business_owner_access_level_inherits(role: str, expected: set[str]) -> None:
    """000 Ownership, owner types | Business Owner | Access level: further actions as a non-owner of the role."""
    assert Sales(role).owns("orders", "business_owner").shared("orders", MAINTENANCE).may("orders") == expected


def test_many_technical_and_business_owners() -> None:
    """000 Ownership: a Data Mart may have several of each."""
    sales = Sales(TU)
    for uid in ("bob", "cem", "dee"):
        sales.colleague(uid, TU)
    sales.grant("bob", "technical_owner", "orders")
    sales.grant("cem", "business_owner", "orders")
    sales.grant("dee", "business_owner", "orders")
    sales.owns("orders", "technical_owner")
    assert sales.may("orders") == sales.may("orders", "bob") == every_action("data_mart")
    assert sales.may("orders", "cem") == sales.may("orders", "dee") == {"see", "use"}


# Table "Entity | Owner type | Full control requires": the last column, role by role.
FULL_CONTROL = [
    ("Data Mart", "technical_owner", BU, False),
    ("Data Mart", "technical_owner", TU, True),
    ("Data Mart", "technical_owner", ADMIN, True),
    ("Storage", "owner", BU, False),
    ("Storage", "owner", TU, True),
    ("Storage", "owner", ADMIN, True),
    ("Destination", "owner", BU, True),
    ("Destination", "owner", TU, True),
    ("Destination", "owner", ADMIN, True),
    ("Report", "owner", BU, True),
    ("Report", "owner", TU, True),
    ("Report", "owner", ADMIN, True),
]


@pytest.mark.parametrize("row", entitlement_cells("000 Full control requires", FULL_CONTROL), ids=str)
def test_full_control_requires(row: EntitlementCell) -> None:
    """000 Ownership, table by entity: which role an owner needs (the Report's mart is shared for reporting)."""
    sales = row.sales()
    if row.entity == "Report":
        sales.shared("orders", REPORTING)
    assert (sales.may(row.resource) == every_action(KIND_OF[row.resource])) == row.yes


@pytest.mark.parametrize(("resource", "owner"), OWNED_AND_REPORT)
def test_an_owner_without_any_role_has_nothing(resource: str, owner: str) -> None:
    """000 Ownership, table by entity: "any role" is still a role in the project."""
    assert Sales().owns(resource, owner).shared("orders", REPORTING).may(resource) == set()


@pytest.mark.parametrize("scope", SCOPES)
def test_a_business_user_as_technical_owner(scope: str) -> None:
    """000 Ownership: views and uses the Data Mart, but does not edit, delete or manage it."""
    assert Sales(BU, scope).owns("orders", "technical_owner").may("orders") == {"see", "use"}


@pytest.mark.parametrize("scope", SCOPES)
def test_a_business_user_as_storage_owner(scope: str) -> None:
    """000 Ownership: no access to the Storage."""
    assert Sales(BU, scope).owns("warehouse").may("warehouse") == set()


@pytest.mark.parametrize(("resource", "owner"), [("orders", "technical_owner"), ("warehouse", "owner")])
def test_the_ownership_becomes_full_with_the_role(resource: str, owner: str) -> None:
    """000 Ownership: full ownership from the moment the Business User becomes a Technical User."""
    sales = Sales(BU).owns(resource, owner)
    sales.revoke("ann", BU, "sales")
    sales.grant("ann", TU, "sales")
    assert sales.may(resource) == every_action(KIND_OF[resource])


@pytest.mark.parametrize("trigger", ["nightly", "monday"])
def test_triggers_cannot_be_owned(trigger: str) -> None:
    """000 Ownership: Triggers have no dedicated ownership."""
    with pytest.raises(InvalidInputError):
        Sales(TU).owns(trigger)


def test_triggers_follow_their_parents() -> None:
    """000 Ownership: Data Mart Triggers under the Data Mart, Report Triggers under the Report."""
    of_mart = Sales(TU).owns("orders", "technical_owner")
    assert of_mart.may("nightly") == of_mart.may("monday") == {"see", "manage"}
    of_report = Sales(BU).owns("weekly")
    assert of_report.may("nightly") == set()
    assert of_report.may("monday") == {"see", "manage"}
