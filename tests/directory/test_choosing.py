"""Members by what they are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lakehold.access import TokenPrincipal
from lakehold.directory import groups, member_filters, members
from lakehold.directory.member_filters import MemberFilter
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import NotFoundError
from tests.directory.town import Town


def names(ctx: RequestContext, wanted: MemberFilter, sort: str = "name") -> list[str]:
    return [member.name for member in member_filters.filtered_page(ctx, wanted, sort=sort).items]


def test_by_role_by_group_and_service_accounts(town: Town) -> None:
    for name in ("Zoe", "Bob"):
        town.person(name, ("editor", town.tenant))
    town.person("Eve")
    with town.platform.write(town.olga) as ctx:
        team = groups.create(ctx, "Team")
        groups.add(ctx, team, "zoe")
        groups.add(ctx, team, "eve")
        members.create_service_account(ctx, "Robot")
        assert names(ctx, MemberFilter(role="editor")) == ["Bob", "Zoe"]
        assert names(ctx, MemberFilter(role="editor"), sort="-name") == ["Zoe", "Bob"]
        assert names(ctx, MemberFilter(role="editor"), sort="created") == ["Zoe", "Bob"]
        assert names(ctx, MemberFilter(group=team)) == ["Eve", "Zoe"]
        assert names(ctx, MemberFilter(group=team, role="editor")) == ["Zoe"]
        assert names(ctx, MemberFilter(service=True)) == ["Robot"]
        assert "Robot" not in names(ctx, MemberFilter(service=False))
        assert names(ctx, MemberFilter(search="ZO", service=False)) == ["Zoe"]


def test_they_are_paged_and_counted(town: Town) -> None:
    for name in ("Ann", "Ben", "Cid"):
        town.person(name, ("viewer", town.tenant))
    with town.platform.read(town.olga) as ctx:
        second = member_filters.filtered_page(ctx, MemberFilter(role="viewer"), skip=2, limit=2)
        assert ([member.name for member in second.items], second.total) == (["Cid"], 3)


def test_what_the_caller_may_not_see_is_not_counted(town: Town) -> None:
    bob = town.person("Bob", ("viewer", town.tenant))
    with town.platform.write(town.olga) as ctx:
        team = groups.create(ctx, "Team")
    narrowed = replace(bob, narrowed=TokenPrincipal("bob", resources=frozenset({"bob"})))
    town.person("Eve", ("viewer", town.tenant))
    with town.platform.read(narrowed) as ctx:
        found = member_filters.filtered_page(ctx, MemberFilter(role="viewer"))
        assert ([member.uid for member in found.items], found.total) == (["bob"], 1)
        with pytest.raises(NotFoundError):
            member_filters.filtered_page(ctx, MemberFilter(group=team))
