"""access-models.md, section Tenant: groups, the built-in group All, and API tokens."""

from __future__ import annotations

import pytest

from lakehold.access.decisions.principal import Principal, TokenPrincipal
from lakehold.access.facts.records import Add, Draft, Edge, Grant, Remove
from lakehold.access.facts.view import ResourceRow
from lakehold.kit.errors import InvalidInputError
from tests.golden.grid import AccessQuestion, is_refused, rows
from tests.golden.tenant_world import tenant
from tests.world import ALL, World

# What a group may hold, and what somebody in it may then do.
CARRIED = [
    ("tenant | groups carry | tenant Admin", "admin", "acme", "manage_members", "acme"),
    ("tenant | groups carry | tenant Editor", "editor", "acme", "edit_metadata", "people"),
    ("tenant | groups carry | tenant Viewer", "viewer", "acme", "browse_360", "people"),
    ("tenant | groups carry | Data admin", "data_admin", "acme", "change_owner", "sales"),
    ("tenant | groups carry | Data space creator", "data_space_creator", "acme", "create_space", "acme"),
    ("tenant | groups carry | marts Project Admin", "admin", "ads", "manage_settings", "ads"),
    ("tenant | groups carry | marts Technical User", "technical_user", "ads", "create_storage", "ads"),
    ("tenant | groups carry | marts Business User", "business_user", "ads", "see", "ads"),
    ("tenant | groups carry | lakehouse member", "member", "lh", "see", "lh"),
    ("tenant | groups carry | lakehouse Viewer", "viewer", "bronze", "read", "orders"),
    ("tenant | groups carry | lakehouse Editor", "editor", "bronze", "write", "orders"),
    ("tenant | groups carry | lakehouse Manager", "manager", "orders", "delete", "orders"),
    ("tenant | groups carry | Can edit in a space", "can_edit", "sales", "update", "crm"),
    ("tenant | groups carry | products project Editor", "editor", "people", "add_source", "people"),
    ("tenant | groups carry | products Curator", "curator", "customers", "curate", "customers"),
]


@rows("role where action on", CARRIED)
def test_groups_carry(role: str, where: str, action: str, on: str) -> None:
    world = tenant()
    world.group("team", "member")
    assert not world.check("member", action, on)
    world.grant("team", role, where)
    assert world.check("member", action, on)
    world.change(Remove(Edge("member_of", "member", "team")))
    assert not world.check("member", action, on)


NOT_CARRIED = [
    ("tenant | groups never carry | tenant Owner", "owner", "acme"),
    ("tenant | groups never carry | ownership of a storage", "owner", "storage"),
    ("tenant | groups never carry | Technical Owner of a data mart", "technical_owner", "mart"),
    ("tenant | groups never carry | Business Owner of a data mart", "business_owner", "mart"),
    ("tenant | groups never carry | ownership of a space", "owner", "sales"),
    ("tenant | groups never carry | ownership of a data project", "owner", "crm"),
    ("tenant | groups never carry | ownership of a data task", "owner", "load"),
    ("tenant | groups never carry | ownership of a data connection", "owner", "erp"),
]


@rows("role where", NOT_CARRIED)
def test_groups_never_carry(role: str, where: str) -> None:
    world = tenant()
    world.group("team", "member")
    for group in ("team", ALL):
        with pytest.raises(InvalidInputError):
            world.grant(group, role, where)


# All


@rows("who", [(f"tenant | All | membership is not edited | {who}", who) for who in ("owner", "admin", "member")])
def test_membership_of_all_is_not_edited(who: str) -> None:
    world = tenant()
    edge = Edge("member_of", "zoe", ALL)
    assert is_refused(lambda: world.decisions.check_change(who, Add(edge)))
    assert is_refused(lambda: world.decisions.check_change(who, Remove(edge)))


@rows("who", [(f"tenant | All | is not deleted | {who}", who) for who in ("owner", "admin", "member")])
def test_all_is_not_deleted(who: str) -> None:
    world = tenant()
    assert is_refused(lambda: world.check(who, "delete", ALL))


