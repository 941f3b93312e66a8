"""Invites: who invites whom to what, and what becomes of an invite until it is accepted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lakehold.access import Grant, TokenPrincipal
from lakehold.directory import invite_acceptance, invites
from lakehold.directory.caller import Caller
from lakehold.directory.errors import DeniedError, HiddenError, UnauthorizedError
from lakehold.directory.invites import CreatedInvite, InvitedRole, InviteGrants, MembershipSetting
from lakehold.kit.clock import DAY
from lakehold.kit.errors import ConflictError, ForbiddenError, InvalidInputError, LakeholdError, NotFoundError
from tests.directory.acme import HOME, SECRET, AcmePlatform, secret_of

ADMIN, TU, BU = "admin", "technical_user", "business_user"


def to(*places: tuple[str, str]) -> InviteGrants:
    """To these roles on these resources."""
    return InviteGrants(tuple(InvitedRole(role, resource) for role, resource in places))


def invite(
    acme: AcmePlatform, caller: Caller, invitation: InviteGrants | None = None, email: str = "new@example.org"
) -> CreatedInvite:
    with acme.platform.write(caller) as ctx:
        return invites.create(ctx, acme.platform.settings, email, invitation)


def may(acme: AcmePlatform, caller: Caller, invitation: InviteGrants | None = None) -> bool:
    try:
        return bool(invite(acme, caller, invitation))
    except DeniedError:
        return False


# Seed 001, "Who Can Invite Whom".
@pytest.mark.parametrize(
    ("inviter", "roles"),
    [(ADMIN, {ADMIN, TU, BU}), (TU, {TU, BU}), (BU, {BU})],
)
def test_who_can_invite_whom_to_a_project(acme: AcmePlatform, inviter: str, roles: set[str]) -> None:
    acme.project("sales")
    caller = acme.person("Ivy", (inviter, "sales"))
    assert {role for role in (ADMIN, TU, BU) if may(acme, caller, to((role, "sales")))} == roles


def test_nobody_invites_to_a_project_of_others(acme: AcmePlatform) -> None:
    acme.project("sales")
    acme.project("other")
    caller = acme.person("Ivy", (ADMIN, "sales"))
    with pytest.raises(HiddenError):
        invite(acme, caller, to((BU, "other")))
    with pytest.raises(HiddenError):
        invite(acme, caller, to((BU, "sales"), (BU, "other")))


def test_admins_invite_to_everything(acme: AcmePlatform) -> None:
    acme.project("sales")
    acme.create_resource("lakehouse.lakehouse", "lake", tenant=acme.tenant)
    acme.create_resource("lakehouse.layer", "raw", lakehouse="lake")
    acme.create_resource("products.project", "people", tenant=acme.tenant)
    acme.create_resource("spaces.space", "lab", tenant=acme.tenant)
    everything = [
        (ADMIN, "sales"),
        ("member", "lake"),
        ("manager", "raw"),
        ("editor", "people"),
        ("can_edit", "lab"),
        ("admin", acme.tenant),
        ("data_admin", acme.tenant),
    ]
    adam = acme.admin()
    assert may(acme, adam)
    for place in everything:
        assert may(acme, adam, to(place)), place
    assert may(acme, adam, to(*everything))
    assert not may(acme, adam, to(("owner", acme.tenant)))
    assert may(acme, acme.olga, to(("owner", acme.tenant)))


def test_in_the_other_models_only_admins_bring_new_people_in(acme: AcmePlatform) -> None:
    acme.create_resource("lakehouse.lakehouse", "lake", tenant=acme.tenant)
    acme.create_resource("lakehouse.layer", "raw", lakehouse="lake")
    acme.create_resource("spaces.space", "lab", tenant=acme.tenant)
    acme.create_resource("products.project", "people", tenant=acme.tenant)
    for name, role, place, gives in (
        ("Mona", "manager", "raw", "viewer"),
        ("Sam", "can_manage", "lab", "can_view"),
        ("Pia", "admin", "people", "viewer"),
    ):
        assert not may(acme, acme.person(name, (role, place)), to((gives, place))), name


def test_members_invite_nobody_to_the_tenant_itself(acme: AcmePlatform) -> None:
    acme.project("sales")
    tara = acme.person("Tara", (TU, "sales"))
    assert not may(acme, tara)
    assert not may(acme, tara, to((BU, "sales"), ("viewer", acme.tenant)))


def test_a_context_alone_brings_nobody_in(acme: AcmePlatform) -> None:
    acme.project("sales")
    acme.create_resource("marts.context", "emea", project="sales")
    bella = acme.person("Bella", (BU, "sales"))
    assert not may(acme, bella, to(("holder", "emea")))
    assert may(acme, bella, to((BU, "sales"), ("holder", "emea")))


def test_a_narrowed_token_invites_nobody(acme: AcmePlatform) -> None:
    narrowed = replace(
        acme.olga, narrowed=TokenPrincipal(acme.olga.member, actions=frozenset({"manage_members", "see"}))
    )
    assert not may(acme, narrowed)
    with pytest.raises(DeniedError), acme.platform.read(narrowed) as ctx:
        invites.page(ctx)
    with pytest.raises(ForbiddenError):
        invite(acme, replace(acme.olga, impersonator="somebody"))


@pytest.mark.parametrize(
    ("invitation", "says"),
    [
        (to(("emperor", "sales")), "has no role 'emperor'"),
        (to((BU, "nothing")), "There is no resource 'nothing'"),
        (to((BU, "")), "An id must not be empty"),
        (
            InviteGrants((InvitedRole(BU, "sales"),), (MembershipSetting("sales", "scope", "the moon"),)),
            "'the moon' is not a valid value of scope",
        ),
        (
            InviteGrants((InvitedRole(BU, "sales"),), (MembershipSetting("sales", "colour", "red"),)),
            "no membership attribute 'colour'",
        ),
        (InviteGrants((), (MembershipSetting("sales", "scope", "entire_project"),)), "where no role is named"),
        (to(*[(BU, "sales")] * 51), "50 roles at most"),
    ],
)
def test_what_cannot_be(acme: AcmePlatform, invitation: InviteGrants, says: str) -> None:
    acme.project("sales")
    with pytest.raises(LakeholdError) as refused:
        invite(acme, acme.olga, invitation)
    assert says in str(refused.value)
    assert refused.value.status in {404, 422}


def test_an_address_that_is_none(acme: AcmePlatform) -> None:
    with pytest.raises(InvalidInputError, match="not an e-mail address"):
        invite(acme, acme.olga, email="somebody")


# Until it is accepted


def refused(acme: AcmePlatform, made: CreatedInvite) -> bool:
    try:
        invite_acceptance.get_info(acme.platform, secret_of(made.link))
    except UnauthorizedError as error:
        return str(error) == "This invite is invalid or has expired. Ask for a new one."
    return False


def test_it_ends_after_some_days_and_can_be_sent_again(acme: AcmePlatform) -> None:
    made = invite(acme, acme.olga)
    assert made.invite.until == acme.clock() + 7 * DAY
    acme.clock.advance(7 * 86_400)
    assert refused(acme, made)
    with acme.platform.write(acme.olga) as ctx:
        again = invites.resend(ctx, acme.platform.settings, made.invite.id)
    assert again.invite.id == made.invite.id
    assert refused(acme, made)
    assert invite_acceptance.get_info(acme.platform, secret_of(again.link)).email == "new@example.org"
    assert [deed[1] for deed in acme.audit_summary()][-2:] == ["invite", "invite again"]


def test_sending_it_again_ends_the_old_link(acme: AcmePlatform) -> None:
    made = invite(acme, acme.olga)
    with acme.platform.write(acme.olga) as ctx:
        invites.resend(ctx, acme.platform.settings, made.invite.id)
    assert refused(acme, made)
    with acme.platform.read(acme.olga) as ctx:
        assert len(invites.page(ctx)) == 1


def test_it_is_revoked(acme: AcmePlatform) -> None:
    made = invite(acme, acme.olga)
    with acme.platform.write(acme.olga) as ctx:
        invites.revoke(ctx, made.invite.id)
    assert refused(acme, made)
    with pytest.raises(NotFoundError), acme.platform.write(acme.olga) as ctx:
        invites.resend(ctx, acme.platform.settings, made.invite.id)
    assert acme.audit_summary()[-1][1] == "revoke invite"


def test_those_who_may_invite_there_see_it_and_nobody_else(acme: AcmePlatform) -> None:
    acme.project("sales")
    tara, bella, eve = acme.person("Tara", (TU, "sales")), acme.person("Bella", (BU, "sales")), acme.person("Eve")
    for n, (caller, role) in enumerate([(acme.olga, ADMIN), (tara, TU), (bella, BU)]):
        acme.clock.advance(1)
        invite(acme, caller, to((role, "sales")), f"new{n}@example.org")

    def seen(caller: Caller) -> list[str]:
        with acme.platform.read(caller) as ctx:
            return [one.email[:4] for one in invites.page(ctx)]

    assert seen(acme.olga) == ["new2", "new1", "new0"]
    assert seen(tara) == ["new2", "new1"]
    assert seen(bella) == ["new2"]
    assert seen(eve) == []
    with acme.platform.read(acme.olga) as ctx:
        first = invites.page(ctx, limit=2)
        rest = invites.page(ctx, limit=2, after=(first[-1].made_at, first[-1].id))
        assert [one.email[:4] for one in (*first, *rest)] == ["new2", "new1", "new0"]
    acme.refuses(
        eve,
        NotFoundError,
        lambda ctx: invites.get(ctx, first[0].id),
        lambda ctx: invites.revoke(ctx, first[0].id),
        lambda ctx: invites.resend(ctx, acme.platform.settings, first[0].id),
    )


def test_whoever_lost_the_right_may_still_revoke_theirs_but_not_send_it_again(acme: AcmePlatform) -> None:
    acme.project("sales")
    tara = acme.person("Tara", (TU, "sales"))
    made = invite(acme, tara, to((TU, "sales")))
    with acme.platform.write(acme.olga) as ctx:
        ctx.session.store.remove(Grant("tara", TU, "sales"))
        ctx.session.store.add(Grant("tara", BU, "sales"))
    with pytest.raises(DeniedError), acme.platform.write(tara) as ctx:
        invites.resend(ctx, acme.platform.settings, made.invite.id)
    with acme.platform.write(tara) as ctx:
        invites.revoke(ctx, made.invite.id)


def test_it_is_mailed_where_mails_are_sent_and_then_shown_to_nobody(acme: AcmePlatform) -> None:
    with pytest.raises(ConflictError, match="sends no mails"), acme.platform.write(acme.olga) as ctx:
        invites.create(ctx, acme.platform.settings, "new@example.org", mail=True)
    settings = acme.with_mails()
    with acme.platform.write(acme.olga) as ctx:
        made = invites.create(ctx, settings, "new@example.org", mail=True)
    assert (made.mailed, made.link) == (True, "")
    ((receiver, subject, body),) = acme.mails()
    assert (receiver, subject) == ("new@example.org", "Olga invites you to Acme")
    link = next(line for line in body.splitlines() if "/invite/" in line)
    assert invite_acceptance.accept(acme.platform, secret_of(link), "Newman", SECRET, HOME).tenant == acme.tenant


def test_the_secret_is_kept_nowhere(acme: AcmePlatform) -> None:
    made = invite(acme, acme.olga)
    secret = secret_of(made.link)
    assert secret not in repr(made)
    with acme.platform.database.read() as transaction:
        for table in ("invite", "audit"):
            assert secret not in str(transaction.connection.exec_driver_sql(f"SELECT * FROM {table}").all())
