"""Workspaces of all models side by side, with their members."""

from __future__ import annotations

import pytest

from lakehold.access import Adopt, Grant
from lakehold.catalog import grants, resources, workspaces
from lakehold.catalog.resource_edit import ResourceEdit, apply_edit
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.kit.clock import DAY
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError
from tests.demo_company import DemoPlatform, as_member

LABS = """
model: labs
extends: [tenant]
kinds:
  lab:
    in: tenant
    creator: head
    roles:
      head: {given_with: run}
    create: tenant.create_workspace
    edited_with: run
    deleted_with: run
    actions: [see, run]
    allow:
      - {who: head, may: all}
"""


def test_every_model_has_its_workspaces_and_their_makers_a_role(corner: DemoPlatform) -> None:
    with corner.write(as_member("olga")) as ctx:
        ctx.make(Adopt(LABS))
    with corner.write(as_member("adam")) as ctx:
        made = {model: workspaces.create(ctx, model, f"A {model}") for model in ("marts", "products", "spaces", "labs")}
        made["lakehouse"] = workspaces.create(ctx, "lakehouse", "A lakehouse", description="For tests.")
        held = {model: [grant.role for grant in ctx.grants(uid)] for model, uid in made.items()}
        found = workspaces.page(ctx, search="a ", limit=200).items
    assert held == {
        "marts": ["admin"],
        "products": ["admin"],
        "spaces": ["owner"],
        "labs": ["head"],
        "lakehouse": [],
    }
    assert {item.uid for item in found} >= set(made.values())
    assert {item.kind for item in found} >= {"labs.lab", "spaces.space"}


@pytest.mark.parametrize(
    ("who", "seen"),
    [
        ("bella", ["lake_house", "masters", "sales", "serving"]),
        ("otto", ["lake_house", "landing", "masters", "serving"]),
        ("nils", []),
        ("tim", ["sales", "lake_house", "suppliers_360"]),
    ],
)
def test_everybody_sees_their_own(corner: DemoPlatform, who: str, seen: list[str]) -> None:
    with corner.read(as_member(who)) as ctx:
        assert {item.uid for item in workspaces.page(ctx).items} == set(seen)


def test_the_list_is_paged_over_all_models(corner: DemoPlatform) -> None:
    seen: list[str] = []
    after = None
    with corner.read(as_member("olga")) as ctx:
        while True:
            page = workspaces.page(ctx, limit=2, after=after)
            seen += [item.name for item in page.items]
            after = page.after
            if after is None:
                break
        only = [item.uid for item in workspaces.page(ctx, model="products").items]
    assert seen == sorted(seen, key=str.casefold)
    assert len(seen) == 8
    assert only == ["masters", "suppliers_360"]


def test_who_may_make_one(corner: DemoPlatform) -> None:
    with corner.write(as_member("stella")) as ctx:
        workspaces.create(ctx, "spaces", "Stella's")
    for who, model in (("stella", "marts"), ("edith", "products"), ("mona", "lakehouse")):
        with pytest.raises(DeniedError), corner.write(as_member(who)) as ctx:
            workspaces.create(ctx, model, "No")


def test_a_personal_space_is_made_as_one(corner: DemoPlatform) -> None:
    with corner.write(as_member("stella")) as ctx:
        made = workspaces.create(ctx, "spaces", "My own", attributes={"personal": True})
        with pytest.raises(DeniedError):
            workspaces.set_member(ctx, made, "ana", roles=["can_view"])


def test_settings_are_attributes(corner: DemoPlatform) -> None:
    with corner.write(as_member("adam")) as ctx:
        apply_edit(ctx, "sales", ResourceEdit(attributes={"technical_users_control_all_reports": True}))
        assert resources.get(ctx, "sales").attributes == {"technical_users_control_all_reports": "true"}
        assert ctx.session.check("tim", "edit", "morning_sales")


def test_an_empty_workspace_can_be_deleted_by_who_could_have_made_it(corner: DemoPlatform) -> None:
    with corner.write(as_member("adam")) as ctx:
        made = workspaces.create(ctx, "marts", "Short-lived")
        workspaces.set_member(ctx, made, "tara", roles=["admin"])
    with pytest.raises(DeniedError), corner.write(as_member("tara")) as ctx:
        resources.delete(ctx, made)
    with corner.write(as_member("adam")) as ctx:
        assert resources.delete(ctx, made)
    with pytest.raises(ConflictError), corner.write(as_member("adam")) as ctx:
        resources.delete(ctx, "sales")


def test_members_with_their_roles_and_scope(corner: DemoPlatform) -> None:
    with corner.read(as_member("adam")) as ctx:
        found = {member.subject.uid: member for member in workspaces.members(ctx, "sales")}
    assert {uid: [role.name for role in member.roles] for uid, member in found.items()} == {
        "tara": ["technical_user"],
        "tim": ["technical_user"],
        "bella": ["business_user"],
        "boris": ["business_user"],
    }
    assert found["tim"].attributes == {"scope": "selected_contexts"}
    assert found["tara"].attributes == {"scope": "entire_project"}


def test_groups_are_members_too_and_have_no_scope(corner: DemoPlatform) -> None:
    with corner.read(as_member("adam")) as ctx:
        found = {member.subject.uid: member for member in workspaces.members(ctx, "lake_house")}
    assert {"engineers", "analysts", "stewards", "tim"} == set(found)
    assert found["engineers"].attributes == {}