def test_tenant_all_is_not_made_twice() -> None:
    world = tenant()
    assert is_refused(lambda: AccessQuestion("create", Draft("tenant.all_members", {"tenant": "acme"}))(world, "owner"))


# Whom All means: the members of the workspace where there is a member list, else everybody in the tenant.
MEANT = [
    ("marts: a member of the project", "inside", Grant(ALL, "technical_user", "ads"), "create_storage", "ads", True),
    ("marts: not others", "outside", Grant(ALL, "technical_user", "ads"), "create_storage", "ads", False),
    ("lakehouse: a member, layer", "inside", Grant(ALL, "viewer", "bronze"), "read", "orders", True),
    ("lakehouse: a member, table", "inside", Grant(ALL, "editor", "orders"), "write", "orders", True),
    ("lakehouse: not others, layer", "outside", Grant(ALL, "viewer", "bronze"), "read", "orders", False),
    ("lakehouse: not others, table", "outside", Grant(ALL, "editor", "orders"), "write", "orders", False),
    ("spaces: everybody", "outside", Grant(ALL, "can_view", "sales"), "open", "load", True),
    ("products: everybody, project", "outside", Grant(ALL, "viewer", "people"), "browse_360", "people", True),
    ("products: everybody, data product", "outside", Grant(ALL, "curator", "customers"), "curate", "customers", True),
]


@rows("who grant action on expected", [(f"tenant | All | {name}", *case) for name, *case in MEANT])
def test_whom_all_means(who: str, grant: Grant, action: str, on: str, expected: bool) -> None:
    world = tenant()
    world.member("outside")
    world.member("inside")
    world.grant("inside", "business_user", "ads")
    world.grant("inside", "member", "lh")
    world.fact(grant)
    assert world.check(who, action, on) is expected


# API tokens: as their member, live


def fields() -> World:
    """`member` manages the layer bronze; there is a second layer, silver, that they manage too."""
    world = tenant()
    world.grant("member", "member", "lh")
    world.add("lakehouse.layer", "silver", lakehouse="lh")
    world.add("lakehouse.table", "clean", layer="silver")
    for layer in ("bronze", "silver"):
        world.grant("member", "manager", layer)
    return world


def test_tenant_tokens_lose_what_their_member_loses() -> None:
    world = fields()
    assert world.decisions.check(TokenPrincipal("member"), "read", "orders")
    world.revoke("member", "manager", "bronze")
    assert not world.decisions.check(TokenPrincipal("member"), "read", "orders")


def test_tenant_tokens_lose_what_a_group_gave() -> None:
    world = tenant()
    world.group("team", "member")
    world.grant("team", "can_view", "sales")
    assert world.decisions.check(TokenPrincipal("member"), "see", "sales")
    world.change(Remove(Edge("member_of", "member", "team")))
    assert not world.decisions.check(TokenPrincipal("member"), "see", "sales")


@rows(
    "token",
    [
        ("tenant | tokens | of a removed member", TokenPrincipal("member")),
        ("tenant | tokens | narrowed, of a removed member", TokenPrincipal("member", frozenset({"read"}))),
    ],
)
def test_token_of_a_removed_member(token: TokenPrincipal) -> None:
    world = fields()
    assert world.decisions.check(token, "read", "orders")
    number = world.view.ids.get("member")
    assert number is not None
    world.view.close(ResourceRow(number, "member", "tenant.member", "member"))
    world.view.touch()
    assert is_refused(lambda: world.decisions.check(token, "read", "orders"))


READS = TokenPrincipal("member", actions=frozenset({"see", "read"}))
BRONZE = TokenPrincipal("member", resources=frozenset({"bronze"}))
BOTH = TokenPrincipal("member", actions=frozenset({"read"}), resources=frozenset({"orders"}))

NARROWED = [
    ("tenant | tokens | narrowed to actions, one of them", READS, "read", "orders", True),
    ("tenant | tokens | narrowed to actions, another", READS, "write", "orders", False),
    ("tenant | tokens | narrowed to resources, that one", BRONZE, "edit", "bronze", True),
    ("tenant | tokens | narrowed to resources, what lies in it", BRONZE, "write", "orders", True),
    ("tenant | tokens | narrowed to resources, another", BRONZE, "read", "clean", False),
    ("tenant | tokens | narrowed to resources, what it lies in", BRONZE, "see", "lh", False),
    ("tenant | tokens | narrowed to both, both right", BOTH, "read", "orders", True),
    ("tenant | tokens | narrowed to both, other action", BOTH, "write", "orders", False),
    ("tenant | tokens | narrowed to both, other resource", BOTH, "read", "clean", False),
]


