"""What a change does, in the models' own words; days of forms; by what a right is held."""

from __future__ import annotations

import pytest

from lakehold.access import Add, Grant, Remove
from lakehold.catalog import change_preview
from lakehold.directory.errors import DeniedError
from lakehold.kit.clock import DAY, FOREVER
from lakehold.kit.errors import InvalidInputError
from lakehold.web import confirmation, form_values
from lakehold.web.access.fact_labels import AccessReason, find_reason
from lakehold.web.components import EffectSummary
from tests.demo_company import DemoPlatform, as_member, corner, corner_databases

__all__ = ["corner", "corner_databases"]

pytestmark = pytest.mark.parametrize("corner", ["sqlite"], indirect=True)


def test_actions_with_the_same_effect_are_told_together(corner: DemoPlatform) -> None:
    with corner.read(as_member("olga")) as ctx:
        preview_effects = confirmation.preview_effects(ctx, [Add(Grant("nils", "viewer", "orders"))])
    assert (
        EffectSummary(gained=True, members=1, action="See, read and see runs", resources=1, kind="table")
        in preview_effects
    )
    assert all(effect.gained for effect in preview_effects)


def test_many_actions_are_counted_and_all_of_them_are_everything(corner: DemoPlatform) -> None:
    with corner.read(as_member("olga")) as ctx:
        found = change_preview.preview(ctx, [Remove(Grant("mona", "manager", "clean"))])
        preview_effects = {
            effect.kind: effect.action for effect in confirmation.summarize_effects(ctx.view.policy, found)
        }
        admin = change_preview.preview(ctx, [Add(Grant("nils", "admin", "corner"))])
        whole = {effect.kind: effect.action for effect in confirmation.summarize_effects(ctx.view.policy, admin)}
    assert preview_effects["volume"] == "See, read, edit, write and 4 more actions"
    assert whole["lakehouse"] == "everything"
    assert {"Marts project", "Products project", "data space"} <= whole.keys()


def test_who_may_not_make_a_change_is_not_told_what_it_would_do(corner: DemoPlatform) -> None:
    with corner.read(as_member("adam")) as ctx, pytest.raises(DeniedError):
        confirmation.preview_effects(ctx, [Add(Grant("nils", "owner", "corner"))])
    with corner.read(as_member("tara")) as ctx, pytest.raises(DeniedError):
        confirmation.preview_effects(ctx, [Add(Grant("nils", "viewer", "orders"))])


def test_a_day_lasts_until_its_end(corner: DemoPlatform) -> None:
    with corner.read(as_member("olga")) as ctx:
        today = form_values.today(ctx)
        end = form_values.parse_end_of_day(ctx, today)
        assert end is not None
        assert ctx.at < end <= ctx.at + DAY
        assert form_values.last_day_value(end) == today
        assert (form_values.parse_end_of_day(ctx, " "), form_values.last_day_value(FOREVER)) == (None, "")
        assert form_values.last_day_value(form_values.parse_end_of_day(ctx, "2999-12-31") or 0) == "2999-12-31"
        for wrong in ("2001-01-01", "soon", "9999-12-31"):
            with pytest.raises(InvalidInputError):
                form_values.parse_end_of_day(ctx, wrong)


@pytest.mark.parametrize(
    ("member", "resource", "expected"),
    [
        ("ana", "customer_value", AccessReason("direct", "Own grant: Editor")),
        ("bella", "shaped", AccessReason("group", "Viewer through Analysts")),
        ("ana", "orders", AccessReason("inherited", "Viewer on Clean")),
        ("erik", "orders", AccessReason("inherited", "Editor on Clean, through Engineers")),
        ("otto", "land_tills", AccessReason("role", "Can operate in Landing")),
        ("adam", "orders", AccessReason("role", "Admin of Corner & Main")),
        ("tim", "weather", AccessReason("group", "Viewer as everybody has")),
        ("tim", "nils", AccessReason("open", "Open to everybody")),
    ],
)
def test_a_right_is_told_by_the_nearest_grant(
    corner: DemoPlatform, member: str, resource: str, expected: AccessReason
) -> None:
    with corner.read(as_member(member)) as ctx:
        kind = ctx.view.policy.kind(ctx.view.kind(ctx.view.resource(resource))).schema
        found = ctx.session.explain(member, kind.visible, resource)
        assert find_reason(ctx, member, found) == expected
