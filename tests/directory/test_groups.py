"""Groups are made by those who keep them; the group All is built in."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lakehold.access import TokenPrincipal
from lakehold.directory import groups, members
from lakehold.directory.errors import DeniedError
from lakehold.kit.errors import ForbiddenError, InvalidInputError, NotFoundError
from tests.directory.acme import AcmePlatform


def test_a_group_is_made_filled_renamed_emptied_and_ended(acme: AcmePlatform) -> None:
    bob = acme.person("Bob")
    with acme.platform.write(acme.admin()) as ctx:
        team = groups.create(ctx, "Team", uid="team")
        groups.add(ctx, team, "bob")
        groups.rename(ctx, team, "Crew")
        members.give_tenant_role(ctx, team, "data_space_creator")
        group = groups.get(ctx, team)
        assert (group.name, group.members, group.built_in, group.roles) == (
            "Crew",
            ("bob",),
            False,
            ("data_space_creator",),
        )
    with acme.platform.read(bob) as ctx:
        ctx.need("create_space", acme.tenant)
        assert [item.name for item in groups.page(ctx).items] == ["Crew"]
    with acme.platform.write(acme.olga) as ctx:
        groups.remove(ctx, team, "bob")
        assert groups.get(ctx, team).members == ()
    with pytest.raises(DeniedError), acme.platform.read(bob) as ctx:
        ctx.need("create_space", acme.tenant)
    with acme.platform.write(acme.olga) as ctx:
        groups.delete(ctx, team)
        assert groups.page(ctx).items == []


def test_a_narrowed_token_deletes_none(acme: AcmePlatform) -> None:
    with acme.platform.write(acme.olga) as ctx:
        team = groups.create(ctx, "Team")
    token = TokenPrincipal(acme.olga.member, actions=frozenset({"see", "delete"}))
    with acme.platform.read(acme.olga) as ctx:
        assert not ctx.session.check(token, "delete", team)
        assert ctx.session.list(token, "delete", "tenant.group").items == []
    acme.refuses(replace(acme.olga, narrowed=token), DeniedError, lambda ctx: groups.delete(ctx, team))


def test_members_change_none(acme: AcmePlatform) -> None:
    bob = acme.person("Bob")
    with acme.platform.write(acme.olga) as ctx:
        groups.create(ctx, "Admins", uid="admins")
        members.give_tenant_role(ctx, "admins", "admin")
    acme.refuses(
        bob,
        DeniedError,
        lambda ctx: groups.create(ctx, "Mine"),
        lambda ctx: groups.add(ctx, "admins", "bob"),
        lambda ctx: groups.remove(ctx, "admins", "bob"),
        lambda ctx: groups.rename(ctx, "admins", "Mine"),
        lambda ctx: groups.delete(ctx, "admins"),
    )


def test_all_cannot_be_changed(acme: AcmePlatform) -> None:
    acme.person("Bob")
    with acme.platform.read(acme.olga) as ctx:
        everybody = groups.all_members_group(ctx)
        group = groups.get(ctx, everybody)
    assert (group.name, group.built_in, group.members) == ("All", True, ())
    acme.refuses(
        acme.olga,
        ForbiddenError,
        lambda ctx: groups.add(ctx, everybody, "bob"),
        lambda ctx: groups.remove(ctx, everybody, "bob"),
        lambda ctx: groups.rename(ctx, everybody, "Maximum"),
        lambda ctx: groups.delete(ctx, everybody),
        match="built in",
    )


def test_a_group_owns_no_tenant(acme: AcmePlatform) -> None:
    acme.create_resource("tenant.group", "owners", tenant=acme.tenant)
    acme.refuses(
        acme.olga,
        InvalidInputError,
        lambda ctx: members.give_tenant_role(ctx, "owners", "owner"),
        match="held by a person",
    )


def test_what_is_no_group(acme: AcmePlatform) -> None:
    acme.person("Bob")
    acme.refuses(
        acme.olga,
        InvalidInputError,
        lambda ctx: groups.get(ctx, "bob"),
        lambda ctx: groups.rename(ctx, "bob", "Team"),
        lambda ctx: groups.delete(ctx, "bob"),
        lambda ctx: groups.add(ctx, acme.tenant, "bob"),
        match="is not a group",
    )
    acme.refuses(acme.olga, NotFoundError, lambda ctx: groups.get(ctx, "nothing"))
    with acme.platform.read(acme.olga) as ctx:
        assert ctx.view.member("bob")


def test_members_of_a_group_for_a_time(acme: AcmePlatform) -> None:
    acme.person("Bob")
    with acme.platform.write(acme.olga) as ctx:
        groups.create(ctx, "Team", uid="team")
        groups.add(ctx, "team", "bob", until=ctx.at + 1_000_000)
    acme.clock.advance(1)
    with acme.platform.read(acme.olga) as ctx:
        assert groups.get(ctx, "team").members == ()
