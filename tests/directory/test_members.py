"""Members: listed, told, renamed; their e-mail is for those who keep members, and for themselves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lakehold.access import Token
from lakehold.directory import accounts, groups, members, roles, service_accounts
from lakehold.directory.errors import DeniedError
from lakehold.kit.errors import ConflictError, ForbiddenError, InvalidInputError, NotFoundError
from tests.directory.town import Town


def test_they_are_listed_page_by_page(town: Town) -> None:
    for name in ("Zoe", "adam", "Bob"):
        town.person(name)
    with town.house.read(town.olga) as work:
        first = members.page(work, limit=2)
        assert [member.name for member in first.items] == ["adam", "Bob"]
        rest = members.page(work, limit=2, after=first.after)
        assert ([member.name for member in rest.items], rest.after) == (["Olga", "Zoe"], None)
        assert [member.uid for member in members.page(work, search="ZO").items] == ["zoe"]
        assert members.page(work, sort="-name").items[0].name == "Zoe"


def test_the_email_is_for_admins_and_oneself(town: Town) -> None:
    bob, adam = town.person("Bob"), town.admin()
    town.person("Eve")
    with town.house.read(bob) as work:
        told = {member.uid: member.email for member in members.page(work).items}
        assert (told["bob"], told["eve"], told["adam"]) == ("bob@example.org", None, None)
    with town.house.read(adam) as work:
        assert members.one(work, "eve").email == "eve@example.org"
    narrowed = replace(bob, narrowed=Token("bob", actions=frozenset({"see"})))
    with town.house.read(narrowed) as work:
        assert members.one(work, "bob").email is None


def test_a_profile_tells_roles_and_groups(town: Town) -> None:
    town.person("Bob", ("editor", town.tenant), ("data_admin", town.tenant))
    with town.house.write(town.olga) as work:
        team = groups.create(work, "Team")
        groups.add(work, team, "bob")
        told = members.one(work, "bob")
    assert (told.name, told.roles, told.groups, told.service) == ("Bob", ("editor", "data_admin"), (team,), False)
    assert told.since == town.clock()


def test_an_admin_adds_a_member_who_gets_an_account_with_an_email(town: Town) -> None:
    with town.house.write(town.admin()) as work:
        nils = members.add(work, "Nils")
        cleo = members.add(work, "Cleo", email="cleo@example.org")
        assert accounts.of(work, nils) is None
        members.set_email(work, nils, "nils@example.org")
        assert [members.one(work, uid).email for uid in (nils, cleo)] == ["nils@example.org", "cleo@example.org"]
    with pytest.raises(DeniedError), town.house.write(town.person("Eve")) as work:
        members.add(work, "Friend")


def test_an_email_belongs_to_one_account(town: Town) -> None:
    town.person("Bob")
    with pytest.raises(ConflictError, match="already an account"), town.house.write(town.olga) as work:
        members.add(work, "Bobby", email="BOB@example.org")
    with town.house.write(town.olga) as work:
        members.add(work, "Cleo", email="cleo@example.org", uid="cleo")
    with pytest.raises(ConflictError, match="already an account"), town.house.write(town.olga) as work:
        members.set_email(work, "cleo", "bob@EXAMPLE.org")
    with town.house.read(town.olga) as work:
        assert [member.name for member in members.page(work).items] == ["Bob", "Cleo", "Olga"]


def test_an_admin_does_not_set_the_email_of_an_owner(town: Town) -> None:
    adam = town.admin()
    with pytest.raises(DeniedError), town.house.write(adam) as work:
        members.set_email(work, town.olga.member, "adam+olga@example.org")
    with pytest.raises(DeniedError), town.house.write(town.person("Eve")) as work:
        members.set_email(work, "adam", "eve2@example.org")
    with town.house.read(town.olga) as work:
        assert members.one(work, town.olga.member).email == "olga@example.org"


def test_a_service_account_has_no_email_and_never_becomes_a_person(town: Town) -> None:
    with town.house.write(town.olga) as work:
        nightly = service_accounts.create(work, "Nightly")
    with pytest.raises(ConflictError, match="service account"), town.house.write(town.olga) as work:
        members.set_email(work, nightly, "nightly@example.org")
    with town.house.read(town.olga) as work:
        told = members.one(work, nightly)
    assert (told.service, told.email) == (True, None)


def test_renaming(town: Town) -> None:
    bob, adam, eve = town.person("Bob"), town.admin(), town.person("Eve")
    with town.house.write(bob) as work:
        members.rename(work, "bob", "Robert")
    with town.house.write(adam) as work:
        members.rename(work, "bob", "Bert")
    with pytest.raises(DeniedError), town.house.write(eve) as work:
        members.rename(work, "bob", "Blob")
    with pytest.raises(InvalidInputError), town.house.write(bob) as work:
        members.rename(work, "bob", "  ")
    narrowed = replace(bob, narrowed=Token("bob", actions=frozenset({"see", "edit"})))
    with pytest.raises(DeniedError), town.house.write(narrowed) as work:
        members.rename(work, "bob", "Blob")
    with pytest.raises(ForbiddenError), town.house.write(replace(bob, behind="adam")) as work:
        members.rename(work, "bob", "Blob")
    assert [(entry.member, entry.after) for entry in town.log() if entry.action == "rename"] == [
        ("bob", {"name": "Robert"}),
        ("adam", {"name": "Bert"}),
    ]


def test_what_is_no_member_is_not_found(town: Town) -> None:
    town.project("sales")
    for wrong in ("nobody", "sales", town.tenant, "acme/all"):
        with pytest.raises((NotFoundError, InvalidInputError)), town.house.read(town.olga) as work:
            members.one(work, wrong)


def test_tenant_and_security_roles_are_given_and_taken(town: Town) -> None:
    adam = town.admin()
    town.person("Bob")
    with town.house.write(adam) as work:
        roles.give(work, "bob", "viewer")
        roles.put(work, "bob", {"editor", "data_space_creator"})
        assert roles.of(work, "bob") == ("editor", "data_space_creator")
        assert work.session.check("bob", "create_space", town.tenant)
    for role in ("owner", "admin"):
        with pytest.raises(DeniedError), town.house.write(town.person(f"Eve {role}")) as work:
            roles.give(work, "bob", role)
    with pytest.raises(DeniedError), town.house.write(adam) as work:
        roles.give(work, "adam", "owner")
    with pytest.raises(InvalidInputError, match="has no role 'emperor'"), town.house.write(adam) as work:
        roles.give(work, "bob", "emperor")


def test_a_role_for_a_time_ends_by_itself(town: Town) -> None:
    town.person("Bob")
    with town.house.write(town.olga) as work:
        roles.give(work, "bob", "admin", until=work.at + 3_600_000_000)
        assert roles.of(work, "bob") == ("admin",)
    town.clock.pass_by(3_600)
    with town.house.read(town.olga) as work:
        assert roles.of(work, "bob") == ()
