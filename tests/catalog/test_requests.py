"""Asking for access: what explain proposes is asked for, those who can give it are told, and nothing leaks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import SecretStr

from lakehold import workspaces
from lakehold.access import Add, Attribute, Grant, Remove, TokenPrincipal
from lakehold.catalog import approvals, requests
from lakehold.catalog.request_table import APPROVED, EXPIRED, PENDING, REFUSED, WITHDRAWN
from lakehold.catalog.requests import RequestView
from lakehold.catalog.resource_edit import ResourceEdit, apply_edit
from lakehold.directory import accounts
from lakehold.directory.caller import Caller
from lakehold.directory.errors import DeniedError
from lakehold.kit.clock import DAY
from lakehold.kit.errors import ConflictError, ForbiddenError, InvalidInputError, NotFoundError
from lakehold.kit.settings import Settings
from lakehold.ledger import outbox
from tests.demo_company import TENANT, DemoPlatform, as_member


def asked(corner: DemoPlatform, who: str, action: str, uid: str, reason: str = "For the board.") -> RequestView:
    with corner.write(as_member(who)) as ctx:
        return requests.create(ctx, action, uid, reason=reason)


def waiting(corner: DemoPlatform, who: str) -> list[str]:
    with corner.read(as_member(who)) as ctx:
        return [detail.request.uid for detail in approvals.list_answerable(ctx)]


def test_the_nearest_way_is_asked_for_and_given(corner: DemoPlatform) -> None:
    detail = asked(corner, "ana", "edit", "orders")
    assert detail.facts == (Grant("ana", "editor", "orders"),)
    assert (detail.request.state, detail.may_answer) == (PENDING, False)
    for who in ("mona", "olga", "adam"):
        assert waiting(corner, who) == [detail.request.uid]
    for who in ("erik", "ana", "bella"):
        assert waiting(corner, who) == []
    with corner.write(as_member("mona")) as ctx:
        done = approvals.approve(ctx, detail.request.uid, answer="Until the fair.")
        assert (done.request.state, done.request.decided_by) == (APPROVED, "mona")
    with corner.read(as_member("ana")) as ctx:
        assert ctx.session.check("ana", "edit", "orders")
        (mine,) = requests.list_own(ctx)
        assert (mine.request.state, mine.request.answer) == (APPROVED, "Until the fair.")
    assert waiting(corner, "mona") == []
    deeds = [(line.entry.member, line.entry.action) for line in corner.log()]
    assert deeds == [("mona", "approve request"), ("mona", "grant"), ("ana", "request access")]


def test_what_was_given_for_a_time_ends_by_itself(corner: DemoPlatform) -> None:
    detail = asked(corner, "ana", "edit", "orders")
    with corner.write(as_member("mona")) as ctx:
        done = approvals.approve(ctx, detail.request.uid, until=ctx.at + 2 * DAY)
        assert done.request.until == ctx.at + 2 * DAY
    corner.hand.advance_days(1)
    with corner.read(as_member("ana")) as ctx:
        assert ctx.session.check("ana", "edit", "orders")
    corner.hand.advance_days(1)
    with corner.read(as_member("ana")) as ctx:
        assert not ctx.session.check("ana", "edit", "orders")


def test_another_way_that_explain_proposes(corner: DemoPlatform) -> None:
    with corner.write(as_member("bella")) as ctx:
        ways = [[needed.fact for needed in way.needed] for way in ctx.session.explain("bella", "edit", "returns").ways]
        assert len(ways) > 1
        detail = requests.create(ctx, "edit", "returns", facts=ways[-1])
        assert set(detail.facts) == set(ways[-1])
        with pytest.raises(InvalidInputError, match="not one of the ways"):
            requests.create(ctx, "edit", "returns", facts=[Grant("bella", "business_owner", "returns")])


def test_several_givers_give_a_part_each(corner: DemoPlatform) -> None:
    """Tara shares her mart; the role in the project is not hers to give."""
    share, role = Attribute("returns", "shared_for_maintenance", "true"), Grant("boris", "technical_user", "sales")
    with corner.write(as_member("boris")) as ctx:
        detail = requests.create(ctx, "edit", "returns", facts=[share, role])
    with corner.write(as_member("tara")) as ctx:
        part = approvals.approve(ctx, detail.request.uid)
        assert (part.request.state, part.facts, part.may_answer) == (PENDING, (role,), False)
    assert waiting(corner, "tara") == []
    with pytest.raises(ConflictError, match="cannot grant the rest"), corner.write(as_member("tara")) as ctx:
        approvals.approve(ctx, detail.request.uid)
    with corner.write(as_member("adam")) as ctx:
        assert approvals.approve(ctx, detail.request.uid).request.state == APPROVED
    with corner.write(as_member("boris")) as ctx:
        assert apply_edit(ctx, "returns", ResourceEdit(description="Mine now."), expect_version=2) == 3


def test_a_refusal_has_a_reason(corner: DemoPlatform) -> None:
    detail = asked(corner, "ana", "edit", "orders")
    with pytest.raises(InvalidInputError, match="needs a reason"), corner.write(as_member("mona")) as ctx:
        approvals.refuse(ctx, detail.request.uid, "  ")
    with corner.write(as_member("mona")) as ctx:
        approvals.refuse(ctx, detail.request.uid, "Ask Erik to do it.")
    with corner.read(as_member("ana")) as ctx:
        mine = requests.get(ctx, detail.request.uid)
        assert (mine.request.state, mine.request.answer) == (REFUSED, "Ask Erik to do it.")
        assert not ctx.session.check("ana", "edit", "orders")
    for answer in (approvals.approve, lambda ctx, uid: approvals.refuse(ctx, uid, "No.")):
        with pytest.raises(ConflictError, match="refused already"), corner.write(as_member("mona")) as ctx:
            answer(ctx, detail.request.uid)


def test_who_asked_withdraws(corner: DemoPlatform) -> None:
    detail = asked(corner, "ana", "edit", "orders")
    with pytest.raises(NotFoundError), corner.write(as_member("mona")) as ctx:
        requests.withdraw(ctx, detail.request.uid)
    with corner.write(as_member("ana")) as ctx:
        assert requests.withdraw(ctx, detail.request.uid).request.state == WITHDRAWN
    assert waiting(corner, "mona") == []
    with pytest.raises(ConflictError, match="withdrawn already"), corner.write(as_member("ana")) as ctx:
        requests.withdraw(ctx, detail.request.uid)


def test_nobody_answers_what_is_not_theirs_to_give(corner: DemoPlatform) -> None:
    detail = asked(corner, "ana", "edit", "orders")
    for who in ("erik", "bella", "nils"):
        with pytest.raises(NotFoundError), corner.write(as_member(who)) as ctx:
            approvals.approve(ctx, detail.request.uid)
        with pytest.raises(NotFoundError), corner.write(as_member(who)) as ctx:
            approvals.refuse(ctx, detail.request.uid, "No.")
        with pytest.raises(NotFoundError), corner.read(as_member(who)) as ctx:
            requests.get(ctx, detail.request.uid)
    with pytest.raises(ConflictError, match="your own request"), corner.write(as_member("ana")) as ctx:
        approvals.approve(ctx, detail.request.uid)


def test_asked_twice_is_one_request(corner: DemoPlatform) -> None:
    first = asked(corner, "ana", "edit", "orders", "Please.")
    corner.hand.advance_days(20)
    second = asked(corner, "ana", "edit", "orders", "Pretty please.")
    assert first.request.uid == second.request.uid
    corner.hand.advance_days(20)
    with corner.read(as_member("ana")) as ctx:
        (mine,) = requests.list_own(ctx)
        assert (mine.request.reason, mine.request.state) == ("Pretty please.", PENDING)
    other = asked(corner, "ana", "delete", "orders")
    assert other.request.uid != first.request.uid


def test_what_nobody_answers_expires(corner: DemoPlatform) -> None:
    detail = asked(corner, "ana", "edit", "orders")
    corner.hand.advance_days(31)
    with corner.read(as_member("ana")) as ctx:
        assert requests.get(ctx, detail.request.uid).request.state == EXPIRED
    assert waiting(corner, "mona") == []
    with pytest.raises(ConflictError, match="expired already"), corner.write(as_member("mona")) as ctx:
        approvals.approve(ctx, detail.request.uid)
    with corner.write(Caller(TENANT, "")) as ctx:
        assert approvals.expire_requests(ctx) == 1
        assert approvals.expire_requests(ctx) == 0
    with corner.write(as_member("ana")) as ctx:
        again = requests.create(ctx, "edit", "orders")
        assert again.request.uid != detail.request.uid
    assert [line.entry.action for line in corner.log()] == ["request access", "request expired", "request access"]


# Nothing leaks


def shape(detail: RequestView) -> object:
    return replace(detail, request=replace(detail.request, n=0, uid="", resource="", asked_at=0, expires_at=0))


@pytest.mark.parametrize("action", ["see", "read", "no_such_action"])
def test_what_may_not_be_seen_is_asked_for_like_what_is_not_there(corner: DemoPlatform, action: str) -> None:
    hidden, missing = asked(corner, "bella", action, "salaries"), asked(corner, "bella", action, "nothing")
    assert shape(hidden) == shape(missing)
    with corner.read(as_member("bella")) as ctx:
        ours = requests.list_own(ctx)
        assert [shape(one) for one in ours] == [shape(hidden)] * 2
        assert [one.resource for one in ours] == [None, None]
    lasts = hidden.request.expires_at - hidden.request.asked_at
    assert lasts == missing.request.expires_at - missing.request.asked_at
    # … and still those who can give it are told, of the one that there is.
    with corner.read(as_member("adam")) as ctx:
        (detail,) = approvals.list_answerable(ctx)
        assert detail.resource is not None
        assert (detail.resource.uid, len(detail.facts)) == ("salaries", 1)
    with corner.write(as_member("adam")) as ctx:
        approvals.approve(ctx, detail.request.uid)
        assert ctx.session.check("bella", "see", "salaries")


def test_asking_again_for_what_is_not_there_is_the_same_too(corner: DemoPlatform) -> None:
    for uid in ("salaries", "nothing"):
        first, second = asked(corner, "bella", "see", uid), asked(corner, "bella", "see", uid)
        assert first.request.uid == second.request.uid
        with pytest.raises(NotFoundError) as raised, corner.write(as_member("bella")) as ctx:
            requests.create(ctx, "see", uid, facts=[Grant("bella", "viewer", uid)])
        assert raised.value.message == f"There is no resource '{uid}'."
        with corner.write(as_member("bella")) as ctx:
            assert requests.withdraw(ctx, first.request.uid).request.state == WITHDRAWN


def test_a_way_that_names_what_is_out_of_sight_is_asked_for_and_not_shown(corner: DemoPlatform) -> None:
    """Otto may not run it because of a space that he does not see."""
    detail = asked(corner, "otto", "run", "copy_erp")
    assert (detail.facts, detail.request.facts) == ((), ())
    with corner.read(as_member("dana")) as ctx:
        (seen,) = approvals.list_answerable(ctx)
        assert seen.facts == (Grant("erik", "can_consume_data", "sources"),)


def test_a_narrowed_token_makes_no_requests_and_learns_nothing(corner: DemoPlatform) -> None:
    narrowed = Caller(TENANT, "ana", narrowed=TokenPrincipal("ana", resources=frozenset({"shaped"})), token_id="t")
    refusals = []
    for uid in ("orders", "nothing"):
        with pytest.raises(DeniedError, match="narrowed token") as refused, corner.write(narrowed) as ctx:
            requests.create(ctx, "read", uid)
        refusals.append(str(refused.value))
    assert refusals[0] == refusals[1]


def test_of_another_tenant_nothing_is_known(corner: DemoPlatform) -> None:
    detail = asked(corner, "ana", "edit", "orders")
    corner.access.create_tenant("other", "Other", workspaces.models())
    with corner.access.write("other") as session:
        session.store.create("tenant.member", "Ann", uid="ann", edges={"tenant": "other"})
        session.store.add(Grant("ann", "owner", "other"))
    with corner.read(Caller("other", "ann")) as ctx:
        assert approvals.list_answerable(ctx) == []
        with pytest.raises(NotFoundError):
            requests.get(ctx, detail.request.uid)


# What cannot be


def test_what_is_allowed_already_is_not_asked_for(corner: DemoPlatform) -> None:
    with pytest.raises(ConflictError, match="already"), corner.write(as_member("erik")) as ctx:
        requests.create(ctx, "edit", "orders")


def test_what_cannot_be_given_any_more(corner: DemoPlatform) -> None:
    detail = asked(corner, "ana", "delete", "orders")
    with corner.write(as_member("olga")) as ctx:
        for uid in ("make_orders", "day_totals", "store_totals"):
            ctx.delete(uid)
        ctx.delete("orders")
    assert waiting(corner, "mona") == []
    with corner.read(as_member("ana")) as ctx:
        mine = requests.get(ctx, detail.request.uid)
        assert (mine.resource, mine.facts) == (None, ())


def test_what_was_given_meanwhile_is_approved_as_it_is(corner: DemoPlatform) -> None:
    detail = asked(corner, "ana", "edit", "orders")
    with corner.write(as_member("mona")) as ctx:
        ctx.make(Add(Grant("ana", "editor", "orders")))
        assert approvals.approve(ctx, detail.request.uid).request.state == APPROVED
        ctx.make(Remove(Grant("ana", "editor", "orders")))


def test_there_is_an_end_to_asking(corner: DemoPlatform, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "MOST_PENDING", 2)
    asked(corner, "ana", "edit", "orders")
    asked(corner, "ana", "edit", "nothing")
    with pytest.raises(ConflictError, match="pending requests"), corner.write(as_member("ana")) as ctx:
        requests.create(ctx, "edit", "items")


def test_who_views_as_somebody_asks_for_nothing(corner: DemoPlatform) -> None:
    with pytest.raises(ForbiddenError), corner.write(replace(as_member("ana"), impersonator="adam")) as ctx:
        requests.create(ctx, "edit", "orders")


@pytest.mark.parametrize(
    ("action", "uid", "reason", "message"),
    [
        ("", "orders", "", "must not be empty"),
        ("edit", "", "", "must not be empty"),
        ("edit", "orders", "x" * 2_001, "2,001 characters"),
        ("edit", "orders", "a\x00b", "control character"),
        ("edti", "orders", "", "Did you mean 'edit'"),
    ],
)
def test_bad_input(corner: DemoPlatform, action: str, uid: str, reason: str, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message), corner.write(as_member("ana")) as ctx:
        requests.create(ctx, action, uid, reason=reason)


def test_lists_are_paged(corner: DemoPlatform) -> None:
    made = [asked(corner, "ana", "edit", uid).request.uid for uid in ("orders", "items", "stores")]
    for who, some in (("ana", requests.list_own), ("mona", approvals.list_answerable)):
        with corner.read(as_member(who)) as ctx:
            first = some(ctx, limit=2)
            rest = some(ctx, limit=2, before=first[-1].request.n)
            assert [one.request.uid for one in (*first, *rest)] == made[::-1]


def test_those_who_can_give_it_get_a_mail(corner: DemoPlatform, tmp_path: Path) -> None:
    settings = Settings(data=tmp_path, smtp=SecretStr("smtp://127.0.0.1:25"))
    with corner.write(as_member("olga")) as ctx:
        for who in ("mona", "adam", "ana", "erik"):
            accounts.add(ctx, who, email=f"{who}@example.org")
    with corner.write(as_member("ana")) as ctx:
        detail = requests.create(ctx, "edit", "orders", reason="For the board.", settings=settings)
    with corner.read(as_member("olga")) as ctx:
        mails = outbox.due_messages(ctx.session.transaction, ctx.at)
        assert {mail.receiver for mail in mails} == {"mona@example.org", "adam@example.org"}
        body = ctx.keys.decrypt(mails[0].body)
        assert "For the board." in body
        assert f"/requests/{detail.request.uid}" in body
        assert "For the board." not in mails[0].body
    with corner.write(as_member("mona")) as ctx:
        approvals.approve(ctx, detail.request.uid, settings=settings)
    with corner.read(as_member("olga")) as ctx:
        assert [mail.receiver for mail in outbox.due_messages(ctx.session.transaction, ctx.at)][2:] == [
            "ana@example.org"
        ]


def test_ones_own_are_found_by_their_state(corner: DemoPlatform) -> None:
    late, gone = asked(corner, "ana", "edit", "orders"), asked(corner, "ana", "edit", "items")
    with corner.write(as_member("ana")) as ctx:
        requests.withdraw(ctx, gone.request.uid)
    corner.hand.advance_days(31)
    new = asked(corner, "ana", "edit", "stores")
    with corner.read(as_member("ana")) as ctx:
        states = (PENDING, EXPIRED, WITHDRAWN)
        found = {state: [one.request.uid for one in requests.list_own(ctx, state=state)] for state in states}
    assert found == {PENDING: [new.request.uid], EXPIRED: [late.request.uid], WITHDRAWN: [gone.request.uid]}
