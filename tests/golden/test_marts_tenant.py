"""access-models.md, Tenant: the column "in marts", groups, All and invites, as far as they concern a marts project."""

from __future__ import annotations

import pytest

from lakehold.access.facts.records import Draft, Edge, Grant, Remove
from lakehold.kit.errors import InvalidInputError
from tests.golden.marts_world import (
    ADMIN,
    ANN,
    BOTH,
    BU,
    KIND_OF,
    MAINTENANCE,
    NO_OVERLAP,
    REPORTING,
    SCOPES,
    TU,
    USE,
    Sales,
    every_action,
)
from tests.world import ALL

MAINTAIN_MART = {"see", "use", "edit", "delete", "manage_triggers"}


def _open_to_all_members(role: str = "") -> Sales:
    sales = Sales(role)
    return sales.shared("warehouse", BOTH).shared("orders", BOTH).shared("sheet", BOTH)


# Table "tenant role | in marts".
@pytest.mark.parametrize("resource", KIND_OF)
@pytest.mark.parametrize("tenant_role", ["owner", "admin"])
def test_tenant_owner_and_admin_are_project_admins(tenant_role: str, resource: str) -> None:
    """Tenant | Owner, Admin | in marts: Project Admin, on every kind."""
    sales = Sales()
    sales.grant(ANN, tenant_role, "acme")
    assert sales.may(resource) == every_action(KIND_OF[resource])


@pytest.mark.parametrize("resource", KIND_OF)
@pytest.mark.parametrize("tenant_role", ["editor", "viewer"])
def test_tenant_editor_and_viewer_are_nothing_by_themselves(tenant_role: str, resource: str) -> None:
    """Tenant | Editor, Viewer | in marts: nothing by itself, however much is shared in the project."""
    sales = _open_to_all_members()
    sales.grant(ANN, tenant_role, "acme")
    assert sales.may(resource) == set()


@pytest.mark.parametrize("resource", KIND_OF)
def test_a_plain_member_has_only_what_is_granted(resource: str) -> None:
    """Tenant | Member | in marts: nothing without a role in the project."""
    assert _open_to_all_members().may(resource) == set()


@pytest.mark.parametrize("tenant_role", ["editor", "viewer", ""])
def test_other_tenant_roles_leave_a_project_role_as_it_is(tenant_role: str) -> None:
    """Tenant | Editor, Viewer, Member | in marts: what is granted in the project, no more."""
    sales = Sales(BU).shared("orders", BOTH)
    if tenant_role:
        sales.grant(ANN, tenant_role, "acme")
    assert sales.may("orders") == {"see", "use"}


@pytest.mark.parametrize("resource", KIND_OF)
@pytest.mark.parametrize("security_role", ["data_admin", "data_space_creator"])
def test_security_roles_do_not_act_in_marts(security_role: str, resource: str) -> None:
    """Tenant: Data admin and Data space creator act in spaces only."""
    sales = _open_to_all_members()
    sales.grant(ANN, security_role, "acme")
    assert sales.may(resource) == set()


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("tenant_role", ["owner", "admin"])
def test_a_lower_role_in_the_project_does_not_bind_a_tenant_admin(tenant_role: str, scope: str) -> None:
    """Tenant | Owner, Admin | in marts: the highest counts, past scope and contexts."""
    sales = Sales(BU, scope)
    sales.grant(ANN, tenant_role, "acme")
    assert sales.may("orders") == every_action("data_mart")
    assert sales.may_invite(ADMIN)


# Workspaces
@pytest.mark.parametrize(
    ("tenant_role", "yes"), [("owner", True), ("admin", True), ("editor", False), ("viewer", False), ("", False)]
)
def test_creating_a_project(tenant_role: str, yes: bool) -> None:
    """Tenant actions: create_workspace is the Owner's and the Admins'."""
    sales = Sales(ADMIN)
    if tenant_role:
        sales.grant(ANN, tenant_role, "acme")
    assert sales.decisions.check(ANN, "create", Draft("marts.project", {"tenant": "acme"})) == yes


