"""Who holds what, from when until when; what a change would do."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lakehold.access import Add, Attribute, Grant, Remove, TokenPrincipal
from lakehold.catalog import change_preview, grants, ownership, workspaces
from lakehold.directory.caller import Caller
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import DAY, FOREVER
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError
from tests.demo_company import TENANT, DemoPlatform, as_member


def test_a_grant_from_one_day_until_another(corner: DemoPlatform) -> None:
    with corner.write(as_member("mona")) as ctx:
        begin, end = ctx.at + DAY, ctx.at + 3 * DAY
        grants.give(ctx, Grant("nils", "viewer", "orders"), since=begin, until=end)
        (held,) = [one for one in grants.list_direct(ctx, "orders") if one.subject.uid == "nils"]
        assert (held.role, held.title, held.since, held.until) == ("viewer", "Viewer", begin, end)
    may = []
    for _ in range(4):
        with corner.read(as_member("nils")) as ctx:
            may.append(ctx.session.check("nils", "read", "orders"))
        corner.hand.advance_days(1)
    assert may == [False, True, True, False]
    with corner.read(as_member("mona")) as ctx:
        assert [one.subject.uid for one in grants.list_direct(ctx, "orders")] == []


def test_a_grant_to_a_group(corner: DemoPlatform) -> None:
    with corner.write(as_member("mona")) as ctx:
        grants.give(ctx, Grant("stewards", "viewer", "orders"))
        assert [(one.subject.uid, one.until) for one in grants.list_direct(ctx, "orders")] == [("stewards", FOREVER)]


def test_a_level_is_changed_in_one_step(corner: DemoPlatform) -> None:
    with corner.write(as_member("mona")) as ctx:
        grants.change_role(ctx, Grant("ana", "viewer", "clean"), "editor", until=ctx.at + DAY)
        held = [(one.role, one.until < FOREVER) for one in grants.list_direct(ctx, "clean") if one.subject.uid == "ana"]
    assert held == [("editor", True)]
    with pytest.raises(DeniedError), corner.write(as_member("mona")) as ctx:
        grants.change_role(ctx, Grant("ana", "editor", "clean"), "manager")
    with corner.read(as_member("mona")) as ctx:
        assert [one.role for one in grants.list_direct(ctx, "clean") if one.subject.uid == "ana"] == ["editor"]


def test_the_same_role_until_another_time(corner: DemoPlatform) -> None:
    with corner.write(as_member("mona")) as ctx:
        end = ctx.at + DAY
        grants.change_role(ctx, Grant("ana", "viewer", "clean"), "viewer", until=end)
        assert [one.until for one in grants.list_direct(ctx, "clean") if one.subject.uid == "ana"] == [end]


def test_what_is_revoked_is_gone_at_once(corner: DemoPlatform) -> None:
    with corner.write(as_member("mona")) as ctx:
        grants.revoke(ctx, Grant("ana", "viewer", "clean"))
    with corner.read(as_member("ana")) as ctx:
        assert not ctx.session.check("ana", "read", "orders")


def test_what_has_not_begun_can_be_revoked(corner: DemoPlatform) -> None:
    with corner.write(as_member("mona")) as ctx:
        grants.give(ctx, Grant("nils", "viewer", "orders"), since=ctx.at + DAY)
    with corner.write(as_member("mona")) as ctx:
        grants.revoke(ctx, Grant("nils", "viewer", "orders"))
        assert grants.list_direct(ctx, "orders") == []
    corner.hand.advance_days(2)
    with corner.read(as_member("nils")) as ctx:
        assert not ctx.session.check("nils", "read", "orders")


def test_a_slip_of_the_pen_revokes_nothing(corner: DemoPlatform) -> None:
    with pytest.raises(NotFoundError, match="does not hold"), corner.write(as_member("mona")) as ctx:
        grants.revoke(ctx, Grant("nils", "viewer", "clean"))
    with pytest.raises(DeniedError), corner.write(as_member("ana")) as ctx:
        grants.revoke(ctx, Grant("nils", "viewer", "clean"))
    with pytest.raises(InvalidInputError, match="no role 'wiever'"), corner.write(as_member("mona")) as ctx:
        grants.revoke(ctx, Grant("ana", "wiever", "clean"))


def test_who_gives_nothing_sees_their_own_and_the_owners(corner: DemoPlatform) -> None:
    with corner.read(as_member("ana")) as ctx:
        assert [(one.subject.uid, one.role) for one in grants.list_direct(ctx, "clean")] == [("ana", "viewer")]
    with corner.read(as_member("bella")) as ctx:
        assert {(one.subject.uid, one.role) for one in grants.list_direct(ctx, "daily_sales")} == {
            ("tara", "technical_owner"),
            ("bella", "business_owner"),
        }
    with corner.read(as_member("mona")) as ctx:
        assert len(grants.list_direct(ctx, "clean")) == 3


def test_who_may_do_it_by_whatever_path(corner: DemoPlatform) -> None:
    for who in ("adam", "mona"):
        with corner.read(as_member(who)) as ctx:
            found = [one.uid for one in grants.list_effective(ctx, "edit", "orders")]
            assert found == list(ctx.session.who("edit", "orders"))
            assert "erik" in found
    with pytest.raises(DeniedError), corner.read(as_member("ana")) as ctx:
        grants.list_effective(ctx, "edit", "orders")
    with pytest.raises(HiddenError), corner.read(as_member("nils")) as ctx:
        grants.list_effective(ctx, "edit", "orders")


def test_what_somebody_holds(corner: DemoPlatform) -> None:
    with corner.read(as_member("ana")) as ctx:
        mine = {(one.role, one.resource.uid) for one in grants.list_held_by(ctx, "ana")}
        assert ("editor", "customer_value") in mine
        assert {one.resource.uid for one in grants.list_held_by(ctx, "analysts")} >= {"shaped"}
    with corner.read(as_member("adam")) as ctx:
        assert {(one.role, one.resource.uid) for one in grants.list_held_by(ctx, "ana")} == mine
    with pytest.raises(DeniedError), corner.read(as_member("erik")) as ctx:
        grants.list_held_by(ctx, "ana")


def test_what_somebody_holds_names_nothing_out_of_sight(corner: DemoPlatform) -> None:
    """Tim owns files that he sees only while he is in the project."""
    with corner.write(as_member("adam")) as ctx:
        ctx.make(Remove(Grant("tim", "technical_user", "sales")))
    with corner.read(as_member("tim")) as ctx:
        assert "till_files" not in {one.resource.uid for one in grants.list_held_by(ctx, "tim")}


def test_a_preview_counts_what_the_caller_may_see(corner: DemoPlatform) -> None:
    given = Add(Grant("nils", "viewer", "clean"))
    with corner.read(as_member("mona")) as ctx:
        effects = change_preview.preview(ctx, [given])
        tables = {group.action: group.resources for group in effects.groups if group.kind == "lakehouse.table"}
        assert tables == {"see": 9, "read": 9, "see_runs": 9}
        assert {row.member for row in effects.rows()} == {"nils"}
        assert not ctx.session.check("nils", "read", "orders")
    with pytest.raises(DeniedError), corner.read(as_member("ana")) as ctx:
        change_preview.preview(ctx, [given])


def test_a_preview_says_nothing_of_what_is_out_of_sight(corner: DemoPlatform) -> None:
    """Bella gives her app to others; that it shows a report's project in some menu is not hers to know."""
    with corner.write(as_member("olga")) as ctx:
        ctx.make(Add(Attribute("daily_sales", "shared_for_maintenance", "true")))
    change = Add(Attribute("daily_sales", "shared_for_reporting", "false"))
    with corner.read(as_member("tara")) as ctx:
        seen = change_preview.preview(ctx, [change])
        whole = ctx.session.what_if([change])
        hidden = {row.resource for row in whole.rows() if not ctx.session.can_see("tara", row.resource)}
        assert hidden.isdisjoint(row.resource for row in seen.rows())
        kept = [row for row in whole.rows() if row.resource not in hidden]
        assert list(seen.rows()) == kept
        assert sum(group.pairs for group in seen.groups) == len(kept)


