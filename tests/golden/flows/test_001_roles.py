"""Seed 001_e95442de0b1bc8c7, Roles and Permissions, over REST and on pages: members, invites, and any report."""

from __future__ import annotations

import pytest

from lakehold.access import Grant
from lakehold.catalog import workspaces
from tests.golden.flows import actions
from tests.golden.flows.acme import BOB, OLGA, AcmeSite
from tests.golden.flows.actions import WAYS, Way
from tests.golden.flows.outcomes import DONE, HIDDEN, REFUSED, confirmed_outcome, expected_outcomes
from tests.golden.flows.people import PagesPeople, RestPeople
from tests.golden.flows.project import FlowProject
from tests.golden.flows.project_setup import set_up_project
from tests.golden.marts_001 import CAN_INVITE, INVITE_CELLS, INVITE_IDS, INVITING
from tests.golden.marts_world import ADMIN, BU, ENTIRE, NO_OVERLAP, OVERLAP, REPORTING, SCOPES, TU, Seat, every_action

People = RestPeople | PagesPeople
BY = (RestPeople, PagesPeople)
SETTING = "technical_users_control_all_reports"


@pytest.fixture(autouse=True)
def anew(acme: AcmeSite) -> None:
    """What is done with people here changes the project: each test has its own."""
    acme.is_used = True


@pytest.mark.parametrize("by", BY)
@pytest.mark.parametrize(("inviting", "column", "yes"), INVITE_CELLS, ids=INVITE_IDS)
def test_who_can_invite_whom(acme: AcmeSite, inviting: str, column: str, yes: bool, by: type[People]) -> None:
    place = set_up_project(acme, Seat(INVITING[inviting]), ENTIRE, "orders")
    said, _ = by(place).invites(CAN_INVITE[column])
    assert said == (DONE if yes else REFUSED)


# access-models.md, marts: a non-admin's invitee gets at most the inviter's scope and contexts.


@pytest.mark.parametrize("by", BY)
@pytest.mark.parametrize("role", [TU, BU])
def test_an_invitee_gets_at_most_the_inviters_scope_and_contexts(acme: AcmeSite, role: str, by: type[People]) -> None:
    place = set_up_project(acme, Seat(role, {}, {"orders": REPORTING}), OVERLAP, "orders")
    place.add_context("south")
    ann = by(place)
    assert ann.invites(BU, scope="entire_project")[0] == REFUSED
    assert ann.invites(BU, contexts=["south"])[0] == REFUSED
    said, secret = ann.invites(BU, contexts=["north"])
    assert said == DONE
    nora = by(place, ann.accepts(secret))
    assert nora.opens("orders") == DONE
    place.label("orders", "south")
    place.unlabel("orders", "north")
    # A page that was opened before is not looked at again: they open it anew.
    assert by(place, nora.who).opens("orders") == HIDDEN


@pytest.mark.parametrize("by", BY)
def test_an_invitee_of_whom_nothing_is_said_has_the_inviters_scope_and_no_contexts(
    acme: AcmeSite, by: type[People]
) -> None:
    place = set_up_project(acme, Seat(BU, {}, {"orders": REPORTING}), OVERLAP, "orders")
    ann = by(place)
    said, secret = ann.invites(BU)
    nora = by(place, ann.accepts(secret))
    assert (said, ann.opens("orders"), nora.opens("orders")) == (DONE, DONE, HIDDEN)


@pytest.mark.parametrize("by", BY)
def test_a_project_admin_chooses_scope_and_contexts(acme: AcmeSite, by: type[People]) -> None:
    place = set_up_project(acme, Seat(ADMIN, {}, {"orders": REPORTING}), ENTIRE, "orders")
    ann = by(place)
    _, secret = ann.invites(BU, scope="selected_contexts", contexts=["north"])
    nora = by(place, ann.accepts(secret))
    assert nora.opens("orders") == DONE
    place.unlabel("orders", "north")
    # A page that was opened before is not looked at again: they open it anew.
    assert by(place, nora.who).opens("orders") == HIDDEN


# Admins, member management: change any member's role, delete members; access-models.md: and their scope.


def standing(place: FlowProject, member: str) -> tuple[list[str], str]:
    """The roles of a member in the project, and their scope."""
    with place.acme.read() as ctx:
        found = {each.subject.uid: each for each in workspaces.members(ctx, place["sales"])}
    if member not in found:
        return [], ""
    return [role.name for role in found[member].roles], found[member].attributes["scope"]