@rows("token action on expected", NARROWED)
def test_narrowed_tokens(token: TokenPrincipal, action: str, on: str, expected: bool) -> None:
    assert fields().decisions.check(token, action, on) is expected


WIDER = [
    ("tenant | tokens | never wider by actions", TokenPrincipal("zoe", actions=frozenset({"read", "delete"}))),
    (
        "tenant | tokens | never wider by resources",
        TokenPrincipal("zoe", resources=frozenset({"orders", "bronze", "lh"})),
    ),
    (
        "tenant | tokens | never wider by both",
        TokenPrincipal("zoe", frozenset({"read", "delete"}), frozenset({"orders"})),
    ),
]


@rows("token", WIDER)
def test_tokens_are_never_wider(token: TokenPrincipal) -> None:
    # Zoe may see and open nothing in the lakehouse.
    world = fields()
    for action in ("read", "delete"):
        assert not world.decisions.check(token, action, "orders")


# A narrowed token makes no invites or grants, whatever it is narrowed to.

HANDING_OUT = [
    ("give a lakehouse level", AccessQuestion("give", "bronze", "viewer"), "member", "bronze"),
    ("grant_viewer_editor", AccessQuestion("grant_viewer_editor", "bronze"), "member", "bronze"),
    ("give a tenant role", AccessQuestion("give", "acme", "editor"), "owner", "acme"),
    ("set_tenant_role", AccessQuestion("set_tenant_role", "acme"), "owner", "acme"),
    ("give a marts role", AccessQuestion("give", "ads", "business_user"), "owner", "ads"),
    ("invite to a marts project", AccessQuestion("invite", "ads", "business_user"), "owner", "ads"),
    ("invite_business_user", AccessQuestion("invite_business_user", "ads"), "owner", "ads"),
    ("give a role in a space", AccessQuestion("give", "sales", "can_view"), "owner", "sales"),
    ("give a products project role", AccessQuestion("give", "people", "viewer"), "owner", "people"),
    ("give a data product role", AccessQuestion("give", "customers", "viewer"), "owner", "customers"),
]
EVERY_ACTION = frozenset({
    "give", "invite", "give viewer", "give editor", "give business_user", "give can_view",
    "grant_viewer_editor", "set_tenant_role", "invite_business_user",
})  # fmt: skip


def principals(who: str, where: str) -> list[tuple[str, Principal, bool]]:
    return [
        ("the member", who, True),
        ("a whole token", TokenPrincipal(who), True),
        ("narrowed to actions", TokenPrincipal(who, actions=EVERY_ACTION), False),
        ("narrowed to the resource", TokenPrincipal(who, resources=frozenset({where})), False),
        ("narrowed to the tenant", TokenPrincipal(who, resources=frozenset({"acme"})), False),
    ]


@rows("ask principal expected", [(f"tenant | tokens | {what} | {how}", ask, principal, expected)
                             for what, ask, who, where in HANDING_OUT
                             for how, principal, expected in principals(who, where)])  # fmt: skip
def test_narrowed_tokens_hand_nothing_out(ask: AccessQuestion, principal: Principal, expected: bool) -> None:
    assert ask(fields(), principal) is expected


@rows("principal expected", [(f"tenant | tokens | a grant as a change | {how}", principal, expected)
                         for how, principal, expected in principals("member", "bronze")])  # fmt: skip
def test_narrowed_tokens_make_and_take_no_grants(principal: Principal, expected: bool) -> None:
    world = fields()
    world.grant("zoe", "editor", "bronze")
    assert world.decisions.check_change(principal, Add(Grant("zoe", "viewer", "orders"))) is expected
    assert world.decisions.check_change(principal, Remove(Grant("zoe", "editor", "bronze"))) is expected
