"""Who holds what, from when until when; what a change would do."""

from __future__ import annotations

import pytest

from lakehold.access import Add, Attribute, Grant, Remove, Token
from lakehold.catalog import grants, ownership, sharing
from lakehold.directory.caller import Caller
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.kit.clock import DAY, FOREVER
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError
from tests.corner import TENANT, Corner, by


def test_a_grant_from_one_day_until_another(corner: Corner) -> None:
    with corner.write(by("mona")) as work:
        begin, end = work.at + DAY, work.at + 3 * DAY
        grants.give(work, Grant("nils", "viewer", "orders"), since=begin, until=end)
        (held,) = [one for one in grants.direct(work, "orders") if one.subject.uid == "nils"]
        assert (held.role, held.title, held.since, held.until) == ("viewer", "Viewer", begin, end)
    may = []
    for _ in range(4):
        with corner.read(by("nils")) as work:
            may.append(work.session.check("nils", "read", "orders"))
        corner.hand.pass_by(1)
    assert may == [False, True, True, False]
    with corner.read(by("mona")) as work:
        assert [one.subject.uid for one in grants.direct(work, "orders")] == []


def test_a_grant_to_a_group(corner: Corner) -> None:
    with corner.write(by("mona")) as work:
        grants.give(work, Grant("stewards", "viewer", "orders"))
        assert [(one.subject.uid, one.until) for one in grants.direct(work, "orders")] == [("stewards", FOREVER)]


def test_a_level_is_changed_in_one_step(corner: Corner) -> None:
    with corner.write(by("mona")) as work:
        grants.change(work, Grant("ana", "viewer", "clean"), "editor", until=work.at + DAY)
        held = [(one.role, one.until < FOREVER) for one in grants.direct(work, "clean") if one.subject.uid == "ana"]
    assert held == [("editor", True)]
    with pytest.raises(DeniedError), corner.write(by("mona")) as work:
        grants.change(work, Grant("ana", "editor", "clean"), "manager")
    with corner.read(by("mona")) as work:
        assert [one.role for one in grants.direct(work, "clean") if one.subject.uid == "ana"] == ["editor"]


def test_the_same_role_until_another_time(corner: Corner) -> None:
    with corner.write(by("mona")) as work:
        end = work.at + DAY
        grants.change(work, Grant("ana", "viewer", "clean"), "viewer", until=end)
        assert [one.until for one in grants.direct(work, "clean") if one.subject.uid == "ana"] == [end]


def test_what_is_revoked_is_gone_at_once(corner: Corner) -> None:
    with corner.write(by("mona")) as work:
        grants.revoke(work, Grant("ana", "viewer", "clean"))
    with corner.read(by("ana")) as work:
        assert not work.session.check("ana", "read", "orders")


def test_what_has_not_begun_can_be_revoked(corner: Corner) -> None:
    with corner.write(by("mona")) as work:
        grants.give(work, Grant("nils", "viewer", "orders"), since=work.at + DAY)
    with corner.write(by("mona")) as work:
        grants.revoke(work, Grant("nils", "viewer", "orders"))
        assert grants.direct(work, "orders") == []
    corner.hand.pass_by(2)
    with corner.read(by("nils")) as work:
        assert not work.session.check("nils", "read", "orders")


def test_a_slip_of_the_pen_revokes_nothing(corner: Corner) -> None:
    with pytest.raises(NotFoundError, match="does not hold"), corner.write(by("mona")) as work:
        grants.revoke(work, Grant("nils", "viewer", "clean"))
    with pytest.raises(DeniedError), corner.write(by("ana")) as work:
        grants.revoke(work, Grant("nils", "viewer", "clean"))
    with pytest.raises(InvalidInputError, match="no role 'wiever'"), corner.write(by("mona")) as work:
        grants.revoke(work, Grant("ana", "wiever", "clean"))


def test_who_gives_nothing_sees_their_own_and_the_owners(corner: Corner) -> None:
    with corner.read(by("ana")) as work:
        assert [(one.subject.uid, one.role) for one in grants.direct(work, "clean")] == [("ana", "viewer")]
    with corner.read(by("bella")) as work:
        assert {(one.subject.uid, one.role) for one in grants.direct(work, "daily_sales")} == {
            ("tara", "technical_owner"),
            ("bella", "business_owner"),
        }
    with corner.read(by("mona")) as work:
        assert len(grants.direct(work, "clean")) == 3


def test_who_may_do_it_by_whatever_path(corner: Corner) -> None:
    for who in ("adam", "mona"):
        with corner.read(by(who)) as work:
            found = [one.uid for one in grants.effective(work, "edit", "orders")]
            assert found == list(work.session.who("edit", "orders"))
            assert "erik" in found
    with pytest.raises(DeniedError), corner.read(by("ana")) as work:
        grants.effective(work, "edit", "orders")
    with pytest.raises(HiddenError), corner.read(by("nils")) as work:
        grants.effective(work, "edit", "orders")


def test_what_somebody_holds(corner: Corner) -> None:
    with corner.read(by("ana")) as work:
        mine = {(one.role, one.resource.uid) for one in grants.held_by(work, "ana")}
        assert ("editor", "customer_value") in mine
        assert {one.resource.uid for one in grants.held_by(work, "analysts")} >= {"shaped"}
    with corner.read(by("adam")) as work:
        assert {(one.role, one.resource.uid) for one in grants.held_by(work, "ana")} == mine
    with pytest.raises(DeniedError), corner.read(by("erik")) as work:
        grants.held_by(work, "ana")


