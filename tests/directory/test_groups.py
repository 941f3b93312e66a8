"""Groups are made by those who keep them; the group All is built in."""

from __future__ import annotations

import pytest

from lakehold.directory import groups, members
from lakehold.directory.errors import DeniedError
from lakehold.kit.errors import ForbiddenError, InvalidInputError, NotFoundError
from tests.directory.town import Town


def test_a_group_is_made_filled_renamed_emptied_and_ended(town: Town) -> None:
    bob = town.person("Bob")
    with town.platform.write(town.admin()) as ctx:
        team = groups.create(ctx, "Team", uid="team")
        groups.add(ctx, team, "bob")
        groups.rename(ctx, team, "Crew")
        members.give_tenant_role(ctx, team, "data_space_creator")
        told = groups.get(ctx, team)
        assert (told.name, told.members, told.built_in, told.roles) == (
            "Crew",
            ("bob",),
            False,
            ("data_space_creator",),
        )
    with town.platform.read(bob) as ctx:
        ctx.need("create_space", town.tenant)
        assert [item.name for item in groups.page(ctx).items] == ["Crew"]
    with town.platform.write(town.olga) as ctx:
        groups.remove(ctx, team, "bob")
        assert groups.get(ctx, team).members == ()
    with pytest.raises(DeniedError), town.platform.read(bob) as ctx:
        ctx.need("create_space", town.tenant)
    with town.platform.write(town.olga) as ctx:
        groups.delete(ctx, team)
        assert groups.page(ctx).items == []


def test_members_change_none(town: Town) -> None:
    bob = town.person("Bob")
    with town.platform.write(town.olga) as ctx:
        groups.create(ctx, "Admins", uid="admins")
        members.give_tenant_role(ctx, "admins", "admin")
    town.refuses(
        bob,
        DeniedError,
        lambda ctx: groups.create(ctx, "Mine"),
        lambda ctx: groups.add(ctx, "admins", "bob"),
        lambda ctx: groups.remove(ctx, "admins", "bob"),
        lambda ctx: groups.rename(ctx, "admins", "Mine"),
        lambda ctx: groups.delete(ctx, "admins"),
    )


def test_all_cannot_be_changed(town: Town) -> None:
    town.person("Bob")
    with town.platform.read(town.olga) as ctx:
        everybody = groups.all_members_group(ctx)
        told = groups.get(ctx, everybody)
    assert (told.name, told.built_in, told.members) == ("All", True, ())
    town.refuses(
        town.olga,
        ForbiddenError,
        lambda ctx: groups.add(ctx, everybody, "bob"),
        lambda ctx: groups.remove(ctx, everybody, "bob"),
        lambda ctx: groups.rename(ctx, everybody, "Most"),
        lambda ctx: groups.delete(ctx, everybody),
        match="built in",
    )


def test_a_group_owns_no_tenant(town: Town) -> None:
    town.made("tenant.group", "owners", tenant=town.tenant)
    town.refuses(
        town.olga,
        InvalidInputError,
        lambda ctx: members.give_tenant_role(ctx, "owners", "owner"),
        match="held by a person",
    )


def test_what_is_no_group(town: Town) -> None:
    town.person("Bob")
    town.refuses(
        town.olga,
        InvalidInputError,
        lambda ctx: groups.get(ctx, "bob"),
        lambda ctx: groups.rename(ctx, "bob", "Team"),
        lambda ctx: groups.delete(ctx, "bob"),
        lambda ctx: groups.add(ctx, town.tenant, "bob"),
        match="is no group",
    )
    town.refuses(town.olga, NotFoundError, lambda ctx: groups.get(ctx, "nothing"))
    with town.platform.read(town.olga) as ctx:
        assert ctx.view.member("bob")


def test_members_of_a_group_for_a_time(town: Town) -> None:
    town.person("Bob")
    with town.platform.write(town.olga) as ctx:
        groups.create(ctx, "Team", uid="team")
        groups.add(ctx, "team", "bob", until=ctx.at + 1_000_000)
    town.clock.pass_by(1)
    with town.platform.read(town.olga) as ctx:
        assert groups.get(ctx, "team").members == ()