def test_a_narrowed_token_gives_nothing(corner: DemoPlatform) -> None:
    narrowed = Caller(TENANT, "mona", narrowed=TokenPrincipal("mona", resources=frozenset({"clean"})), token_id="t")
    with pytest.raises((DeniedError, HiddenError)), corner.write(narrowed) as ctx:
        grants.give(ctx, Grant("nils", "viewer", "orders"))


@pytest.mark.parametrize(
    ("grant", "message"),
    [
        (Grant("nils", "king", "clean"), "no role 'king'"),
        (Grant("orders", "viewer", "clean"), "cannot hold a role"),
        (Grant("analysts", "owner", "till_files"), "held by a person"),
    ],
)
def test_bad_input(corner: DemoPlatform, grant: Grant, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message), corner.write(as_member("olga")) as ctx:
        grants.give(ctx, grant)


def test_times_that_cannot_be(corner: DemoPlatform) -> None:
    grant = Grant("ana", "viewer", "clean")
    with pytest.raises(InvalidInputError, match="in the past"), corner.write(as_member("olga")) as ctx:
        grants.give(ctx, Grant("nils", "viewer", "clean"), since=5)
    with pytest.raises(InvalidInputError, match="must be in the future"), corner.write(as_member("olga")) as ctx:
        grants.change_role(ctx, grant, "viewer", until=5)


# Ownership


def test_an_owner_hands_over_what_they_own(corner: DemoPlatform) -> None:
    with corner.write(as_member("tara")) as ctx:
        ownership.transfer_role(ctx, "lake", "owner", "tim")
        assert [grant.subject for grant in ctx.grants("lake")] == ["tim"]
    entries = [line.entry for line in corner.log()]
    assert [entry.action for entry in entries] == ["transfer", "revoke", "grant"]
    assert (entries[0].before, entries[0].after) == ({"owner": "tara"}, {"owner": "tim"})