def test_what_somebody_holds_names_nothing_out_of_sight(corner: Corner) -> None:
    """Tim owns files that he sees only while he is in the project."""
    with corner.write(by("adam")) as work:
        work.make(Remove(Grant("tim", "technical_user", "sales")))
    with corner.read(by("tim")) as work:
        assert "till_files" not in {one.resource.uid for one in grants.held_by(work, "tim")}


def test_a_preview_counts_what_the_caller_may_see(corner: Corner) -> None:
    given = Add(Grant("nils", "viewer", "clean"))
    with corner.read(by("mona")) as work:
        effects = sharing.preview(work, [given])
        tables = {group.action: group.resources for group in effects.groups if group.kind == "lakehouse.table"}
        assert tables == {"see": 9, "read": 9, "see_runs": 9}
        assert {row.member for row in effects.rows()} == {"nils"}
        assert not work.session.check("nils", "read", "orders")
    with pytest.raises(DeniedError), corner.read(by("ana")) as work:
        sharing.preview(work, [given])


def test_a_preview_says_nothing_of_what_is_out_of_sight(corner: Corner) -> None:
    """Bella gives her app to others; that it shows a report's project in some menu is not hers to know."""
    with corner.write(by("olga")) as work:
        work.make(Add(Attribute("daily_sales", "shared_for_maintenance", "true")))
    change = Add(Attribute("daily_sales", "shared_for_reporting", "false"))
    with corner.read(by("tara")) as work:
        seen = sharing.preview(work, [change])
        whole = work.session.what_if([change])
        hidden = {row.resource for row in whole.rows() if not work.session.sees("tara", row.resource)}
        assert hidden.isdisjoint(row.resource for row in seen.rows())
        kept = [row for row in whole.rows() if row.resource not in hidden]
        assert list(seen.rows()) == kept
        assert sum(group.pairs for group in seen.groups) == len(kept)


def test_a_narrowed_token_gives_nothing(corner: Corner) -> None:
    narrowed = Caller(TENANT, "mona", narrowed=Token("mona", resources=frozenset({"clean"})), token_id="t")
    with pytest.raises((DeniedError, HiddenError)), corner.write(narrowed) as work:
        grants.give(work, Grant("nils", "viewer", "orders"))


@pytest.mark.parametrize(
    ("grant", "told"),
    [
        (Grant("nils", "king", "clean"), "no role 'king'"),
        (Grant("orders", "viewer", "clean"), "cannot hold a role"),
        (Grant("analysts", "owner", "till_files"), "held by a person"),
    ],
)
def test_bad_input(corner: Corner, grant: Grant, told: str) -> None:
    with pytest.raises(InvalidInputError, match=told), corner.write(by("olga")) as work:
        grants.give(work, grant)


def test_times_that_cannot_be(corner: Corner) -> None:
    grant = Grant("ana", "viewer", "clean")
    with pytest.raises(InvalidInputError, match="in the past"), corner.write(by("olga")) as work:
        grants.give(work, Grant("nils", "viewer", "clean"), since=5)
    with pytest.raises(InvalidInputError, match="lies in the future"), corner.write(by("olga")) as work:
        grants.change(work, grant, "viewer", until=5)


# Ownership


def test_an_owner_hands_over_what_they_own(corner: Corner) -> None:
    with corner.write(by("tara")) as work:
        ownership.transfer(work, "lake", "owner", "tim")
        assert [grant.subject for grant in work.grants("lake")] == ["tim"]
    entries = [line.entry for line in corner.log()]
    assert [entry.action for entry in entries] == ["transfer", "revoke", "grant"]
    assert (entries[0].before, entries[0].after) == ({"owner": "tara"}, {"owner": "tim"})


def test_of_several_owners_one_hands_over(corner: Corner) -> None:
    with corner.write(by("tara")) as work:
        grants.give(work, Grant("bella", "owner", "lake"))
        with pytest.raises(InvalidInputError, match="Say from whom"):
            ownership.transfer(work, "lake", "owner", "tim")
        ownership.transfer(work, "lake", "owner", "tim", from_="bella")
        assert {grant.subject for grant in work.grants("lake")} == {"tara", "tim"}


def test_a_role_of_one_person_goes_over(corner: Corner) -> None:
    with corner.write(by("adam")) as work:
        ownership.transfer(work, "landing", "owner", "erik")
        assert [grant.subject for grant in work.grants("landing") if grant.role == "owner"] == ["erik"]


def test_who_may_hand_over_is_said_by_the_model(corner: Corner) -> None:
    for who, uid, role in (("petra", "landing", "owner"), ("tim", "lake", "owner"), ("dana", "shop_gateway", "owner")):
        with pytest.raises(DeniedError), corner.write(by(who)) as work:
            ownership.transfer(work, uid, role, "erik")


def test_what_cannot_be_handed_over(corner: Corner) -> None:
    with corner.write(by("olga")) as work:
        with pytest.raises(InvalidInputError, match="no role that a person owns"):
            ownership.transfer(work, "clean", "viewer", "erik")
        with pytest.raises(ConflictError, match="holds it already"):
            ownership.transfer(work, "lake", "owner", "tara")
        with pytest.raises(ConflictError, match="Nobody holds"):
            ownership.transfer(work, "margins", "business_owner", "tara")
        with pytest.raises(NotFoundError, match="does not hold"):
            ownership.transfer(work, "lake", "owner", "erik", from_="tim")
        with pytest.raises(InvalidInputError, match="is a group"):
            ownership.transfer(work, "lake", "owner", "analysts")
