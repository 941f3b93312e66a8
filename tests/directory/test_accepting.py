"""An invite is accepted, by somebody new or by a member, and gives what its inviter may still give."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from lakehold.access import Attribute, Edge, Grant, TokenPrincipal
from lakehold.directory import invite_acceptance, member_removal, members, secret_tokens, sign_ins
from lakehold.directory.caller import Caller
from lakehold.directory.errors import DeniedError, UnauthorizedError
from lakehold.directory.invite_grants import InvitedRole, InviteGrants, MembershipSetting
from lakehold.directory.sign_ins import CreatedSignIn
from lakehold.kit.errors import ConflictError, InvalidInputError, LakeholdError
from tests.directory.test_invites import ADMIN, BU, TU, invite, to
from tests.directory.town import HOME, SECRET, Town, secret_of


def accept(town: Town, secret: str, name: str = "Newman", password: str = SECRET) -> CreatedSignIn:
    return invite_acceptance.accept(town.platform, secret, name, password, HOME)


def sent(town: Town, caller: Caller, invitation: InviteGrants | None = None, email: str = "new@example.org") -> str:
    return secret_of(invite(town, caller, invitation, email).link)


def scope_of(town: Town, member: str) -> str | None:
    with town.platform.read(town.olga) as ctx:
        here, number = ctx.view.resource("sales"), ctx.view.member(member)
        return (ctx.view.memberships["scope"].get(here) or {}).get(number)


def test_somebody_new_becomes_a_member_with_an_account(town: Town) -> None:
    town.project("sales")
    tara = town.person("Tara", (TU, "sales"))
    secret = sent(town, tara, to((BU, "sales")))
    looked = invite_acceptance.get_info(town.platform, secret)
    assert (looked.tenant_name, looked.inviter_name, looked.email, looked.has_account) == (
        "Acme",
        "Tara",
        "new@example.org",
        False,
    )
    signed_in = accept(town, secret)
    caller = sign_ins.authenticate(town.platform, signed_in.secret)
    with town.platform.read(caller) as ctx:
        ctx.need("create_destination", "sales")
        told = members.get(ctx, caller.member)
        assert (told.name, told.email, told.roles) == ("Newman", "new@example.org", ())
    (entry,) = [entry for entry in town.log() if entry.action == "accept invite"]
    assert (entry.member, entry.after["invited_by"]) == (caller.member, "tara")


def test_it_is_accepted_once(town: Town) -> None:
    secret = sent(town, town.olga)
    accept(town, secret)
    with pytest.raises(UnauthorizedError):
        accept(town, secret)
    with town.platform.read(town.olga) as ctx:
        assert [member.name for member in members.page(ctx).items] == ["Newman", "Olga"]


def test_of_many_at_the_same_moment_one_gets_in(town: Town) -> None:
    secret = sent(town, town.olga)

    def come(n: int) -> str:
        try:
            return accept(town, secret, f"Newman {n}").tenant
        except LakeholdError as error:
            return error.code

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(come, range(4))) == ["acme", "unauthorized", "unauthorized", "unauthorized"]


def test_what_cannot_be_leaves_the_invite_as_it_was(town: Town) -> None:
    secret = sent(town, town.olga)
    for name, password in (("", SECRET), ("a\0", SECRET), ("Newman", "short"), ("Newman", "new@example.org")):
        with pytest.raises(InvalidInputError):
            accept(town, secret, name, password)
    for wrong in ("", "x", "\0", secret_tokens.generate(secret_tokens.INVITE).text):
        with pytest.raises(UnauthorizedError):
            accept(town, wrong)
    assert accept(town, secret).tenant == "acme"


def test_an_inviter_who_lost_the_right_cannot_give_it(town: Town) -> None:
    town.project("sales")
    tara = town.person("Tara", (TU, "sales"))
    secret = sent(town, tara, to((TU, "sales")))
    with town.platform.write(town.olga) as ctx:
        ctx.session.store.remove(Grant("tara", TU, "sales"))
        ctx.session.store.add(Grant("tara", BU, "sales"))
    with pytest.raises(ConflictError, match="may no longer give what this invite promises"):
        accept(town, secret)
    with town.platform.write(town.olga) as ctx:
        ctx.session.store.add(Grant("tara", TU, "sales"))
    assert accept(town, secret).tenant == "acme"


def test_an_inviter_who_is_gone_cannot_either(town: Town) -> None:
    town.project("sales")
    secret = sent(town, town.person("Tara", (TU, "sales")), to((TU, "sales")))
    with town.platform.write(town.olga) as ctx:
        member_removal.remove(ctx, "tara")
    with pytest.raises(ConflictError, match="may no longer"):
        accept(town, secret)


def test_a_place_that_is_gone_cannot_be_given(town: Town) -> None:
    town.project("sales")
    secret = sent(town, town.olga, to((TU, "sales")))
    with town.platform.write(town.olga) as ctx:
        ctx.session.store.delete("sales")
    with pytest.raises(ConflictError, match="may no longer"):
        accept(town, secret)


# Scope and contexts: a guest gets no more than the host has


def test_an_admin_chooses_scope_and_contexts(town: Town) -> None:
    town.project("sales")
    town.made("marts.context", "emea", project="sales")
    wanted = InviteGrants(
        (InvitedRole(BU, "sales"), InvitedRole("holder", "emea")),
        (MembershipSetting("sales", "scope", "selected_contexts"),),
    )
    member = accept(town, sent(town, town.olga, wanted)).member
    assert scope_of(town, member) == "selected_contexts"
    with town.platform.read(town.olga) as ctx:
        assert Grant(member, "holder", "emea") in ctx.grants("emea")
    assert scope_of(town, accept(town, sent(town, town.olga, to((BU, "sales")), "two@example.org")).member) is None


def test_others_pass_on_their_own_scope(town: Town) -> None:
    town.project("sales")
    tim = town.person("Tim", (TU, "sales"))
    with town.platform.write(town.olga) as ctx:
        ctx.session.store.add(Attribute("sales", "scope", "selected_contexts", "tim"))
    wider = InviteGrants((InvitedRole(BU, "sales"),), (MembershipSetting("sales", "scope", "entire_project"),))
    with pytest.raises(DeniedError):
        sent(town, tim, wider)
    same = InviteGrants((InvitedRole(BU, "sales"),), (MembershipSetting("sales", "scope", "selected_contexts"),))
    assert scope_of(town, accept(town, sent(town, tim, same)).member) == "selected_contexts"
    silent = sent(town, tim, to((BU, "sales")), "two@example.org")
    assert scope_of(town, accept(town, silent).member) == "selected_contexts"


def test_the_scope_is_the_inviters_at_the_moment_of_accepting(town: Town) -> None:
    town.project("sales")
    secret = sent(town, town.person("Tim", (TU, "sales")), to((BU, "sales")))
    with town.platform.write(town.olga) as ctx:
        ctx.session.store.add(Attribute("sales", "scope", "selected_contexts", "tim"))
    assert scope_of(town, accept(town, secret).member) == "selected_contexts"


def test_others_pass_on_their_own_contexts_only(town: Town) -> None:
    town.project("sales")
    for context in ("emea", "apac"):
        town.made("marts.context", context, project="sales")
    tim, tara = town.person("Tim", (TU, "sales"), ("holder", "emea")), town.person("Tara", (TU, "sales"))
    with town.platform.write(town.olga) as ctx:
        ctx.session.store.add(Attribute("sales", "scope", "selected_contexts", "tim"))
    member = accept(town, sent(town, tim, to((BU, "sales"), ("holder", "emea")))).member
    with town.platform.read(town.olga) as ctx:
        assert Grant(member, "holder", "emea") in ctx.grants("emea")
    with pytest.raises(DeniedError):
        sent(town, tim, to((BU, "sales"), ("holder", "apac")))
    # Whose scope is the entire project has them all.
    assert sent(town, tara, to((BU, "sales"), ("holder", "apac")))


# Somebody who is a member already


def test_a_member_accepts_signed_in(town: Town) -> None:
    town.project("sales")
    bob = town.person("Bob")
    secret = sent(town, town.olga, to((TU, "sales")), "BOB@example.org")
    assert invite_acceptance.get_info(town.platform, secret).has_account
    with pytest.raises(ConflictError, match="Sign in, then accept"):
        accept(town, secret)
    with town.platform.write(bob) as ctx:
        invite_acceptance.accept_as_member(ctx, secret)
        ctx.need("create_storage", "sales")
    with pytest.raises(UnauthorizedError), town.platform.write(bob) as ctx:
        invite_acceptance.accept_as_member(ctx, secret)


def test_an_invite_for_another_address_is_refused(town: Town) -> None:
    town.person("Bob")
    eve = town.person("Eve")
    secret = sent(town, town.olga, to(("admin", town.tenant)), "bob@example.org")
    with pytest.raises(ConflictError, match="another e-mail address"), town.platform.write(eve) as ctx:
        invite_acceptance.accept_as_member(ctx, secret)


def test_a_narrowed_token_accepts_nothing(town: Town) -> None:
    bob = town.person("Bob")
    secret = sent(town, town.olga, to(("admin", town.tenant)), "bob@example.org")
    with (
        pytest.raises(DeniedError),
        town.platform.write(replace(bob, narrowed=TokenPrincipal("bob", actions=frozenset()))) as ctx,
    ):
        invite_acceptance.accept_as_member(ctx, secret)


@pytest.mark.parametrize("by_group", [False, True])
def test_who_may_only_invite_does_not_change_the_role_of_those_who_are_there(town: Town, by_group: bool) -> None:
    town.project("sales")
    tara, bob = town.person("Tara", (TU, "sales")), town.person("Bob")
    town.made("tenant.group", "team", tenant=town.tenant)
    with town.platform.write(town.olga) as ctx:
        ctx.session.store.add(Edge("member_of", "bob", "team"))
        ctx.session.store.add(Grant("team" if by_group else "bob", BU, "sales"))
    secret = sent(town, tara, to((TU, "sales")), "bob@example.org")
    with pytest.raises(ConflictError, match="You are there already"), town.platform.write(bob) as ctx:
        invite_acceptance.accept_as_member(ctx, secret)
    secret = sent(town, town.olga, to((ADMIN, "sales")), "bob@example.org")
    with town.platform.write(bob) as ctx:
        invite_acceptance.accept_as_member(ctx, secret)
        ctx.need("manage_settings", "sales")
