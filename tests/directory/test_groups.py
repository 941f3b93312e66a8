"""Groups are made by those who keep them; the group All is built in."""

from __future__ import annotations

import pytest

from lakehold.directory import groups, roles
from lakehold.directory.errors import DeniedError
from lakehold.kit.errors import ForbiddenError, InvalidInputError, NotFoundError
from tests.directory.town import Town


def test_a_group_is_made_filled_renamed_emptied_and_ended(town: Town) -> None:
    bob = town.person("Bob")
    with town.house.write(town.admin()) as work:
        team = groups.create(work, "Team", uid="team")
        groups.add(work, team, "bob")
        groups.rename(work, team, "Crew")
        roles.give(work, team, "data_space_creator")
        told = groups.one(work, team)
        assert (told.name, told.members, told.built_in, told.roles) == (
            "Crew",
            ("bob",),
            False,
            ("data_space_creator",),
        )
    with town.house.read(bob) as work:
        work.need("create_space", town.tenant)
        assert [item.name for item in groups.page(work).items] == ["Crew"]
    with town.house.write(town.olga) as work:
        groups.remove(work, team, "bob")
        assert groups.one(work, team).members == ()
    with pytest.raises(DeniedError), town.house.read(bob) as work:
        work.need("create_space", town.tenant)
    with town.house.write(town.olga) as work:
        groups.delete(work, team)
        assert groups.page(work).items == []


def test_members_change_none(town: Town) -> None:
    bob = town.person("Bob")
    with town.house.write(town.olga) as work:
        groups.create(work, "Admins", uid="admins")
        roles.give(work, "admins", "admin")
    town.refuses(
        bob,
        DeniedError,
        lambda work: groups.create(work, "Mine"),
        lambda work: groups.add(work, "admins", "bob"),
        lambda work: groups.remove(work, "admins", "bob"),
        lambda work: groups.rename(work, "admins", "Mine"),
        lambda work: groups.delete(work, "admins"),
    )


def test_all_cannot_be_changed(town: Town) -> None:
    town.person("Bob")
    with town.house.read(town.olga) as work:
        everybody = groups.everybody(work)
        told = groups.one(work, everybody)
    assert (told.name, told.built_in, told.members) == ("All", True, ())
    town.refuses(
        town.olga,
        ForbiddenError,
        lambda work: groups.add(work, everybody, "bob"),
        lambda work: groups.remove(work, everybody, "bob"),
        lambda work: groups.rename(work, everybody, "Most"),
        lambda work: groups.delete(work, everybody),
        match="built in",
    )


def test_a_group_owns_no_tenant(town: Town) -> None:
    town.made("tenant.group", "owners", tenant=town.tenant)
    town.refuses(
        town.olga, InvalidInputError, lambda work: roles.give(work, "owners", "owner"), match="held by a person"
    )


def test_what_is_no_group(town: Town) -> None:
    town.person("Bob")
    town.refuses(
        town.olga,
        InvalidInputError,
        lambda work: groups.one(work, "bob"),
        lambda work: groups.rename(work, "bob", "Team"),
        lambda work: groups.delete(work, "bob"),
        lambda work: groups.add(work, town.tenant, "bob"),
        match="is no group",
    )
    town.refuses(town.olga, NotFoundError, lambda work: groups.one(work, "nothing"))
    with town.house.read(town.olga) as work:
        assert work.view.member("bob")


def test_members_of_a_group_for_a_time(town: Town) -> None:
    town.person("Bob")
    with town.house.write(town.olga) as work:
        groups.create(work, "Team", uid="team")
        groups.add(work, "team", "bob", until=work.at + 1_000_000)
    town.clock.pass_by(1)
    with town.house.read(town.olga) as work:
        assert groups.one(work, "team").members == ()
