"""What a change does, in the models' own words; days of forms; by what a right is held."""

from __future__ import annotations

import pytest

from lakehold.access import Add, Grant, Remove
from lakehold.catalog import change_preview
from lakehold.directory.errors import DeniedError
from lakehold.kit.clock import DAY, FOREVER
from lakehold.kit.errors import InvalidInputError
from lakehold.web import days, effects
from lakehold.web.diffs import Effect
from lakehold.web.through import Through, through
from tests.corner import Corner, by, corner, corner_template

__all__ = ["corner", "corner_template"]

pytestmark = pytest.mark.parametrize("corner", ["sqlite"], indirect=True)


def test_actions_with_the_same_effect_are_told_together(corner: Corner) -> None:
    with corner.read(by("olga")) as ctx:
        told = effects.preview(ctx, [Add(Grant("nils", "viewer", "orders"))])
    assert Effect(gained=True, members=1, action="See, read and see runs", resources=1, kind="table") in told
    assert all(effect.gained for effect in told)


def test_many_actions_are_counted_and_all_of_them_are_everything(corner: Corner) -> None:
    with corner.read(by("olga")) as ctx:
        found = change_preview.preview(ctx, [Remove(Grant("mona", "manager", "clean"))])
        told = {effect.kind: effect.action for effect in effects.told(ctx.view.policy, found)}
        admin = change_preview.preview(ctx, [Add(Grant("nils", "admin", "corner"))])
        whole = {effect.kind: effect.action for effect in effects.told(ctx.view.policy, admin)}
    assert told["volume"] == "See, read, edit, write and 4 more actions"
    assert whole["lakehouse"] == "everything"
    assert {"Marts project", "Products project", "data space"} <= whole.keys()


def test_who_may_not_make_a_change_is_not_told_what_it_would_do(corner: Corner) -> None:
    with corner.read(by("adam")) as ctx, pytest.raises(DeniedError):
        effects.preview(ctx, [Add(Grant("nils", "owner", "corner"))])
    with corner.read(by("tara")) as ctx, pytest.raises(DeniedError):
        effects.preview(ctx, [Add(Grant("nils", "viewer", "orders"))])


def test_a_day_lasts_until_its_end(corner: Corner) -> None:
    with corner.read(by("olga")) as ctx:
        today = days.today(ctx)
        end = days.until(ctx, today)
        assert end is not None
        assert ctx.at < end <= ctx.at + DAY
        assert days.day_of(end) == today
        assert (days.until(ctx, " "), days.day_of(FOREVER)) == (None, "")
        assert days.day_of(days.until(ctx, "2999-12-31") or 0) == "2999-12-31"
        for wrong in ("2001-01-01", "soon", "9999-12-31"):
            with pytest.raises(InvalidInputError):
                days.until(ctx, wrong)


@pytest.mark.parametrize(
    ("member", "resource", "expected"),
    [
        ("ana", "customer_value", Through("direct", "Own grant: Editor")),
        ("bella", "shaped", Through("group", "Viewer through Analysts")),
        ("ana", "orders", Through("inherited", "Viewer on Clean")),
        ("erik", "orders", Through("inherited", "Editor on Clean, through Engineers")),
        ("otto", "land_tills", Through("role", "Can Operate in Landing")),
        ("adam", "orders", Through("role", "Admin of Corner & Main")),
        ("tim", "weather", Through("group", "Viewer as everybody has")),
        ("tim", "nils", Through("open", "Open to everybody")),
    ],
)
def test_a_right_is_told_by_the_nearest_grant(corner: Corner, member: str, resource: str, expected: Through) -> None:
    with corner.read(by(member)) as ctx:
        kind = ctx.view.policy.kind(ctx.view.kind(ctx.view.resource(resource))).schema
        found = ctx.session.explain(member, kind.visible, resource)
        assert through(ctx, member, found) == expected