def test_the_creator_of_a_project_is_its_admin() -> None:
    """Tenant: whoever creates a marts workspace becomes its Project Admin."""
    assert Sales().view.policy.kind("marts.project").schema.creator == "admin"


def test_a_role_in_one_project_is_nothing_in_another() -> None:
    """Tenant: any number of workspaces side by side."""
    sales = Sales(ADMIN)
    sales.add("marts.project", "finance", tenant="acme")
    sales.add("marts.data_mart", "costs", project="finance")
    sales.set("costs", shared_for_reporting=True, shared_for_maintenance=True)
    assert sales.may("finance") == sales.may("costs") == set()


# Groups
def test_a_group_carries_the_tenant_role_admin() -> None:
    """Groups carry tenant roles below Owner: Project Admin by a group."""
    sales = Sales()
    sales.group("operations", ANN)
    sales.grant("operations", "admin", "acme")
    assert sales.may("orders") == every_action("data_mart")
    with pytest.raises(InvalidInputError):
        sales.grant("operations", "owner", "acme")


@pytest.mark.parametrize(
    ("direct", "by_group", "expected"),
    [
        ("", ADMIN, every_action("data_mart")),
        ("", TU, MAINTAIN_MART),
        ("", BU, {"see", "use"}),
        (BU, ADMIN, every_action("data_mart")),
        (BU, TU, MAINTAIN_MART),
        (BU, BU, {"see", "use"}),
        (TU, ADMIN, every_action("data_mart")),
        (TU, BU, MAINTAIN_MART),
        (ADMIN, BU, every_action("data_mart")),
    ],
)
def test_of_several_roles_the_highest_counts(direct: str, by_group: str, expected: set[str]) -> None:
    """marts, roles: direct or by groups, the highest counts."""
    sales = Sales(direct).shared("orders", BOTH)
    sales.group("analysts", ANN)
    sales.grant("analysts", by_group, "sales")
    assert sales.may("orders") == expected


@pytest.mark.parametrize(("one", "other"), [(BU, TU), (TU, BU)])
def test_of_two_groups_the_highest_counts(one: str, other: str) -> None:
    """marts, roles: of two groups likewise; who leaves the higher one keeps the lower one."""
    sales = Sales().shared("orders", BOTH)
    for group, role in (("first", one), ("second", other)):
        sales.group(group, ANN)
        sales.grant(group, role, "sales")
    assert sales.may("orders") == MAINTAIN_MART
    sales.change(Remove(Edge("member_of", ANN, "first" if one == TU else "second")))
    assert sales.may("orders") == {"see", "use"}


@pytest.mark.parametrize(
    ("resource", "owner", "by_group", "cell"),
    [
        ("warehouse", "owner", TU, "storage"),
        ("orders", "technical_owner", TU, "data_mart"),
        ("sheet", "owner", BU, "destination"),
    ],
)
def test_the_ownership_floor_counts_a_role_by_group(resource: str, owner: str, by_group: str, cell: str) -> None:
    """marts, roles: an owner's role may come by a group."""
    sales = Sales("", NO_OVERLAP).owns(resource, owner)
    sales.group("analysts", ANN)
    sales.grant("analysts", by_group, "sales")
    assert sales.may(resource) == every_action(cell)


@pytest.mark.parametrize("subject", ["analysts", ALL])
@pytest.mark.parametrize(
    ("resource", "owner"),
    [
        ("warehouse", "owner"),
        ("orders", "technical_owner"),
        ("orders", "business_owner"),
        ("sheet", "owner"),
        ("weekly", "owner"),
    ],
)
def test_groups_never_own_a_resource(resource: str, owner: str, subject: str) -> None:
    """Groups carry workspace roles, never ownership of a resource."""
    sales = Sales(ADMIN)
    sales.group("analysts", ANN)
    with pytest.raises(InvalidInputError):
        sales.grant(subject, owner, resource)


