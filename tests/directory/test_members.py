"""Members: listed, told, renamed; their e-mail is for those who keep members, and for themselves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lakehold.access import Add, Grant, TokenPrincipal
from lakehold.catalog import grants
from lakehold.directory import accounts, groups, member_removal, members
from lakehold.directory.errors import DeniedError
from lakehold.kit.clock import DAY
from lakehold.kit.errors import ConflictError, ForbiddenError, InvalidInputError, NotFoundError
from tests.directory.acme import AcmePlatform


def test_they_are_listed_page_by_page(acme: AcmePlatform) -> None:
    for name in ("Zoe", "adam", "Bob"):
        acme.person(name)
    with acme.platform.read(acme.olga) as ctx:
        first = members.page(ctx, limit=2)
        assert [member.name for member in first.items] == ["adam", "Bob"]
        rest = members.page(ctx, limit=2, after=first.after)
        assert ([member.name for member in rest.items], rest.after) == (["Olga", "Zoe"], None)
        assert [member.uid for member in members.page(ctx, search="ZO").items] == ["zoe"]
        assert members.page(ctx, sort="-name").items[0].name == "Zoe"


def test_the_email_is_for_admins_and_oneself(acme: AcmePlatform) -> None:
    bob, adam = acme.person("Bob"), acme.admin()
    acme.person("Eve")
    with acme.platform.read(bob) as ctx:
        emails = {member.uid: member.email for member in members.page(ctx).items}
        assert (emails["bob"], emails["eve"], emails["adam"]) == ("bob@example.org", None, None)
    with acme.platform.read(adam) as ctx:
        assert members.get(ctx, "eve").email == "eve@example.org"
    narrowed = replace(bob, narrowed=TokenPrincipal("bob", actions=frozenset({"see"})))
    with acme.platform.read(narrowed) as ctx:
        assert members.get(ctx, "bob").email is None


def test_a_profile_tells_roles_and_groups(acme: AcmePlatform) -> None:
    acme.person("Bob", ("editor", acme.tenant), ("data_admin", acme.tenant))
    with acme.platform.write(acme.olga) as ctx:
        team = groups.create(ctx, "Team")
        groups.add(ctx, team, "bob")
        member = members.get(ctx, "bob")
    assert (member.name, member.roles, member.groups, member.service) == (
        "Bob",
        ("editor", "data_admin"),
        (team,),
        False,
    )
    assert member.since == acme.clock()


def test_an_admin_adds_a_member_who_gets_an_account_with_an_email(acme: AcmePlatform) -> None:
    with acme.platform.write(acme.admin()) as ctx:
        nils = members.add(ctx, "Nils")
        cleo = members.add(ctx, "Cleo", email="cleo@example.org")
        assert accounts.get(ctx, nils) is None
        members.set_email(ctx, nils, "nils@example.org")
        assert [members.get(ctx, uid).email for uid in (nils, cleo)] == ["nils@example.org", "cleo@example.org"]
    with pytest.raises(DeniedError), acme.platform.write(acme.person("Eve")) as ctx:
        members.add(ctx, "Friend")


def test_an_email_belongs_to_one_account(acme: AcmePlatform) -> None:
    acme.person("Bob")
    with pytest.raises(ConflictError, match="already an account"), acme.platform.write(acme.olga) as ctx:
        members.add(ctx, "Bobby", email="BOB@example.org")
    with acme.platform.write(acme.olga) as ctx:
        members.add(ctx, "Cleo", email="cleo@example.org", uid="cleo")
    with pytest.raises(ConflictError, match="already an account"), acme.platform.write(acme.olga) as ctx:
        members.set_email(ctx, "cleo", "bob@EXAMPLE.org")
    with acme.platform.read(acme.olga) as ctx:
        assert [member.name for member in members.page(ctx).items] == ["Bob", "Cleo", "Olga"]


def test_an_admin_does_not_set_the_email_of_an_owner(acme: AcmePlatform) -> None:
    adam = acme.admin()
    with pytest.raises(DeniedError), acme.platform.write(adam) as ctx:
        members.set_email(ctx, acme.olga.member, "adam+olga@example.org")
    with pytest.raises(DeniedError), acme.platform.write(acme.person("Eve")) as ctx:
        members.set_email(ctx, "adam", "eve2@example.org")
    with acme.platform.read(acme.olga) as ctx:
        assert members.get(ctx, acme.olga.member).email == "olga@example.org"


def test_a_service_account_has_no_email_and_never_becomes_a_person(acme: AcmePlatform) -> None:
    with acme.platform.write(acme.olga) as ctx:
        nightly = members.create_service_account(ctx, "Nightly")
    with pytest.raises(ConflictError, match="service account"), acme.platform.write(acme.olga) as ctx:
        members.set_email(ctx, nightly, "nightly@example.org")
    with acme.platform.read(acme.olga) as ctx:
        member = members.get(ctx, nightly)
    assert (member.service, member.email) == (True, None)


def test_a_service_account_is_never_owner(acme: AcmePlatform) -> None:
    ann = acme.person("Ann", ("owner", acme.tenant))
    acme.create_resource("tenant.member", "robot", tenant=acme.tenant)
    with acme.platform.write(acme.olga) as ctx:
        nightly = members.create_service_account(ctx, "Nightly")
        members.give_tenant_role(ctx, nightly, "admin")
        ctx.make(Add(Grant("robot", "owner", acme.tenant)), since=ctx.at + DAY)
    owner = Grant(nightly, "owner", acme.tenant)
    acme.refuses(
        ann,
        ConflictError,
        lambda ctx: members.give_tenant_role(ctx, nightly, "owner"),
        lambda ctx: members.set_tenant_roles(ctx, nightly, ["owner"]),
        lambda ctx: grants.give(ctx, owner, since=ctx.at + DAY),
        lambda ctx: ctx.make_unchecked(Add(owner)),
        lambda ctx: accounts.add(ctx, "robot", service=True),
        match="service account",
    )


def test_the_last_owner_who_can_sign_in_stays(acme: AcmePlatform) -> None:
    owner = Grant(acme.olga.member, "owner", acme.tenant)
    with acme.platform.write(acme.olga) as ctx:
        ghost = members.add(ctx, "Gus")
        members.give_tenant_role(ctx, ghost, "owner")
        # Who can sign in for a week is nobody to stay.
        passing = members.add(ctx, "Pia", email="pia@example.org")
        members.give_tenant_role(ctx, passing, "owner", until=ctx.at + 7 * DAY)
    acme.refuses(
        acme.olga,
        ConflictError,
        lambda ctx: members.take_tenant_role(ctx, owner.subject, "owner"),
        lambda ctx: grants.change_role(ctx, owner, "owner", until=ctx.at + DAY),
        lambda ctx: member_removal.remove(ctx, owner.subject),
        match="last Owner of .* who can sign in",
    )
    with acme.platform.write(acme.olga) as ctx:
        members.set_email(ctx, ghost, "gus@example.org")
        member_removal.remove(ctx, owner.subject)


def test_renaming(acme: AcmePlatform) -> None:
    bob, adam, eve = acme.person("Bob"), acme.admin(), acme.person("Eve")
    with acme.platform.write(bob) as ctx:
        members.rename(ctx, "bob", "Robert")
    with acme.platform.write(adam) as ctx:
        members.rename(ctx, "bob", "Bert")
    with pytest.raises(DeniedError), acme.platform.write(eve) as ctx:
        members.rename(ctx, "bob", "Blob")
    with pytest.raises(InvalidInputError), acme.platform.write(bob) as ctx:
        members.rename(ctx, "bob", "  ")
    narrowed = replace(bob, narrowed=TokenPrincipal("bob", actions=frozenset({"see", "edit"})))
    with pytest.raises(DeniedError), acme.platform.write(narrowed) as ctx:
        members.rename(ctx, "bob", "Blob")
    with pytest.raises(ForbiddenError), acme.platform.write(replace(bob, impersonator="adam")) as ctx:
        members.rename(ctx, "bob", "Blob")
    assert [(entry.member, entry.after) for entry in acme.log() if entry.action == "rename"] == [
        ("bob", {"name": "Robert"}),
        ("adam", {"name": "Bert"}),
    ]


def test_what_is_no_member_is_not_found(acme: AcmePlatform) -> None:
    acme.project("sales")
    for wrong in ("nobody", "sales", acme.tenant, "acme/all"):
        with pytest.raises((NotFoundError, InvalidInputError)), acme.platform.read(acme.olga) as ctx:
            members.get(ctx, wrong)


def test_tenant_and_security_roles_are_given_and_taken(acme: AcmePlatform) -> None:
    adam = acme.admin()
    acme.person("Bob")
    with acme.platform.write(adam) as ctx:
        members.give_tenant_role(ctx, "bob", "viewer")
        members.set_tenant_roles(ctx, "bob", {"editor", "data_space_creator"})
        assert members.tenant_roles(ctx, "bob") == ("editor", "data_space_creator")
        assert ctx.session.check("bob", "create_space", acme.tenant)
    for role in ("owner", "admin"):
        with pytest.raises(DeniedError), acme.platform.write(acme.person(f"Eve {role}")) as ctx:
            members.give_tenant_role(ctx, "bob", role)
    with pytest.raises(DeniedError), acme.platform.write(adam) as ctx:
        members.give_tenant_role(ctx, "adam", "owner")
    with pytest.raises(InvalidInputError, match="has no role 'emperor'"), acme.platform.write(adam) as ctx:
        members.give_tenant_role(ctx, "bob", "emperor")


def test_a_role_for_a_time_ends_by_itself(acme: AcmePlatform) -> None:
    acme.person("Bob")
    with acme.platform.write(acme.olga) as ctx:
        members.give_tenant_role(ctx, "bob", "admin", until=ctx.at + 3_600_000_000)
        assert members.tenant_roles(ctx, "bob") == ("admin",)
    acme.clock.advance(3_600)
    with acme.platform.read(acme.olga) as ctx:
        assert members.tenant_roles(ctx, "bob") == ()