def test_of_several_owners_one_hands_over(corner: DemoPlatform) -> None:
    with corner.write(as_member("tara")) as ctx:
        grants.give(ctx, Grant("bella", "owner", "lake"))
        with pytest.raises(InvalidInputError, match="Name the current holder"):
            ownership.transfer_role(ctx, "lake", "owner", "tim")
        ownership.transfer_role(ctx, "lake", "owner", "tim", from_="bella")
        assert {grant.subject for grant in ctx.grants("lake")} == {"tara", "tim"}


def test_a_role_of_one_person_goes_over(corner: DemoPlatform) -> None:
    with corner.write(as_member("adam")) as ctx:
        ownership.transfer_role(ctx, "landing", "owner", "erik")
        assert [grant.subject for grant in ctx.grants("landing") if grant.role == "owner"] == ["erik"]


def test_who_may_hand_over_is_said_by_the_model(corner: DemoPlatform) -> None:
    for who, uid, role in (("petra", "landing", "owner"), ("tim", "lake", "owner"), ("petra", "shop_gateway", "owner")):
        with pytest.raises(DeniedError), corner.write(as_member(who)) as ctx:
            ownership.transfer_role(ctx, uid, role, "erik")


def test_what_cannot_be_handed_over(corner: DemoPlatform) -> None:
    with corner.write(as_member("olga")) as ctx:
        with pytest.raises(InvalidInputError, match="not a role of a single owner"):
            ownership.transfer_role(ctx, "clean", "viewer", "erik")
        with pytest.raises(ConflictError, match="holds it already"):
            ownership.transfer_role(ctx, "lake", "owner", "tara")
        with pytest.raises(ConflictError, match="Nobody holds"):
            ownership.transfer_role(ctx, "margins", "business_owner", "tara")
        with pytest.raises(NotFoundError, match="does not hold"):
            ownership.transfer_role(ctx, "lake", "owner", "erik", from_="tim")
        with pytest.raises(InvalidInputError, match="is a group"):
            ownership.transfer_role(ctx, "lake", "owner", "analysts")


def test_a_grant_given_again_keeps_the_times_it_had(corner: DemoPlatform) -> None:
    with corner.write(as_member("mona")) as ctx:
        viewer, at = Grant("nils", "viewer", "orders"), ctx.at
        grants.give(ctx, viewer, since=at + 30 * DAY)
        grants.give(ctx, viewer, until=at + 7 * DAY)
        held = [(one.since, one.until) for one in grants.list_direct(ctx, "orders") if one.subject.uid == "nils"]
        assert held == [(at, at + 7 * DAY), (at + 30 * DAY, FOREVER)]
        grants.give(ctx, Grant("ana", "viewer", "clean"), until=at + DAY)
        assert [one.until for one in grants.list_direct(ctx, "clean") if one.subject.uid == "ana"] == [FOREVER]
        grants.give(ctx, viewer, until=at + 40 * DAY)
        held = [(one.since, one.until) for one in grants.list_direct(ctx, "orders") if one.subject.uid == "nils"]
        assert held == [(at, FOREVER)]


def test_the_last_owner_without_end_is_given_none(corner: DemoPlatform) -> None:
    owner = Grant("olga", "owner", TENANT)
    with corner.write(as_member("olga")) as ctx:
        grants.give(ctx, Grant("adam", "owner", TENANT), until=ctx.at + DAY)
    for attempt in (
        lambda ctx: grants.change_role(ctx, owner, "owner", until=ctx.at + DAY),
        lambda ctx: grants.revoke(ctx, owner),
        lambda ctx: ctx.session.check_change("adam", Remove(owner)),
        lambda ctx: ctx.session.store.delete("olga"),
    ):
        with pytest.raises(ConflictError, match="last Owner"), corner.write(as_member("adam")) as ctx:
            attempt(ctx)
    with corner.write(as_member("olga")) as ctx:
        grants.give(ctx, Grant("adam", "owner", TENANT))
        grants.change_role(ctx, owner, "owner", until=ctx.at + DAY)


def test_a_role_of_one_person_is_taken_from_nobody_for_a_time(corner: DemoPlatform) -> None:
    owner = Grant("adam", "owner", "landing")
    attempts: list[Callable[[RequestContext], None]] = [
        lambda ctx: grants.give(ctx, owner, until=ctx.at + DAY),
        lambda ctx: grants.give(ctx, owner, since=ctx.at + DAY),
        lambda ctx: grants.change_role(ctx, Grant("otto", "can_operate", "landing"), "owner", until=ctx.at + DAY),
        lambda ctx: workspaces.set_member(ctx, "landing", "adam", roles=["owner"], until=ctx.at + DAY),
    ]
    for attempt in attempts:
        with pytest.raises(InvalidInputError, match="changes hands at once"), corner.write(as_member("olga")) as ctx:
            attempt(ctx)
    with corner.write(as_member("olga")) as ctx:
        held = [(one.subject.uid, one.until) for one in grants.list_direct(ctx, "landing") if one.role == "owner"]
        assert held == [("petra", FOREVER)]
        grants.give(ctx, owner)