def test_who_keeps_no_members_sees_themself(corner: DemoPlatform) -> None:
    with corner.read(as_member("bella")) as ctx:
        assert [member.subject.uid for member in workspaces.members(ctx, "sales")] == ["bella"]
    with pytest.raises(HiddenError), corner.read(as_member("nils")) as ctx:
        workspaces.members(ctx, "sales")


def test_a_member_is_set_as_a_whole(corner: DemoPlatform) -> None:
    with corner.write(as_member("adam")) as ctx:
        workspaces.set_member(
            ctx, "sales", "bella", roles=["technical_user"], attributes={"scope": "selected_contexts"}
        )
        (bella,) = [member for member in workspaces.members(ctx, "sales") if member.subject.uid == "bella"]
    assert [role.name for role in bella.roles] == ["technical_user"]
    assert bella.attributes == {"scope": "selected_contexts"}


def test_a_member_for_a_time(corner: DemoPlatform) -> None:
    with corner.write(as_member("adam")) as ctx:
        workspaces.set_member(ctx, "sales", "nils", roles=["business_user"], until=ctx.at + 2 * DAY)
    corner.hand.advance_days(1)
    with corner.read(as_member("nils")) as ctx:
        assert [item.uid for item in workspaces.page(ctx).items] == ["sales"]
    corner.hand.advance_days(1)
    with corner.read(as_member("nils")) as ctx:
        assert workspaces.page(ctx).items == []


def test_a_role_that_begins_later_does_not_begin_by_saving_and_ends_with_the_membership(corner: DemoPlatform) -> None:
    later = Grant("nils", "business_user", "sales")
    with corner.write(as_member("adam")) as ctx:
        begin = ctx.at + 5 * DAY
        grants.give(ctx, later, since=begin)
        workspaces.set_member(ctx, "sales", "nils", roles=["business_user"])
        workspaces.set_member(ctx, "sales", "nils", roles=["business_user"], until=begin + DAY)
        assert ctx.session.store.periods(later) == [(begin, begin + DAY)]
        with pytest.raises(InvalidInputError, match="begins only after this end"):
            workspaces.set_member(ctx, "sales", "nils", roles=["business_user"], until=begin - DAY)
        workspaces.remove_member(ctx, "sales", "nils")
        assert ctx.session.store.periods(later) == []


def test_roles_that_are_sent_with_an_end_have_that_end(corner: DemoPlatform) -> None:
    with corner.write(as_member("adam")) as ctx:
        until = ctx.at + 2 * DAY
        workspaces.set_member(ctx, "sales", "tim", roles=["technical_user"], until=until)
        ((_, end),) = ctx.session.store.periods(Grant("tim", "technical_user", "sales"))
        assert end == until


def test_nothing_of_a_change_is_made_without_the_right_to_all_of_it(corner: DemoPlatform) -> None:
    with pytest.raises(DeniedError), corner.write(as_member("tara")) as ctx:
        workspaces.set_member(ctx, "sales", "nils", roles=["business_user"])
    with corner.read(as_member("adam")) as ctx:
        assert "nils" not in {member.subject.uid for member in workspaces.members(ctx, "sales")}


def test_a_member_is_taken_out_and_keeps_what_they_own_for_later(corner: DemoPlatform) -> None:
    with corner.write(as_member("adam")) as ctx:
        workspaces.remove_member(ctx, "sales", "tim")
        assert not ctx.session.check("tim", "see", "sales")
        assert Grant("tim", "owner", "till_files") in ctx.grants("till_files")
        workspaces.set_member(ctx, "sales", "tim", roles=["technical_user"])
        assert ctx.session.check("tim", "edit", "till_files")
        (tim,) = [member for member in workspaces.members(ctx, "sales") if member.subject.uid == "tim"]
        assert tim.attributes == {"scope": "entire_project"}


def test_who_is_not_in_it_cannot_be_taken_out(corner: DemoPlatform) -> None:
    with pytest.raises(NotFoundError, match="no role"), corner.write(as_member("adam")) as ctx:
        workspaces.remove_member(ctx, "sales", "nils")
    with pytest.raises(DeniedError), corner.write(as_member("bella")) as ctx:
        workspaces.remove_member(ctx, "sales", "nils")
    with pytest.raises(DeniedError), corner.write(as_member("bella")) as ctx:
        workspaces.remove_member(ctx, "sales", "tim")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"roles": ["emperor"]}, "no role 'emperor'"),
        ({"attributes": {"scope": "moon"}}, "is not a valid value of scope"),
        ({"attributes": {"height": "1"}}, "no membership attribute"),
        ({"roles": ["business_user"], "until": 5}, "end after it begins"),
    ],
)
def test_bad_input(corner: DemoPlatform, given: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message), corner.write(as_member("adam")) as ctx:
        workspaces.set_member(ctx, "sales", "nils", **given)  # type: ignore[arg-type]


def test_other_bad_input(corner: DemoPlatform) -> None:
    with pytest.raises(InvalidInputError, match="no model 'mart'"), corner.write(as_member("adam")) as ctx:
        workspaces.create(ctx, "mart", "A")
    with pytest.raises(InvalidInputError, match="no model 'tenant'"), corner.write(as_member("adam")) as ctx:
        workspaces.create(ctx, "tenant", "A")
    with pytest.raises(InvalidInputError, match="is not a workspace"), corner.read(as_member("adam")) as ctx:
        workspaces.members(ctx, "daily_sales")
