"""Invites: who invites whom to what, and what becomes of an invite until it is accepted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lakehold.access import Grant, TokenPrincipal
from lakehold.directory import invite_acceptance, invites
from lakehold.directory.caller import Caller
from lakehold.directory.errors import DeniedError, HiddenError, UnauthorizedError
from lakehold.directory.invite_grants import InvitedRole, InviteGrants, MembershipSetting
from lakehold.directory.invites import CreatedInvite
from lakehold.kit.clock import DAY
from lakehold.kit.errors import ConflictError, ForbiddenError, InvalidInputError, LakeholdError, NotFoundError
from tests.directory.town import HOME, SECRET, Town, secret_of

ADMIN, TU, BU = "admin", "technical_user", "business_user"


def to(*places: tuple[str, str]) -> InviteGrants:
    """To these roles on these resources."""
    return InviteGrants(tuple(InvitedRole(role, resource) for role, resource in places))


def invite(
    town: Town, caller: Caller, invitation: InviteGrants | None = None, email: str = "new@example.org"
) -> CreatedInvite:
    with town.platform.write(caller) as ctx:
        return invites.create(ctx, town.platform.settings, email, invitation)


def may(town: Town, caller: Caller, invitation: InviteGrants | None = None) -> bool:
    try:
        return bool(invite(town, caller, invitation))
    except DeniedError:
        return False


# Seed 001, "Who Can Invite Whom".
@pytest.mark.parametrize(
    ("inviter", "roles"),
    [(ADMIN, {ADMIN, TU, BU}), (TU, {TU, BU}), (BU, {BU})],
)
def test_who_can_invite_whom_to_a_project(town: Town, inviter: str, roles: set[str]) -> None:
    town.project("sales")
    caller = town.person("Ivy", (inviter, "sales"))
    assert {role for role in (ADMIN, TU, BU) if may(town, caller, to((role, "sales")))} == roles


def test_nobody_invites_to_a_project_of_others(town: Town) -> None:
    town.project("sales")
    town.project("other")
    caller = town.person("Ivy", (ADMIN, "sales"))
    with pytest.raises(HiddenError):
        invite(town, caller, to((BU, "other")))
    with pytest.raises(HiddenError):
        invite(town, caller, to((BU, "sales"), (BU, "other")))


def test_admins_invite_to_everything(town: Town) -> None:
    town.project("sales")
    town.made("lakehouse.lakehouse", "lake", tenant=town.tenant)
    town.made("lakehouse.layer", "raw", lakehouse="lake")
    town.made("products.project", "people", tenant=town.tenant)
    town.made("spaces.space", "lab", tenant=town.tenant)
    everything = [
        (ADMIN, "sales"),
        ("member", "lake"),
        ("manager", "raw"),
        ("editor", "people"),
        ("can_edit", "lab"),
        ("admin", town.tenant),
        ("data_admin", town.tenant),
    ]
    adam = town.admin()
    assert may(town, adam)
    for place in everything:
        assert may(town, adam, to(place)), place
    assert may(town, adam, to(*everything))
    assert not may(town, adam, to(("owner", town.tenant)))
    assert may(town, town.olga, to(("owner", town.tenant)))


def test_in_the_other_models_only_admins_bring_new_people_in(town: Town) -> None:
    town.made("lakehouse.lakehouse", "lake", tenant=town.tenant)
    town.made("lakehouse.layer", "raw", lakehouse="lake")
    town.made("spaces.space", "lab", tenant=town.tenant)
    town.made("products.project", "people", tenant=town.tenant)
    for name, role, place, gives in (
        ("Mona", "manager", "raw", "viewer"),
        ("Sam", "can_manage", "lab", "can_view"),
        ("Pia", "admin", "people", "viewer"),
    ):
        assert not may(town, town.person(name, (role, place)), to((gives, place))), name


def test_members_invite_nobody_to_the_tenant_itself(town: Town) -> None:
    town.project("sales")
    tara = town.person("Tara", (TU, "sales"))
    assert not may(town, tara)
    assert not may(town, tara, to((BU, "sales"), ("viewer", town.tenant)))


def test_a_context_alone_brings_nobody_in(town: Town) -> None:
    town.project("sales")
    town.made("marts.context", "emea", project="sales")
    bella = town.person("Bella", (BU, "sales"))
    assert not may(town, bella, to(("holder", "emea")))
    assert may(town, bella, to((BU, "sales"), ("holder", "emea")))


def test_a_narrowed_token_invites_nobody(town: Town) -> None:
    narrowed = replace(
        town.olga, narrowed=TokenPrincipal(town.olga.member, actions=frozenset({"manage_members", "see"}))
    )
    assert not may(town, narrowed)
    with pytest.raises(DeniedError), town.platform.read(narrowed) as ctx:
        invites.page(ctx)
    with pytest.raises(ForbiddenError):
        invite(town, replace(town.olga, impersonator="somebody"))


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        (to(("emperor", "sales")), "has no role 'emperor'"),
        (to((BU, "nothing")), "There is no resource 'nothing'"),
        (to((BU, "")), "An id must not be empty"),
        (
            InviteGrants((InvitedRole(BU, "sales"),), (MembershipSetting("sales", "scope", "the moon"),)),
            "'the moon' is no value of scope",
        ),
        (
            InviteGrants((InvitedRole(BU, "sales"),), (MembershipSetting("sales", "colour", "red"),)),
            "no membership attribute 'colour'",
        ),
        (InviteGrants((), (MembershipSetting("sales", "scope", "entire_project"),)), "where no role is named"),
        (to(*[(BU, "sales")] * 51), "50 roles at the most"),
    ],
)
def test_what_cannot_be(town: Town, wanted: InviteGrants, says: str) -> None:
    town.project("sales")
    with pytest.raises(LakeholdError) as refused:
        invite(town, town.olga, wanted)
    assert says in str(refused.value)
    assert refused.value.status in {404, 422}


def test_an_address_that_is_none(town: Town) -> None:
    with pytest.raises(InvalidInputError, match="no e-mail address"):
        invite(town, town.olga, email="somebody")


# Until it is accepted


def refused(town: Town, made: CreatedInvite) -> bool:
    try:
        invite_acceptance.get_info(town.platform, secret_of(made.link))
    except UnauthorizedError as error:
        return str(error) == "This invite is not valid, or not any more. Ask for a new one."
    return False


def test_it_ends_after_some_days_and_can_be_sent_again(town: Town) -> None:
    made = invite(town, town.olga)
    assert made.invite.until == town.clock() + 7 * DAY
    town.clock.pass_by(7 * 86_400)
    assert refused(town, made)
    with town.platform.write(town.olga) as ctx:
        again = invites.resend(ctx, town.platform.settings, made.invite.id)
    assert again.invite.id == made.invite.id
    assert refused(town, made)
    assert invite_acceptance.get_info(town.platform, secret_of(again.link)).email == "new@example.org"
    assert [deed[1] for deed in town.deeds()][-2:] == ["invite", "invite again"]


def test_sending_it_again_ends_the_old_link(town: Town) -> None:
    made = invite(town, town.olga)
    with town.platform.write(town.olga) as ctx:
        invites.resend(ctx, town.platform.settings, made.invite.id)
    assert refused(town, made)
    with town.platform.read(town.olga) as ctx:
        assert len(invites.page(ctx)) == 1


def test_it_is_revoked(town: Town) -> None:
    made = invite(town, town.olga)
    with town.platform.write(town.olga) as ctx:
        invites.revoke(ctx, made.invite.id)
    assert refused(town, made)
    with pytest.raises(NotFoundError), town.platform.write(town.olga) as ctx:
        invites.resend(ctx, town.platform.settings, made.invite.id)
    assert town.deeds()[-1][1] == "revoke invite"


def test_those_who_may_invite_there_see_it_and_nobody_else(town: Town) -> None:
    town.project("sales")
    tara, bella, eve = town.person("Tara", (TU, "sales")), town.person("Bella", (BU, "sales")), town.person("Eve")
    for n, (caller, role) in enumerate([(town.olga, ADMIN), (tara, TU), (bella, BU)]):
        town.clock.pass_by(1)
        invite(town, caller, to((role, "sales")), f"new{n}@example.org")

    def seen(caller: Caller) -> list[str]:
        with town.platform.read(caller) as ctx:
            return [one.email[:4] for one in invites.page(ctx)]

    assert seen(town.olga) == ["new2", "new1", "new0"]
    assert seen(tara) == ["new2", "new1"]
    assert seen(bella) == ["new2"]
    assert seen(eve) == []
    with town.platform.read(town.olga) as ctx:
        first = invites.page(ctx, limit=2)
        rest = invites.page(ctx, limit=2, after=(first[-1].made_at, first[-1].id))
        assert [one.email[:4] for one in (*first, *rest)] == ["new2", "new1", "new0"]
    town.refuses(
        eve,
        NotFoundError,
        lambda ctx: invites.get(ctx, first[0].id),
        lambda ctx: invites.revoke(ctx, first[0].id),
        lambda ctx: invites.resend(ctx, town.platform.settings, first[0].id),
    )


def test_whoever_lost_the_right_may_still_revoke_theirs_but_not_send_it_again(town: Town) -> None:
    town.project("sales")
    tara = town.person("Tara", (TU, "sales"))
    made = invite(town, tara, to((TU, "sales")))
    with town.platform.write(town.olga) as ctx:
        ctx.session.store.remove(Grant("tara", TU, "sales"))
        ctx.session.store.add(Grant("tara", BU, "sales"))
    with pytest.raises(DeniedError), town.platform.write(tara) as ctx:
        invites.resend(ctx, town.platform.settings, made.invite.id)
    with town.platform.write(tara) as ctx:
        invites.revoke(ctx, made.invite.id)


def test_it_is_mailed_where_mails_are_sent_and_then_shown_to_nobody(town: Town) -> None:
    with pytest.raises(ConflictError, match="sends no mails"), town.platform.write(town.olga) as ctx:
        invites.create(ctx, town.platform.settings, "new@example.org", mail=True)
    settings = town.with_mails()
    with town.platform.write(town.olga) as ctx:
        made = invites.create(ctx, settings, "new@example.org", mail=True)
    assert (made.mailed, made.link) == (True, "")
    ((receiver, subject, body),) = town.mails()
    assert (receiver, subject) == ("new@example.org", "Olga invites you to Acme")
    link = next(line for line in body.splitlines() if "/invite/" in line)
    assert invite_acceptance.accept(town.platform, secret_of(link), "Newman", SECRET, HOME).tenant == town.tenant


def test_the_secret_is_kept_nowhere(town: Town) -> None:
    made = invite(town, town.olga)
    secret = secret_of(made.link)
    assert secret not in repr(made)
    with town.platform.database.read() as transaction:
        for table in ("invite", "audit"):
            assert secret not in str(transaction.connection.exec_driver_sql(f"SELECT * FROM {table}").all())