@pytest.mark.parametrize("subject", ["analysts", ALL])
def test_contexts_are_the_members_own(subject: str) -> None:
    """marts, roles: contexts are not held by groups."""
    sales = Sales(ADMIN)
    sales.group("analysts", ANN)
    with pytest.raises(InvalidInputError):
        sales.grant(subject, "holder", "north")


# All
def test_all_means_the_members_of_the_project() -> None:
    """All: a role given to All is held by everybody with a role in the project, direct or by a group."""
    sales = Sales(BU).colleague("bob").colleague("cem").shared("orders", MAINTENANCE)
    sales.group("analysts", "bob")
    sales.grant("analysts", BU, "sales")
    sales.grant(ALL, TU, "sales")
    assert sales.may("orders") == sales.may("orders", "bob") == MAINTAIN_MART
    assert sales.may("orders", "cem") == sales.may("sales", "cem") == set()


def test_all_does_not_mean_members_of_another_project() -> None:
    """All: a role in another project does not make one a member of this one."""
    sales = Sales().shared("orders", BOTH)
    sales.add("marts.project", "finance", tenant="acme")
    sales.grant(ANN, ADMIN, "finance")
    sales.grant(ALL, BU, "sales")
    assert sales.may("orders") == sales.may("sales") == set()


@pytest.mark.parametrize("tenant_role", ["owner", "admin", "editor", "viewer", ""])
def test_all_is_built_in(tenant_role: str) -> None:
    """All: nobody edits its membership or deletes it."""
    sales = Sales(ADMIN).colleague("bob")
    if tenant_role:
        sales.grant(ANN, tenant_role, "acme")
    assert sales.may(ALL) == {"see"}
    with pytest.raises(InvalidInputError):
        sales.may_add(Edge("member_of", "bob", ALL))


# Adding people
@pytest.mark.parametrize("tenant_role", ["owner", "admin"])
@pytest.mark.parametrize("role", [ADMIN, TU, BU])
def test_tenant_owner_and_admin_add_anyone(role: str, tenant_role: str) -> None:
    """Adding people: Owner and Admin, with any role."""
    sales = Sales().colleague("bob")
    sales.grant(ANN, tenant_role, "acme")
    assert sales.may_invite(role)
    assert sales.may_add(Grant("bob", role, "sales"))


@pytest.mark.parametrize("role", [ADMIN, TU, BU])
def test_a_project_role_does_not_reach_the_tenant(role: str) -> None:
    """Adding people: an invite goes into that project only; the tenant's members and groups stay the tenant's."""
    sales = Sales(role).colleague("bob")
    sales.group("analysts", "bob")
    assert sales.may("acme") == {"see"}
    assert sales.may("bob") == sales.may("analysts") == {"see"}
    assert not sales.may_add(Grant("bob", "viewer", "acme"))
    assert not sales.may_add(Edge("member_of", ANN, "analysts"))


@pytest.mark.parametrize("role", ["", "viewer"])
def test_invites_need_a_role_in_the_project(role: str) -> None:
    """Adding people: who has no role in the project invites nobody into it."""
    sales = Sales()
    if role:
        sales.grant(ANN, role, "acme")
    assert not any(sales.may_invite(invited) for invited in (ADMIN, TU, BU))


@pytest.mark.parametrize("role", [TU, BU])
def test_the_right_to_invite_is_not_the_right_to_give(role: str) -> None:
    """Invites as the seed's table: members who are there already get roles from a Project Admin only."""
    sales = Sales(role).colleague("bob")
    assert sales.may_invite(BU)
    assert not sales.may_add(Grant("bob", BU, "sales"))
    assert not sales.may_add(Grant(ANN, ADMIN, "sales"))


def test_a_member_who_leaves_the_project_loses_what_they_own() -> None:
    """Settled, removing a member: what they own stays, ownerless in effect, and gives them nothing."""
    sales = Sales(TU).owns("orders", "technical_owner").owns("sheet").owns("weekly").shared("sheet", USE)
    sales.shared("orders", REPORTING)
    sales.revoke(ANN, TU, "sales")
    assert all(sales.may(resource) == set() for resource in KIND_OF)
