"""Access reviews: who holds what in a workspace, decided row by row."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import sqlalchemy as sa
from pydantic import SecretStr

from lakehold.access import Grant, Remove
from lakehold.catalog import campaign_decisions, campaign_table, campaigns, grants, impersonation, kinds, usage
from lakehold.catalog.campaign_table import CampaignProgress, CampaignRow
from lakehold.catalog.campaigns import CampaignView
from lakehold.catalog.usage import UsageRecorder
from lakehold.directory import accounts
from lakehold.directory.caller import Caller
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import DAY
from lakehold.kit.errors import ConflictError, ForbiddenError, InvalidInputError, NotFoundError
from lakehold.kit.settings import Settings
from lakehold.ledger.audit import DENIED, AuditFilter
from lakehold.ledger.outbox import outbox_table
from tests.demo_company import TENANT, DemoPlatform, as_member

LAKE = "lake_house"


def begun(corner: DemoPlatform, who: str = "adam", workspace: str = LAKE, asks: str = campaigns.EVERYTHING) -> str:
    with corner.write(as_member(who)) as ctx:
        return campaigns.start(ctx, workspace, "Spring", asks=asks).campaign.uid


def load_campaign(corner: DemoPlatform, who: str, uid: str) -> CampaignView:
    with corner.read(as_member(who)) as ctx:
        return campaigns.get(ctx, uid)


def rows(corner: DemoPlatform, who: str, uid: str) -> list[CampaignRow]:
    with corner.read(as_member(who)) as ctx:
        return campaign_decisions.list_rows(ctx, uid)


def row(corner: DemoPlatform, uid: str, grant: Grant, who: str = "adam") -> CampaignRow:
    (found,) = [one for one in rows(corner, who, uid) if one.grant == grant]
    return found


def decided(
    corner: DemoPlatform,
    do: Callable[[RequestContext, str, list[int]], campaign_decisions.DecisionResult],
    uid: str,
    *numbers: int,
    who: str = "adam",
) -> campaign_decisions.DecisionResult:
    with corner.write(as_member(who)) as ctx:
        return do(ctx, uid, list(numbers))


def holds(corner: DemoPlatform, grant: Grant) -> bool:
    with corner.read(as_member("adam")) as ctx:
        return grant in ctx.grants(grant.resource)


def test_it_asks_about_every_role_on_the_workspace_and_on_things_in_it(corner: DemoPlatform) -> None:
    uid = begun(corner)
    asked = {one.grant for one in rows(corner, "adam", uid)}
    assert {
        Grant("engineers", "member", LAKE),
        Grant("ana", "editor", "customer_value"),
        Grant("carla", "viewer", "salaries"),
        Grant("corner/all", "viewer", "weather"),
    } <= asked
    with corner.read(as_member("adam")) as ctx:
        assert not [one for one in asked if kinds.workspace_of(ctx.view, one.resource) != LAKE]
    found = load_campaign(corner, "adam", uid)
    assert found.progress == CampaignProgress(undecided=len(asked))
    assert (found.workspace.uid, found.campaign.name) == (LAKE, "Spring")


def test_it_may_ask_about_the_workspace_alone(corner: DemoPlatform) -> None:
    uid = begun(corner, asks=campaigns.WORKSPACE)
    assert {one.resource.uid for one in rows(corner, "adam", uid)} == {LAKE}


def test_what_stays_is_written_down_and_stays(corner: DemoPlatform) -> None:
    uid, grant = begun(corner), Grant("ana", "viewer", "clean")
    number = row(corner, uid, grant).n
    assert decided(corner, campaign_decisions.keep, uid, number).done == [number]
    kept = row(corner, uid, grant)
    assert (kept.state, kept.decided_by and kept.decided_by.uid) == (campaign_table.KEPT, "adam")
    assert holds(corner, grant)
    assert load_campaign(corner, "adam", uid).progress.done == 1


def test_what_is_removed_is_revoked_at_once_and_can_be_given_back(corner: DemoPlatform) -> None:
    uid, grant = begun(corner), Grant("ana", "viewer", "clean")
    number = row(corner, uid, grant).n
    decided(corner, campaign_decisions.remove, uid, number)
    assert not holds(corner, grant)
    assert row(corner, uid, grant).state == campaign_table.REMOVED
    assert decided(corner, campaign_decisions.keep, uid, number).refused
    decided(corner, campaign_decisions.reopen, uid, number)
    assert holds(corner, grant)
    assert row(corner, uid, grant).state == campaign_table.UNDECIDED
    deeds = [line.entry.action for line in corner.log(AuditFilter(resource="clean"))]
    assert deeds == ["reopen decision", "grant", "remove role", "revoke"]


def test_what_was_given_for_a_time_is_given_back_for_that_time(corner: DemoPlatform) -> None:
    grant = Grant("nils", "viewer", "orders")
    with corner.write(as_member("mona")) as ctx:
        until = ctx.at + 30 * DAY
        grants.give(ctx, grant, until=until)
    uid = begun(corner)
    number = row(corner, uid, grant).n
    decided(corner, campaign_decisions.remove, uid, number)
    decided(corner, campaign_decisions.reopen, uid, number)
    with corner.read(as_member("adam")) as ctx:
        (held,) = [one for one in grants.list_direct(ctx, "orders") if one.subject.uid == "nils"]
        assert held.until == until
    decided(corner, campaign_decisions.remove, uid, number)
    corner.hand.advance_days(31)
    decided(corner, campaign_decisions.reopen, uid, number)
    assert not holds(corner, grant)


def test_what_has_not_begun_is_asked_about_too(corner: DemoPlatform) -> None:
    grant = Grant("nils", "viewer", "orders")
    with corner.write(as_member("mona")) as ctx:
        grants.give(ctx, grant, since=ctx.at + DAY)
    uid = begun(corner)
    number = row(corner, uid, grant).n
    decided(corner, campaign_decisions.remove, uid, number)
    decided(corner, campaign_decisions.reopen, uid, number)
    assert not holds(corner, grant)
    corner.hand.advance_days(2)
    assert holds(corner, grant)


def test_a_role_of_which_there_is_one_is_not_taken_from_its_new_holder(corner: DemoPlatform) -> None:
    with corner.read(as_member("adam")) as ctx:
        single = [
            (kind.schema.id, role.name)
            for kind in ctx.view.policy.kinds.values()
            for role in kind.schema.roles.values()
            if role.single and kind.schema.model != "tenant"
        ]
        held = [
            grant
            for kind, role in single
            for uid in ctx.view.by_kind.get(kind) or ()
            for grant in ctx.view.grants_on(uid)
            if grant.role == role
        ]
        grant = held[0]
        workspace = kinds.workspace_of(ctx.view, grant.resource)
    assert workspace
    uid = begun(corner, "olga", workspace)
    number = row(corner, uid, grant, "olga").n
    with corner.write(as_member("olga")) as ctx:
        ctx.session.store.remove(grant)
        ctx.session.store.add(Grant("nils", grant.role, grant.resource))
    assert row(corner, uid, grant, "olga").state == campaign_table.ENDED
    assert decided(corner, campaign_decisions.remove, uid, number, who="olga").refused
    assert holds(corner, Grant("nils", grant.role, grant.resource))


def test_what_ended_elsewhere_needs_no_decision(corner: DemoPlatform) -> None:
    uid, grant = begun(corner), Grant("ana", "viewer", "clean")
    with corner.write(as_member("mona")) as ctx:
        grants.revoke(ctx, grant)
    assert row(corner, uid, grant).state == campaign_table.ENDED
    assert load_campaign(corner, "adam", uid).progress.ended == 1


def test_what_may_not_be_taken_away_stays_and_the_rest_goes(corner: DemoPlatform) -> None:
    uid = begun(corner, "petra", "landing")
    theirs = row(corner, uid, Grant("erik", "owner", "copy_crm"), "petra")
    with corner.read(as_member("petra")) as ctx:
        others = [one for one in campaign_decisions.list_rows(ctx, uid) if one.resource.uid == "landing"]
        mine = next(one for one in others if one.subject.uid != "petra")
        assert ctx.session.check_change("petra", Remove(mine.grant))
    outcome = decided(corner, campaign_decisions.remove, uid, theirs.n, mine.n, who="petra")
    assert outcome.done == [mine.n]
    ((refused, error),) = outcome.refused
    assert refused == theirs.n
    assert isinstance(error, DeniedError)
    assert holds(corner, theirs.grant)
    assert not holds(corner, mine.grant)
    (line,) = corner.log(AuditFilter(member="petra", outcome=DENIED))
    assert (line.entry.action, line.entry.resource) == ("revoke", "copy_crm")


def test_who_gives_no_roles_there_knows_nothing_of_it(corner: DemoPlatform) -> None:
    uid = begun(corner)
    for who in ("nils", "ana", "bella", "erik"):
        with pytest.raises(NotFoundError), corner.read(as_member(who)) as ctx:
            campaigns.get(ctx, uid)
        with pytest.raises(NotFoundError), corner.read(as_member(who)) as ctx:
            campaign_decisions.list_rows(ctx, uid)
        with corner.read(as_member(who)) as ctx:
            assert campaigns.page(ctx).items == []
    with pytest.raises(HiddenError), corner.write(as_member("nils")) as ctx:
        campaigns.start(ctx, LAKE, "Mine")
    with pytest.raises(DeniedError), corner.write(as_member("ana")) as ctx:
        campaigns.start(ctx, LAKE, "Mine")


def test_each_sees_and_counts_what_they_may_know_of(corner: DemoPlatform) -> None:
    """An app is seen by its owner, by those it is shared with, and by admins: not by managers of its space."""
    uid = begun(corner, "adam", "serving")
    hidden = {"sales_cockpit"}
    seen = {who: {one.resource.uid for one in rows(corner, who, uid)} for who in ("adam", "mona")}
    assert hidden <= seen["adam"]
    assert seen["mona"] == seen["adam"] - hidden
    apps = sum(one.resource.uid in hidden for one in rows(corner, "adam", uid))
    totals = {who: load_campaign(corner, who, uid).progress.total for who in ("adam", "mona")}
    assert totals["mona"] == totals["adam"] - apps
    number = row(corner, uid, Grant("bella", "owner", "sales_cockpit"), "adam").n
    with pytest.raises(NotFoundError):
        decided(corner, campaign_decisions.remove, uid, number, who="mona")


def test_a_row_of_another_campaign_is_none_of_this_one(corner: DemoPlatform) -> None:
    uid = begun(corner)
    with pytest.raises(NotFoundError):
        decided(corner, campaign_decisions.keep, uid, 100_000)


def test_a_closed_one_stays_as_it_is(corner: DemoPlatform) -> None:
    uid = begun(corner)
    number = rows(corner, "adam", uid)[0].n
    with corner.write(as_member("adam")) as ctx:
        closed = campaigns.close(ctx, uid)
    assert (closed.campaign.closed_by, closed.campaign.closed_at is not None) == ("adam", True)
    for do in (campaign_decisions.keep, campaign_decisions.remove, campaign_decisions.reopen):
        with pytest.raises(ConflictError, match="closed"):
            decided(corner, do, uid, number)
    with pytest.raises(ConflictError, match="closed"), corner.write(as_member("adam")) as ctx:
        campaigns.close(ctx, uid)
    (line, *_) = corner.log(AuditFilter(action="close campaign"))
    assert line.entry.after["undecided"] == closed.progress.undecided


def test_one_that_is_due_closes_by_itself_and_its_starter_is_told(corner: DemoPlatform) -> None:
    mail_site = Settings(data=corner.settings.data, smtp=SecretStr("smtp://127.0.0.1:1"))
    with corner.write(as_member("adam")) as ctx:
        accounts.add(ctx, "adam", email="adam@example.org")
        due, later = (campaigns.start(ctx, LAKE, "Due", due=ctx.at + days * DAY).campaign.uid for days in (7, 30))
        never = campaigns.start(ctx, LAKE, "Some day").campaign.uid
    number = rows(corner, "adam", due)[0].n
    decided(corner, campaign_decisions.keep, due, number)
    with corner.write(Caller(TENANT, "")) as ctx:
        assert campaigns.close_due(ctx, mail_site) == 0
    corner.hand.advance_days(8)
    # Its day is over, whether or not the worker has come by.
    with pytest.raises(ConflictError, match="closed"):
        decided(corner, campaign_decisions.keep, due, number)
    with corner.read(as_member("adam")) as ctx:
        assert [one.campaign.uid for one in campaigns.page(ctx, closed=True).items] == [due]
        assert {one.campaign.uid for one in campaigns.page(ctx, closed=False).items} == {later, never}
    with corner.write(Caller(TENANT, "")) as ctx:
        assert campaigns.close_due(ctx, mail_site) == 1
        assert campaigns.close_due(ctx, mail_site) == 0
    ended = load_campaign(corner, "adam", due).campaign
    assert (ended.closed_at is not None, ended.closed_by) == (True, "")
    assert load_campaign(corner, "adam", later).campaign.closed_at is None
    (line, *_) = corner.log(AuditFilter(action="close campaign"))
    assert (line.entry.member, line.entry.resource, line.entry.after["kept"]) == ("", LAKE, 1)
    assert line.entry.after["undecided"] == len(rows(corner, "adam", due)) - 1
    with corner.database.read() as transaction:
        mails = transaction.connection.execute(sa.select(outbox_table.c.subject)).scalars().all()
    assert mails == ["Access review closed"]


def test_they_are_listed_newest_first_and_in_parts(corner: DemoPlatform) -> None:
    made = [begun(corner) for _ in range(5)]
    with corner.write(as_member("adam")) as ctx:
        campaigns.close(ctx, made[0])
    with corner.read(as_member("adam")) as ctx:
        first = campaigns.page(ctx, limit=2)
        assert [one.campaign.uid for one in first.items] == [made[4], made[3]]
        second = campaigns.page(ctx, before=first.before, limit=2)
        assert [one.campaign.uid for one in second.items] == [made[2], made[1]]
        last = campaigns.page(ctx, before=second.before, limit=2)
        assert ([one.campaign.uid for one in last.items], last.before) == ([made[0]], None)
        assert [one.campaign.uid for one in campaigns.page(ctx, closed=True).items] == [made[0]]
        assert len(campaigns.page(ctx, closed=False).items) == 4


def test_a_page_goes_past_those_of_others(corner: DemoPlatform) -> None:
    """Who takes part in one of many finds it, however far down it is."""
    uid = begun(corner, "petra", "landing")
    others = [begun(corner, "olga", LAKE) for _ in range(5)]
    with corner.read(as_member("petra")) as ctx:
        assert [one.campaign.uid for one in campaigns.page(ctx, limit=2).items] == [uid]
    assert uid not in others


def test_what_it_asks_is_checked(corner: DemoPlatform) -> None:
    for asks, name, due in (("nothing", "Spring", None), ("everything", " ", None), ("everything", "Spring", 1)):
        with pytest.raises(InvalidInputError), corner.write(as_member("adam")) as ctx:
            campaigns.start(ctx, LAKE, name, asks=asks, due=due)
    with pytest.raises(InvalidInputError, match="is not a workspace"), corner.write(as_member("adam")) as ctx:
        campaigns.start(ctx, "clean", "Spring")


def test_a_workspace_may_be_too_large_for_people(corner: DemoPlatform, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(campaigns, "MOST_ROWS", 3)
    with pytest.raises(ConflictError, match="one by one"):
        begun(corner)


def test_those_who_give_roles_take_part(corner: DemoPlatform) -> None:
    with corner.read(as_member("adam")) as ctx:
        named = {one.uid for one in campaigns.reviewers(ctx, LAKE)}
    assert "adam" in named
    assert "nils" not in named


def test_nothing_is_written_while_viewing_as_somebody(corner: DemoPlatform) -> None:
    uid = begun(corner)
    with corner.write(as_member("olga")) as ctx:
        viewer = impersonation.start(ctx, "adam")
    for do in (
        lambda ctx: campaigns.start(ctx, LAKE, "Mine"),
        lambda ctx: campaigns.close(ctx, uid),
        lambda ctx: campaign_decisions.keep(ctx, uid, [1]),
    ):
        with pytest.raises(ForbiddenError, match="only reads"), corner.write(viewer) as ctx:
            do(ctx)


def test_when_a_role_was_last_used(corner: DemoPlatform) -> None:
    notes = UsageRecorder()
    with corner.read(as_member("erik")) as ctx:
        notes.record(ctx, "edit", "orders")
        today = ctx.at // DAY * DAY
    notes.flush(corner.database)
    held = [("engineers", "clean"), ("engineers", "raw"), ("engineers", LAKE), ("ana", "clean"), ("corner/all", LAKE)]
    with corner.read(as_member("adam")) as ctx:
        found = usage.last_role_uses(ctx, [*held, ("gone", "clean"), ("erik", "gone")])
    assert found == {("engineers", "clean"): today, ("engineers", LAKE): today, ("corner/all", LAKE): today}
