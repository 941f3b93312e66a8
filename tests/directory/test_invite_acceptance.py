"""An invite is accepted, by somebody new or by a member, and gives what its inviter may still give."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from lakehold.access import Attribute, Edge, Grant, TokenPrincipal
from lakehold.directory import invite_acceptance, member_removal, members, secret_tokens, sign_ins
from lakehold.directory.caller import Caller
from lakehold.directory.errors import DeniedError, UnauthorizedError
from lakehold.directory.invites import InvitedRole, InviteGrants, MembershipSetting
from lakehold.directory.sign_ins import CreatedSignIn
from lakehold.kit.errors import ConflictError, InvalidInputError, LakeholdError
from tests.directory.acme import HOME, SECRET, AcmePlatform, secret_of
from tests.directory.test_invites import ADMIN, BU, TU, invite, to


def accept(acme: AcmePlatform, secret: str, name: str = "Newman", password: str = SECRET) -> CreatedSignIn:
    return invite_acceptance.accept(acme.platform, secret, name, password, HOME)


def sent(
    acme: AcmePlatform, caller: Caller, invitation: InviteGrants | None = None, email: str = "new@example.org"
) -> str:
    return secret_of(invite(acme, caller, invitation, email).link)


def scope_of(acme: AcmePlatform, member: str) -> str | None:
    with acme.platform.read(acme.olga) as ctx:
        here, number = ctx.view.resource("sales"), ctx.view.member(member)
        return (ctx.view.memberships["scope"].get(here) or {}).get(number)


def test_somebody_new_becomes_a_member_with_an_account(acme: AcmePlatform) -> None:
    acme.project("sales")
    tara = acme.person("Tara", (TU, "sales"))
    secret = sent(acme, tara, to((BU, "sales")))
    looked = invite_acceptance.get_info(acme.platform, secret)
    assert (looked.tenant_name, looked.inviter_name, looked.email, looked.has_account) == (
        "Acme",
        "Tara",
        "new@example.org",
        False,
    )
    signed_in = accept(acme, secret)
    caller = sign_ins.authenticate(acme.platform, signed_in.secret)
    with acme.platform.read(caller) as ctx:
        ctx.need("create_destination", "sales")
        member = members.get(ctx, caller.member)
        assert (member.name, member.email, member.roles) == ("Newman", "new@example.org", ())
    (entry,) = [entry for entry in acme.log() if entry.action == "accept invite"]
    assert (entry.member, entry.after["invited_by"]) == (caller.member, "tara")


def test_it_is_accepted_once(acme: AcmePlatform) -> None:
    secret = sent(acme, acme.olga)
    accept(acme, secret)
    with pytest.raises(UnauthorizedError):
        accept(acme, secret)
    with acme.platform.read(acme.olga) as ctx:
        assert [member.name for member in members.page(ctx).items] == ["Newman", "Olga"]


def test_of_many_at_the_same_moment_one_gets_in(acme: AcmePlatform) -> None:
    secret = sent(acme, acme.olga)

    def open_page(n: int) -> str:
        try:
            return accept(acme, secret, f"Newman {n}").tenant
        except LakeholdError as error:
            return error.code

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(open_page, range(4))) == ["acme", "unauthorized", "unauthorized", "unauthorized"]


def test_what_cannot_be_leaves_the_invite_as_it_was(acme: AcmePlatform) -> None:
    secret = sent(acme, acme.olga)
    for name, password in (("", SECRET), ("a\0", SECRET), ("Newman", "short"), ("Newman", "new@example.org")):
        with pytest.raises(InvalidInputError):
            accept(acme, secret, name, password)
    for wrong in ("", "x", "\0", secret_tokens.generate(secret_tokens.INVITE).text):
        with pytest.raises(UnauthorizedError):
            accept(acme, wrong)
    assert accept(acme, secret).tenant == "acme"


def test_an_inviter_who_lost_the_right_cannot_give_it(acme: AcmePlatform) -> None:
    acme.project("sales")
    tara = acme.person("Tara", (TU, "sales"))
    secret = sent(acme, tara, to((TU, "sales")))
    with acme.platform.write(acme.olga) as ctx:
        ctx.session.store.remove(Grant("tara", TU, "sales"))
        ctx.session.store.add(Grant("tara", BU, "sales"))
    with pytest.raises(ConflictError, match="can no longer grant these roles"):
        accept(acme, secret)
    with acme.platform.write(acme.olga) as ctx:
        ctx.session.store.add(Grant("tara", TU, "sales"))
    assert accept(acme, secret).tenant == "acme"


def test_an_inviter_who_is_gone_cannot_either(acme: AcmePlatform) -> None:
    acme.project("sales")
    secret = sent(acme, acme.person("Tara", (TU, "sales")), to((TU, "sales")))
    with acme.platform.write(acme.olga) as ctx:
        member_removal.remove(ctx, "tara")
    with pytest.raises(ConflictError, match="can no longer grant"):
        accept(acme, secret)


def test_a_place_that_is_gone_cannot_be_given(acme: AcmePlatform) -> None:
    acme.project("sales")
    secret = sent(acme, acme.olga, to((TU, "sales")))
    with acme.platform.write(acme.olga) as ctx:
        ctx.session.store.delete("sales")
    with pytest.raises(ConflictError, match="can no longer grant"):
        accept(acme, secret)


# Scope and contexts: a guest gets no more than the host has


def test_an_admin_chooses_scope_and_contexts(acme: AcmePlatform) -> None:
    acme.project("sales")
    acme.create_resource("marts.context", "emea", project="sales")
    invitation = InviteGrants(
        (InvitedRole(BU, "sales"), InvitedRole("holder", "emea")),
        (MembershipSetting("sales", "scope", "selected_contexts"),),
    )
    member = accept(acme, sent(acme, acme.olga, invitation)).member
    assert scope_of(acme, member) == "selected_contexts"
    with acme.platform.read(acme.olga) as ctx:
        assert Grant(member, "holder", "emea") in ctx.grants("emea")
    assert scope_of(acme, accept(acme, sent(acme, acme.olga, to((BU, "sales")), "two@example.org")).member) is None


def test_others_pass_on_their_own_scope(acme: AcmePlatform) -> None:
    acme.project("sales")
    tim = acme.person("Tim", (TU, "sales"))
    with acme.platform.write(acme.olga) as ctx:
        ctx.session.store.add(Attribute("sales", "scope", "selected_contexts", "tim"))
    wider = InviteGrants((InvitedRole(BU, "sales"),), (MembershipSetting("sales", "scope", "entire_project"),))
    with pytest.raises(DeniedError):
        sent(acme, tim, wider)
    same = InviteGrants((InvitedRole(BU, "sales"),), (MembershipSetting("sales", "scope", "selected_contexts"),))
    assert scope_of(acme, accept(acme, sent(acme, tim, same)).member) == "selected_contexts"
    silent = sent(acme, tim, to((BU, "sales")), "two@example.org")
    assert scope_of(acme, accept(acme, silent).member) == "selected_contexts"


def test_the_scope_is_the_inviters_at_the_moment_of_accepting(acme: AcmePlatform) -> None:
    acme.project("sales")
    secret = sent(acme, acme.person("Tim", (TU, "sales")), to((BU, "sales")))
    with acme.platform.write(acme.olga) as ctx:
        ctx.session.store.add(Attribute("sales", "scope", "selected_contexts", "tim"))
    assert scope_of(acme, accept(acme, secret).member) == "selected_contexts"


def test_others_pass_on_their_own_contexts_only(acme: AcmePlatform) -> None:
    acme.project("sales")
    for context in ("emea", "apac"):
        acme.create_resource("marts.context", context, project="sales")
    tim, tara = acme.person("Tim", (TU, "sales"), ("holder", "emea")), acme.person("Tara", (TU, "sales"))
    with acme.platform.write(acme.olga) as ctx:
        ctx.session.store.add(Attribute("sales", "scope", "selected_contexts", "tim"))
    member = accept(acme, sent(acme, tim, to((BU, "sales"), ("holder", "emea")))).member
    with acme.platform.read(acme.olga) as ctx:
        assert Grant(member, "holder", "emea") in ctx.grants("emea")
    with pytest.raises(DeniedError):
        sent(acme, tim, to((BU, "sales"), ("holder", "apac")))
    # Whose scope is the entire project has them all.
    assert sent(acme, tara, to((BU, "sales"), ("holder", "apac")))


# Somebody who is a member already


def test_a_member_accepts_signed_in(acme: AcmePlatform) -> None:
    acme.project("sales")
    bob = acme.person("Bob")
    secret = sent(acme, acme.olga, to((TU, "sales")), "BOB@example.org")
    assert invite_acceptance.get_info(acme.platform, secret).has_account
    with pytest.raises(ConflictError, match="Sign in, then accept"):
        accept(acme, secret)
    with acme.platform.write(bob) as ctx:
        invite_acceptance.accept_as_member(ctx, secret)
        ctx.need("create_storage", "sales")
    with pytest.raises(UnauthorizedError), acme.platform.write(bob) as ctx:
        invite_acceptance.accept_as_member(ctx, secret)


def test_an_invite_for_another_address_is_refused(acme: AcmePlatform) -> None:
    acme.person("Bob")
    eve = acme.person("Eve")
    secret = sent(acme, acme.olga, to(("admin", acme.tenant)), "bob@example.org")
    with pytest.raises(ConflictError, match="another e-mail address"), acme.platform.write(eve) as ctx:
        invite_acceptance.accept_as_member(ctx, secret)


def test_a_narrowed_token_accepts_nothing(acme: AcmePlatform) -> None:
    bob = acme.person("Bob")
    secret = sent(acme, acme.olga, to(("admin", acme.tenant)), "bob@example.org")
    with (
        pytest.raises(DeniedError),
        acme.platform.write(replace(bob, narrowed=TokenPrincipal("bob", actions=frozenset()))) as ctx,
    ):
        invite_acceptance.accept_as_member(ctx, secret)


@pytest.mark.parametrize("by_group", [False, True])
def test_who_may_only_invite_does_not_change_the_role_of_those_who_are_there(
    acme: AcmePlatform, by_group: bool
) -> None:
    acme.project("sales")
    tara, bob = acme.person("Tara", (TU, "sales")), acme.person("Bob")
    acme.create_resource("tenant.group", "team", tenant=acme.tenant)
    with acme.platform.write(acme.olga) as ctx:
        ctx.session.store.add(Edge("member_of", "bob", "team"))
        ctx.session.store.add(Grant("team" if by_group else "bob", BU, "sales"))
    secret = sent(acme, tara, to((TU, "sales")), "bob@example.org")
    with pytest.raises(ConflictError, match="You are a member there already"), acme.platform.write(bob) as ctx:
        invite_acceptance.accept_as_member(ctx, secret)
    secret = sent(acme, acme.olga, to((ADMIN, "sales")), "bob@example.org")
    with acme.platform.write(bob) as ctx:
        invite_acceptance.accept_as_member(ctx, secret)
        ctx.need("manage_settings", "sales")
