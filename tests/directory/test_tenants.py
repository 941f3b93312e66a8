"""Tenants are worlds of their own: nothing of one works in another."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lakehold import workspaces
from lakehold.directory import (
    accepting,
    groups,
    invites,
    links,
    members,
    new_passwords,
    removal,
    service_accounts,
    sign_ins,
    tenants,
    tokens,
)
from lakehold.directory.caller import Caller
from lakehold.directory.errors import UnauthorizedError
from lakehold.directory.magic_link import MagicLink
from lakehold.directory.mails import PASSWORD, SIGN_IN
from lakehold.directory.sign_in import Password, sign_in
from lakehold.directory.tenants import Founding
from lakehold.directory.work import Work
from lakehold.kit.errors import ConflictError, NotFoundError
from lakehold.kit.settings import Settings
from tests.directory.town import HOME, SECRET, Town, secret_of

OTHER = "another password"


def test_further_ones_are_made_by_the_operator(town: Town) -> None:
    town.second_tenant()
    assert [(tenant.uid, tenant.name) for tenant in tenants.every(town.house)] == [("acme", "Acme"), ("bolt", "Bolt")]
    assert tenants.only(town.house) == ""
    with pytest.raises(ConflictError, match="already a tenant"):
        tenants.found(town.house, workspaces.models(), Founding("Bolt", "Eve", "eve@example.org", SECRET, "bolt"))
    assert town.log("bolt")[0].action == "create"


def test_the_same_address_in_two_tenants_is_two_accounts(town: Town) -> None:
    bolt = town.second_tenant(owner="Olga")
    reset = _link(town, bolt, bolt.member, PASSWORD)
    new_passwords.set_with_link(town.house, reset, OTHER, HOME)
    here = sign_in(town.house, Password("olga@example.org", SECRET, "acme"), HOME)
    there = sign_in(town.house, Password("olga@example.org", OTHER, "bolt"), HOME)
    assert (here.tenant, here.member) == ("acme", town.olga.member)
    assert (there.tenant, there.member) == ("bolt", bolt.member)
    for password, tenant in ((SECRET, "bolt"), (OTHER, "acme")):
        with pytest.raises(UnauthorizedError):
            sign_in(town.house, Password("olga@example.org", password, tenant), HOME)


def test_what_signs_in_signs_in_to_its_own_tenant(town: Town) -> None:
    bolt = town.second_tenant()
    town.person("Bob")
    assert sign_in(town.house, MagicLink(_link(town, town.olga, "bob", SIGN_IN)), HOME).tenant == "acme"
    assert sign_ins.caller(town.house, town.signed_in("Bob").secret).tenant == "acme"
    with town.house.write(bolt) as work:
        token = tokens.make(work, "ci")
    assert tokens.caller(town.house, token.secret).tenant == "bolt"


def _link(town: Town, caller: Caller, member: str, purpose: str) -> str:
    with town.house.write(caller) as work:
        return secret_of(links.make(work, town.house.settings, member, purpose).link)


def test_an_invite_is_accepted_in_its_own_tenant(town: Town) -> None:
    bolt = town.second_tenant(owner="Olga")
    with town.house.write(bolt) as work:
        made = invites.make(work, town.house.settings, "olga@example.org")
    with pytest.raises(UnauthorizedError), town.house.write(town.olga) as work:
        accepting.accept_as_member(work, secret_of(made.link))
    assert accepting.look(town.house, secret_of(made.link)).tenant_name == "Bolt"


Deed = Callable[[Work, dict[str, str]], object]
DEEDS: dict[str, Deed] = {
    "see a member": lambda work, their: members.one(work, their["member"]),
    "rename a member": lambda work, their: members.rename(work, their["member"], "Mine"),
    "set an e-mail": lambda work, their: members.set_email(work, their["member"], "mine@example.org"),
    "remove a member": lambda work, their: removal.remove(work, their["member"]),
    "hand over to a member": lambda work, their: removal.remove(work, "mine", receiver=their["member"]),
    "see a group": lambda work, their: groups.one(work, their["group"]),
    "join a group": lambda work, their: groups.add(work, their["group"], work.caller.member),
    "take in a member": lambda work, their: groups.add(work, "my-group", their["member"]),
    "delete a group": lambda work, their: groups.delete(work, their["group"]),
    "make a link": lambda work, their: links.make(work, Settings(), their["member"], SIGN_IN),
    "see sign-ins": lambda work, their: sign_ins.of(work, their["member"]),
    "end sign-ins": lambda work, their: sign_ins.end_all(work, their["member"]),
    "end a sign-in": lambda work, their: sign_ins.end(work, work.caller.member, their["sign_in"]),
    "make a token": lambda work, their: tokens.make(work, "ci", member=their["service"]),
    "narrow a token": lambda work, their: tokens.make(work, "ci", resources=[their["group"]]),
    "see tokens": lambda work, their: tokens.of(work, their["member"]),
    "see a token": lambda work, their: tokens.one(work, their["token"]),
    "revoke a token": lambda work, their: tokens.revoke(work, their["token"]),
    "see an invite": lambda work, their: invites.one(work, their["invite"]),
    "resend an invite": lambda work, their: invites.resend(work, Settings(), their["invite"]),
    "revoke an invite": lambda work, their: invites.revoke(work, their["invite"]),
}


@pytest.fixture
def their(town: Town) -> dict[str, str]:
    """Something of each sort in the other tenant."""
    bolt = town.second_tenant()
    with town.house.write(bolt) as work:
        ids = {
            "member": members.add(work, "Theirs", email="theirs@example.org"),
            "group": groups.create(work, "Their group"),
            "service": service_accounts.create(work, "Their service"),
            "token": tokens.make(work, "theirs").token.id,
            "invite": invites.make(work, town.house.settings, "guest@example.org").invite.id,
        }
    signed_in = sign_in(town.house, Password("otto@example.org", SECRET, "bolt"), HOME)
    with town.house.write(town.olga) as work:
        members.add(work, "Mine", uid="mine")
        groups.create(work, "My group", uid="my-group")
    return ids | {"sign_in": signed_in.id}


@pytest.mark.parametrize("deed", DEEDS)
def test_an_owner_elsewhere_finds_nothing(town: Town, their: dict[str, str], deed: str) -> None:
    def everything() -> str:
        with town.house.database.read() as transaction:
            tables = ("resource", "access_edge", "account", "sign_in", "token", "link", "invite")
            return str([transaction.connection.exec_driver_sql(f"SELECT * FROM {name}").all() for name in tables])

    before = everything()
    with pytest.raises(NotFoundError) as hidden, town.house.write(town.olga) as work:
        DEEDS[deed](work, their)
    with pytest.raises(NotFoundError) as missing, town.house.write(town.olga) as work:
        DEEDS[deed](work, dict.fromkeys(their, "nothing"))
    told = str(hidden.value)
    for id_ in their.values():
        told = told.replace(id_, "nothing")
    assert told == str(missing.value)
    assert everything() == before


def test_lists_end_at_the_tenants_wall(town: Town, their: dict[str, str]) -> None:
    with town.house.read(town.olga) as work:
        assert {member.name for member in members.page(work).items} == {"Olga", "Mine"}
        assert [group.name for group in groups.page(work).items] == ["My group"]
        assert tokens.every(work) == []
        assert invites.page(work) == []
        assert service_accounts.every(work) == []
    assert their["member"] not in str(town.log())
