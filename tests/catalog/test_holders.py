"""Who may do what with one resource, and by what sort of path."""

from __future__ import annotations

import pytest

from lakehold.access import Grant
from lakehold.catalog import grants, kinds
from lakehold.directory.errors import HiddenError
from tests.demo_company import DemoPlatform, as_member


def paths(corner: DemoPlatform, viewer: str, uid: str, action: str) -> dict[str, str]:
    with corner.read(as_member(viewer)) as ctx:
        found = grants.load_holders(ctx, uid)
        paths_by_member = {ctx.view.uid(member): found.path(action, member) for member in ctx.view.members}
    return {member: path for member, path in paths_by_member.items() if path}


def test_by_role_from_above_by_a_group_and_by_an_own_grant(corner: DemoPlatform) -> None:
    with corner.write(as_member("mona")) as ctx:
        grants.give(ctx, Grant("nils", "viewer", "orders"))
        grants.give(ctx, Grant("stewards", "viewer", "orders"))
    read = paths(corner, "olga", "orders", "read")
    assert (read["olga"], read["adam"]) == ("role", "role")
    assert (read["ana"], read["erik"], read["mona"]) == ("inherited", "inherited", "inherited")
    assert (read["carla"], read["nils"]) == ("group", "direct")
    assert "bella" not in read


def test_who_would_have_it_anyway_has_it_from_above(corner: DemoPlatform) -> None:
    with corner.write(as_member("mona")) as ctx:
        grants.give(ctx, Grant("ana", "editor", "orders"))
    assert paths(corner, "olga", "orders", "read")["ana"] == "inherited"
    assert paths(corner, "olga", "orders", "edit")["ana"] == "direct"


def test_what_is_given_to_all_counts_as_a_group(corner: DemoPlatform) -> None:
    assert paths(corner, "olga", "weather", "read")["tim"] == "group"


def test_an_owner_without_a_role_in_the_project_has_nothing(corner: DemoPlatform) -> None:
    assert paths(corner, "olga", "daily_sales", "edit") == {"olga": "role", "adam": "role", "tara": "direct"}


@pytest.mark.parametrize("uid", ["orders", "clean", "lake_house", "make_orders", "daily_sales", "sales", "land_tills"])
def test_they_are_the_same_as_every_single_check(corner: DemoPlatform, uid: str) -> None:
    with corner.read(as_member("olga")) as ctx:
        found = grants.load_holders(ctx, uid)
        assert found.actions == ctx.session.read_view(lambda view: kinds.schema_of(view, uid).actions)
        for action in found.actions:
            listed = {ctx.view.uid(member) for member in found.members(action)}
            by_path = [ctx.view.uid(member) for path in grants.PATHS for member in found.members(action, path)]
            assert listed == {one for one in map(ctx.view.uid, ctx.view.members) if ctx.session.check(one, action, uid)}
            assert sorted(by_path) == sorted(listed)


def test_who_may_not_know_of_others_is_told_of_themself(corner: DemoPlatform) -> None:
    assert paths(corner, "erik", "orders", "read") == {"erik": "inherited"}
    assert "erik" in paths(corner, "mona", "orders", "read")
    with pytest.raises(HiddenError):
        paths(corner, "nils", "orders", "read")
