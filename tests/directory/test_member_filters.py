"""Members by what they are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lakehold.access import TokenPrincipal
from lakehold.directory import groups, members
from lakehold.directory.members import MemberFilter
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import NotFoundError
from tests.directory.acme import AcmePlatform


def names(ctx: RequestContext, member_filter: MemberFilter, sort: str = "name") -> list[str]:
    return [member.name for member in members.filtered_page(ctx, member_filter, sort=sort).items]


def test_by_role_by_group_and_service_accounts(acme: AcmePlatform) -> None:
    for name in ("Zoe", "Bob"):
        acme.person(name, ("editor", acme.tenant))
    acme.person("Eve")
    with acme.platform.write(acme.olga) as ctx:
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


def test_they_are_paged_and_counted(acme: AcmePlatform) -> None:
    for name in ("Ann", "Ben", "Cid"):
        acme.person(name, ("viewer", acme.tenant))
    with acme.platform.read(acme.olga) as ctx:
        second = members.filtered_page(ctx, MemberFilter(role="viewer"), skip=2, limit=2)
        assert ([member.name for member in second.items], second.total) == (["Cid"], 3)


def test_what_the_caller_may_not_see_is_not_counted(acme: AcmePlatform) -> None:
    bob = acme.person("Bob", ("viewer", acme.tenant))
    with acme.platform.write(acme.olga) as ctx:
        team = groups.create(ctx, "Team")
    narrowed = replace(bob, narrowed=TokenPrincipal("bob", resources=frozenset({"bob"})))
    acme.person("Eve", ("viewer", acme.tenant))
    with acme.platform.read(narrowed) as ctx:
        found = members.filtered_page(ctx, MemberFilter(role="viewer"))
        assert ([member.uid for member in found.items], found.total) == (["bob"], 1)
        with pytest.raises(NotFoundError):
            members.filtered_page(ctx, MemberFilter(group=team))