@pytest.mark.parametrize("by", BY)
@pytest.mark.parametrize(("role", "yes"), [(ADMIN, True), (TU, False), (BU, False)])
def test_who_changes_roles_and_scope_and_deletes_members(
    acme: AcmeSite, role: str, yes: bool, by: type[People]
) -> None:
    place = set_up_project(acme, Seat(role), ENTIRE, "orders")
    place.give("sales", BU, BOB)
    ann = by(place)
    expected_result = DONE if yes else REFUSED
    said = ann.appoints(BOB, TU, "selected_contexts")
    assert confirmed_outcome(said, happened=standing(place, BOB) == ([TU], "selected_contexts")) == expected_result
    said = ann.removes(BOB)
    assert confirmed_outcome(said, happened=standing(place, BOB) == ([], "")) == expected_result


@pytest.mark.parametrize("by", BY)
@pytest.mark.parametrize("role", [TU, BU])
def test_nobody_widens_their_own_scope(acme: AcmeSite, role: str, by: type[People]) -> None:
    place = set_up_project(acme, Seat(role), NO_OVERLAP, "orders")
    said = by(place).appoints("ann", role, "entire_project")
    assert (said, standing(place, "ann")) == (REFUSED, ([role], "selected_contexts"))


@pytest.mark.parametrize("by", BY)
def test_what_a_member_owns_is_handed_over_when_they_leave(acme: AcmeSite, by: type[People]) -> None:
    """access-models.md, marts: removing a member asks what happens to what they own; nothing is deleted."""
    place = set_up_project(acme, Seat(TU, {"orders": "technical_owner"}), ENTIRE, "orders")
    place.give("sales", BU, BOB)
    olga = by(place, OLGA)
    assert olga.removes("ann", receiver=BOB) == DONE
    assert standing(place, "ann") == ([], "")
    owners = {uid.uid for name in ("orders", "post") for held in place.load(name).owners.values() for uid in held}
    assert owners == {BOB, OLGA}
    assert by(place).opens("orders") == by(place).opens("post") == HIDDEN


@pytest.mark.parametrize("by", BY)
def test_what_nobody_gets_is_still_there_and_waits(acme: AcmeSite, by: type[People]) -> None:
    """access-models.md, marts: hand over, or leave ownerless; here it is theirs again should they come back."""
    place = set_up_project(acme, Seat(BU), ENTIRE, "orders")
    olga, ann = by(place, OLGA), by(place)
    assert (olga.removes("ann"), ann.opens("post")) == (DONE, HIDDEN)
    with acme.read() as ctx:
        assert Grant("ann", "owner", place["post"]) in ctx.grants(place["post"])
    place.give("sales", BU)
    assert by(place).opens("post") == DONE


# Technical User, data access: edit, delete and manage owners of any Report, and its triggers, regardless of ownership.
# access-models.md, settled: with the project setting, without a context gate; off without it.


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("on", [False, True], ids=["off", "on"])
def test_technical_users_and_any_report(acme: AcmeSite, on: bool, scope: str, way: type[Way]) -> None:
    place = set_up_project(acme, Seat(TU), scope, "weekly")
    place.set("sales", **{SETTING: on})
    may = every_action("report") if on else set()
    assert actions.triggers(way(place), "weekly") == expected_outcomes(
        ["see", "manage"], ["see", "manage"] if on else []
    )
    assert actions.report(way(place)) == expected_outcomes(every_action("report"), may)


@pytest.mark.parametrize("way", WAYS)
def test_the_setting_is_for_technical_users_and_for_reports(acme: AcmeSite, way: type[Way]) -> None:
    place = set_up_project(acme, Seat(BU), ENTIRE, "weekly")
    place.set("sales", **{SETTING: True})
    assert set(actions.report(way(place)).values()) == {HIDDEN}
    place = set_up_project(acme, Seat(TU), ENTIRE, "orders")
    place.set("sales", **{SETTING: True})
    assert set(actions.data_mart(way(place)).values()) == {HIDDEN}


@pytest.mark.parametrize("by", BY)
@pytest.mark.parametrize(("role", "yes"), [(ADMIN, True), (TU, False), (BU, False)])
def test_who_switches_the_setting(acme: AcmeSite, role: str, yes: bool, by: type[People]) -> None:
    place = set_up_project(acme, Seat(role), ENTIRE, "orders")
    said = by(place).switches(SETTING, on=True)
    happened = place.load("sales").attributes[SETTING] == "true"
    assert confirmed_outcome(said, happened=happened) == (DONE if yes else REFUSED)
