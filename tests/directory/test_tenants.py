"""Tenants are worlds of their own: nothing of one works in another."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lakehold import workspaces
from lakehold.directory import (
    authentication,
    groups,
    invite_acceptance,
    invites,
    links,
    member_removal,
    members,
    sign_ins,
    tenants,
    tokens,
)
from lakehold.directory.authentication import MagicLinkMethod, PasswordMethod, sign_in
from lakehold.directory.caller import Caller
from lakehold.directory.errors import UnauthorizedError
from lakehold.directory.links import PASSWORD, SIGN_IN
from lakehold.directory.request_context import RequestContext
from lakehold.directory.tenants import TenantSetup
from lakehold.kit.errors import ConflictError, NotFoundError
from lakehold.kit.settings import Settings
from tests.directory.acme import HOME, SECRET, AcmePlatform, secret_of

OTHER = "another password"


def test_further_ones_are_made_by_the_operator(acme: AcmePlatform) -> None:
    acme.second_tenant()
    assert [(tenant.uid, tenant.name) for tenant in tenants.list_all(acme.platform)] == [
        ("acme", "Acme"),
        ("bolt", "Bolt"),
    ]
    assert tenants.only_tenant(acme.platform) == ""
    with pytest.raises(ConflictError, match="already a tenant"):
        tenants.create_tenant(
            acme.platform, workspaces.models(), TenantSetup("Bolt", "Eve", "eve@example.org", SECRET, "bolt")
        )
    assert acme.log("bolt")[0].action == "create"


def test_the_same_address_in_two_tenants_is_two_accounts(acme: AcmePlatform) -> None:
    bolt = acme.second_tenant(owner="Olga")
    reset = _link(acme, bolt, bolt.member, PASSWORD)
    authentication.set_password_with_link(acme.platform, reset, OTHER, HOME)
    here = sign_in(acme.platform, PasswordMethod("olga@example.org", SECRET, "acme"), HOME)
    there = sign_in(acme.platform, PasswordMethod("olga@example.org", OTHER, "bolt"), HOME)
    assert (here.tenant, here.member) == ("acme", acme.olga.member)
    assert (there.tenant, there.member) == ("bolt", bolt.member)
    for password, tenant in ((SECRET, "bolt"), (OTHER, "acme")):
        with pytest.raises(UnauthorizedError):
            sign_in(acme.platform, PasswordMethod("olga@example.org", password, tenant), HOME)


def test_what_signs_in_signs_in_to_its_own_tenant(acme: AcmePlatform) -> None:
    bolt = acme.second_tenant()
    acme.person("Bob")
    assert sign_in(acme.platform, MagicLinkMethod(_link(acme, acme.olga, "bob", SIGN_IN)), HOME).tenant == "acme"
    assert sign_ins.authenticate(acme.platform, acme.sign_in("Bob").secret).tenant == "acme"
    with acme.platform.write(bolt) as ctx:
        token = tokens.create(ctx, "ci")
    assert acme.authenticate_token(token.secret).tenant == "bolt"


def _link(acme: AcmePlatform, caller: Caller, member: str, purpose: str) -> str:
    with acme.platform.write(caller) as ctx:
        return secret_of(links.create(ctx, acme.platform.settings, member, purpose).link)


def test_an_invite_is_accepted_in_its_own_tenant(acme: AcmePlatform) -> None:
    bolt = acme.second_tenant(owner="Olga")
    with acme.platform.write(bolt) as ctx:
        made = invites.create(ctx, acme.platform.settings, "olga@example.org")
    with pytest.raises(UnauthorizedError), acme.platform.write(acme.olga) as ctx:
        invite_acceptance.accept_as_member(ctx, secret_of(made.link))
    assert invite_acceptance.get_info(acme.platform, secret_of(made.link)).tenant_name == "Bolt"


Deed = Callable[[RequestContext, dict[str, str]], object]
DEEDS: dict[str, Deed] = {
    "see a member": lambda ctx, their: members.get(ctx, their["member"]),
    "rename a member": lambda ctx, their: members.rename(ctx, their["member"], "Mine"),
    "set an e-mail": lambda ctx, their: members.set_email(ctx, their["member"], "mine@example.org"),
    "remove a member": lambda ctx, their: member_removal.remove(ctx, their["member"]),
    "hand over to a member": lambda ctx, their: member_removal.remove(ctx, "mine", receiver=their["member"]),
    "see a group": lambda ctx, their: groups.get(ctx, their["group"]),
    "join a group": lambda ctx, their: groups.add(ctx, their["group"], ctx.caller.member),
    "take in a member": lambda ctx, their: groups.add(ctx, "my-group", their["member"]),
    "delete a group": lambda ctx, their: groups.delete(ctx, their["group"]),
    "make a link": lambda ctx, their: links.create(ctx, Settings(), their["member"], SIGN_IN),
    "see sign-ins": lambda ctx, their: sign_ins.list_of_member(ctx, their["member"]),
    "end sign-ins": lambda ctx, their: sign_ins.end_all(ctx, their["member"]),
    "end a sign-in": lambda ctx, their: sign_ins.end(ctx, ctx.caller.member, their["sign_in"]),
    "make a token": lambda ctx, their: tokens.create(ctx, "ci", member=their["service"]),
    "narrow a token": lambda ctx, their: tokens.create(ctx, "ci", resources=[their["group"]]),
    "see tokens": lambda ctx, their: tokens.list_of_member(ctx, their["member"]),
    "see a token": lambda ctx, their: tokens.get(ctx, their["token"]),
    "revoke a token": lambda ctx, their: tokens.revoke(ctx, their["token"]),
    "see an invite": lambda ctx, their: invites.get(ctx, their["invite"]),
    "resend an invite": lambda ctx, their: invites.resend(ctx, Settings(), their["invite"]),
    "revoke an invite": lambda ctx, their: invites.revoke(ctx, their["invite"]),
}


@pytest.fixture
def their(acme: AcmePlatform) -> dict[str, str]:
    """Something of each sort in the other tenant."""
    bolt = acme.second_tenant()
    with acme.platform.write(bolt) as ctx:
        ids = {
            "member": members.add(ctx, "Theirs", email="theirs@example.org"),
            "group": groups.create(ctx, "Their group"),
            "service": members.create_service_account(ctx, "Their service"),
            "token": tokens.create(ctx, "theirs").token.id,
            "invite": invites.create(ctx, acme.platform.settings, "guest@example.org").invite.id,
        }
    signed_in = sign_in(acme.platform, PasswordMethod("otto@example.org", SECRET, "bolt"), HOME)
    with acme.platform.write(acme.olga) as ctx:
        members.add(ctx, "Mine", uid="mine")
        groups.create(ctx, "My group", uid="my-group")
    return ids | {"sign_in": signed_in.id}


@pytest.mark.parametrize("deed", DEEDS)
def test_an_owner_elsewhere_finds_nothing(acme: AcmePlatform, their: dict[str, str], deed: str) -> None:
    def everything() -> str:
        with acme.platform.database.read() as transaction:
            tables = ("resource", "access_edge", "account", "sign_in", "token", "link", "invite")
            return str([transaction.connection.exec_driver_sql(f"SELECT * FROM {name}").all() for name in tables])

    before = everything()
    with pytest.raises(NotFoundError) as hidden, acme.platform.write(acme.olga) as ctx:
        DEEDS[deed](ctx, their)
    with pytest.raises(NotFoundError) as missing, acme.platform.write(acme.olga) as ctx:
        DEEDS[deed](ctx, dict.fromkeys(their, "nothing"))
    message = str(hidden.value)
    for id_ in their.values():
        message = message.replace(id_, "nothing")
    assert message == str(missing.value)
    assert everything() == before


def test_lists_end_at_the_tenants_wall(acme: AcmePlatform, their: dict[str, str]) -> None:
    with acme.platform.read(acme.olga) as ctx:
        assert {member.name for member in members.page(ctx).items} == {"Olga", "Mine"}
        assert [group.name for group in groups.page(ctx).items] == ["My group"]
        assert tokens.list_all(ctx) == []
        assert invites.page(ctx) == []
        assert members.list_service_accounts(ctx) == []
    assert their["member"] not in str(acme.log())
