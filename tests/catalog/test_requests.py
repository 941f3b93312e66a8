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
from lakehold.kit.clock import DAY
from lakehold.kit.errors import ConflictError, ForbiddenError, InvalidInputError, NotFoundError
from lakehold.kit.settings import Settings
from lakehold.ledger import outbox
from tests.corner import TENANT, Corner, by


def asked(corner: Corner, who: str, action: str, uid: str, reason: str = "For the board.") -> RequestView:
    with corner.write(by(who)) as ctx:
        return requests.create(ctx, action, uid, reason=reason)


def waiting(corner: Corner, who: str) -> list[str]:
    with corner.read(by(who)) as ctx:
        return [told.request.uid for told in approvals.list_answerable(ctx)]


def test_the_nearest_way_is_asked_for_and_given(corner: Corner) -> None:
    told = asked(corner, "ana", "edit", "orders")
    assert told.facts == (Grant("ana", "editor", "orders"),)
    assert (told.request.state, told.may_answer) == (PENDING, False)
    for who in ("mona", "olga", "adam"):
        assert waiting(corner, who) == [told.request.uid]
    for who in ("erik", "ana", "bella"):
        assert waiting(corner, who) == []
    with corner.write(by("mona")) as ctx:
        done = approvals.approve(ctx, told.request.uid, answer="Until the fair.")
        assert (done.request.state, done.request.decided_by) == (APPROVED, "mona")
    with corner.read(by("ana")) as ctx:
        assert ctx.session.check("ana", "edit", "orders")
        (mine,) = requests.list_own(ctx)
        assert (mine.request.state, mine.request.answer) == (APPROVED, "Until the fair.")
    assert waiting(corner, "mona") == []
    deeds = [(line.entry.member, line.entry.action) for line in corner.log()]
    assert deeds == [("mona", "approve request"), ("mona", "grant"), ("ana", "request access")]


def test_what_was_given_for_a_time_ends_by_itself(corner: Corner) -> None:
    told = asked(corner, "ana", "edit", "orders")
    with corner.write(by("mona")) as ctx:
        done = approvals.approve(ctx, told.request.uid, until=ctx.at + 2 * DAY)
        assert done.request.until == ctx.at + 2 * DAY
    corner.hand.pass_by(1)
    with corner.read(by("ana")) as ctx:
        assert ctx.session.check("ana", "edit", "orders")
    corner.hand.pass_by(1)
    with corner.read(by("ana")) as ctx:
        assert not ctx.session.check("ana", "edit", "orders")


def test_another_way_that_explain_proposes(corner: Corner) -> None:
    with corner.write(by("bella")) as ctx:
        ways = [[needed.fact for needed in way.needed] for way in ctx.session.explain("bella", "edit", "returns").ways]
        assert len(ways) > 1
        told = requests.create(ctx, "edit", "returns", facts=ways[-1])
        assert set(told.facts) == set(ways[-1])
        with pytest.raises(InvalidInputError, match="none of the ways"):
            requests.create(ctx, "edit", "returns", facts=[Grant("bella", "business_owner", "returns")])


def test_several_givers_give_a_part_each(corner: Corner) -> None:
    """Tara shares her mart; the role in the project is not hers to give."""
    share, role = Attribute("returns", "shared_for_maintenance", "true"), Grant("boris", "technical_user", "sales")
    with corner.write(by("boris")) as ctx:
        told = requests.create(ctx, "edit", "returns", facts=[share, role])
    with corner.write(by("tara")) as ctx:
        part = approvals.approve(ctx, told.request.uid)
        assert (part.request.state, part.facts, part.may_answer) == (PENDING, (role,), False)
    assert waiting(corner, "tara") == []
    with pytest.raises(ConflictError, match="not yours to give"), corner.write(by("tara")) as ctx:
        approvals.approve(ctx, told.request.uid)
    with corner.write(by("adam")) as ctx:
        assert approvals.approve(ctx, told.request.uid).request.state == APPROVED
    with corner.write(by("boris")) as ctx:
        assert apply_edit(ctx, "returns", ResourceEdit(description="Mine now."), expect_version=2) == 3


def test_a_refusal_has_a_reason(corner: Corner) -> None:
    told = asked(corner, "ana", "edit", "orders")
    with pytest.raises(InvalidInputError, match="needs a reason"), corner.write(by("mona")) as ctx:
        approvals.refuse(ctx, told.request.uid, "  ")
    with corner.write(by("mona")) as ctx:
        approvals.refuse(ctx, told.request.uid, "Ask Erik to do it.")
    with corner.read(by("ana")) as ctx:
        mine = requests.get(ctx, told.request.uid)
        assert (mine.request.state, mine.request.answer) == (REFUSED, "Ask Erik to do it.")
        assert not ctx.session.check("ana", "edit", "orders")
    for answer in (approvals.approve, lambda ctx, uid: approvals.refuse(ctx, uid, "No.")):
        with pytest.raises(ConflictError, match="refused already"), corner.write(by("mona")) as ctx:
            answer(ctx, told.request.uid)


def test_who_asked_withdraws(corner: Corner) -> None:
    told = asked(corner, "ana", "edit", "orders")
    with pytest.raises(NotFoundError), corner.write(by("mona")) as ctx:
        requests.withdraw(ctx, told.request.uid)
    with corner.write(by("ana")) as ctx:
        assert requests.withdraw(ctx, told.request.uid).request.state == WITHDRAWN
    assert waiting(corner, "mona") == []
    with pytest.raises(ConflictError, match="withdrawn already"), corner.write(by("ana")) as ctx:
        requests.withdraw(ctx, told.request.uid)


def test_nobody_answers_what_is_not_theirs_to_give(corner: Corner) -> None:
    told = asked(corner, "ana", "edit", "orders")
    for who in ("erik", "bella", "nils"):
        with pytest.raises(NotFoundError), corner.write(by(who)) as ctx:
            approvals.approve(ctx, told.request.uid)
        with pytest.raises(NotFoundError), corner.write(by(who)) as ctx:
            approvals.refuse(ctx, told.request.uid, "No.")
        with pytest.raises(NotFoundError), corner.read(by(who)) as ctx:
            requests.get(ctx, told.request.uid)
    with pytest.raises(ConflictError, match="your own request"), corner.write(by("ana")) as ctx:
        approvals.approve(ctx, told.request.uid)


def test_asked_twice_is_one_request(corner: Corner) -> None:
    first = asked(corner, "ana", "edit", "orders", "Please.")
    corner.hand.pass_by(20)
    second = asked(corner, "ana", "edit", "orders", "Pretty please.")
    assert first.request.uid == second.request.uid
    corner.hand.pass_by(20)
    with corner.read(by("ana")) as ctx:
        (mine,) = requests.list_own(ctx)
        assert (mine.request.reason, mine.request.state) == ("Pretty please.", PENDING)
    other = asked(corner, "ana", "delete", "orders")
    assert other.request.uid != first.request.uid


def test_what_nobody_answers_expires(corner: Corner) -> None:
    told = asked(corner, "ana", "edit", "orders")
    corner.hand.pass_by(31)
    with corner.read(by("ana")) as ctx:
        assert requests.get(ctx, told.request.uid).request.state == EXPIRED
    assert waiting(corner, "mona") == []
    with pytest.raises(ConflictError, match="expired already"), corner.write(by("mona")) as ctx:
        approvals.approve(ctx, told.request.uid)
    with corner.write(Caller(TENANT, "")) as ctx:
        assert approvals.expire_requests(ctx) == 1
        assert approvals.expire_requests(ctx) == 0
    with corner.write(by("ana")) as ctx:
        again = requests.create(ctx, "edit", "orders")
        assert again.request.uid != told.request.uid
    assert [line.entry.action for line in corner.log()] == ["request access", "request expired", "request access"]


# Nothing leaks


def shape(told: RequestView) -> object:
    return replace(told, request=replace(told.request, n=0, uid="", resource="", asked_at=0, expires_at=0))


@pytest.mark.parametrize("action", ["see", "read", "no_such_action"])
def test_what_may_not_be_seen_is_asked_for_like_what_is_not_there(corner: Corner, action: str) -> None:
    hidden, missing = asked(corner, "bella", action, "salaries"), asked(corner, "bella", action, "nothing")
    assert shape(hidden) == shape(missing)
    with corner.read(by("bella")) as ctx:
        ours = requests.list_own(ctx)
        assert [shape(one) for one in ours] == [shape(hidden)] * 2
        assert [one.resource for one in ours] == [None, None]
    lasts = hidden.request.expires_at - hidden.request.asked_at
    assert lasts == missing.request.expires_at - missing.request.asked_at
    # … and still those who can give it are told, of the one that there is.
    with corner.read(by("adam")) as ctx:
        (told,) = approvals.list_answerable(ctx)
        assert told.resource is not None
        assert (told.resource.uid, len(told.facts)) == ("salaries", 1)
    with corner.write(by("adam")) as ctx:
        approvals.approve(ctx, told.request.uid)
        assert ctx.session.check("bella", "see", "salaries")


def test_asking_again_for_what_is_not_there_is_the_same_too(corner: Corner) -> None:
    for uid in ("salaries", "nothing"):
        first, second = asked(corner, "bella", "see", uid), asked(corner, "bella", "see", uid)
        assert first.request.uid == second.request.uid
        with pytest.raises(NotFoundError) as told, corner.write(by("bella")) as ctx:
            requests.create(ctx, "see", uid, facts=[Grant("bella", "viewer", uid)])
        assert told.value.message == f"There is no resource '{uid}'."
        with corner.write(by("bella")) as ctx:
            assert requests.withdraw(ctx, first.request.uid).request.state == WITHDRAWN


def test_a_way_that_names_what_is_out_of_sight_is_asked_for_and_not_shown(corner: Corner) -> None:
    """Otto may not run it because of a space that he does not see."""
    told = asked(corner, "otto", "run", "copy_erp")
    assert (told.facts, told.request.facts) == ((), ())
    with corner.read(by("dana")) as ctx:
        (seen,) = approvals.list_answerable(ctx)
        assert seen.facts == (Grant("erik", "can_consume_data", "sources"),)


def test_a_narrowed_token_asks_without_learning_anything(corner: Corner) -> None:
    narrowed = Caller(TENANT, "ana", narrowed=TokenPrincipal("ana", resources=frozenset({"shaped"})), token_id="t")
    with corner.write(narrowed) as ctx:
        there, missing = requests.create(ctx, "read", "orders"), requests.create(ctx, "read", "nothing")
    assert shape(there) == shape(missing)


def test_of_another_tenant_nothing_is_known(corner: Corner) -> None:
    told = asked(corner, "ana", "edit", "orders")
    corner.access.create_tenant("other", "Other", workspaces.models())
    with corner.access.write("other") as session:
        session.store.create("tenant.member", "Ann", uid="ann", edges={"tenant": "other"})
        session.store.add(Grant("ann", "owner", "other"))
    with corner.read(Caller("other", "ann")) as ctx:
        assert approvals.list_answerable(ctx) == []
        with pytest.raises(NotFoundError):
            requests.get(ctx, told.request.uid)


# What cannot be


def test_what_is_allowed_already_is_not_asked_for(corner: Corner) -> None:
    with pytest.raises(ConflictError, match="already"), corner.write(by("erik")) as ctx:
        requests.create(ctx, "edit", "orders")


def test_what_cannot_be_given_any_more(corner: Corner) -> None:
    told = asked(corner, "ana", "delete", "orders")
    with corner.write(by("olga")) as ctx:
        for uid in ("make_orders", "day_totals", "store_totals"):
            ctx.delete(uid)
        ctx.delete("orders")
    assert waiting(corner, "mona") == []
    with corner.read(by("ana")) as ctx:
        mine = requests.get(ctx, told.request.uid)
        assert (mine.resource, mine.facts) == (None, ())


def test_what_was_given_meanwhile_is_approved_as_it_is(corner: Corner) -> None:
    told = asked(corner, "ana", "edit", "orders")
    with corner.write(by("mona")) as ctx:
        ctx.make(Add(Grant("ana", "editor", "orders")))
        assert approvals.approve(ctx, told.request.uid).request.state == APPROVED
        ctx.make(Remove(Grant("ana", "editor", "orders")))


def test_there_is_an_end_to_asking(corner: Corner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "MOST_PENDING", 2)
    asked(corner, "ana", "edit", "orders")
    asked(corner, "ana", "edit", "nothing")
    with pytest.raises(ConflictError, match="wait for an answer"), corner.write(by("ana")) as ctx:
        requests.create(ctx, "edit", "items")


def test_who_views_as_somebody_asks_for_nothing(corner: Corner) -> None:
    with pytest.raises(ForbiddenError), corner.write(replace(by("ana"), impersonator="adam")) as ctx:
        requests.create(ctx, "edit", "orders")


@pytest.mark.parametrize(
    ("action", "uid", "reason", "told"),
    [
        ("", "orders", "", "must not be empty"),
        ("edit", "", "", "must not be empty"),
        ("edit", "orders", "x" * 2_001, "2,001 characters"),
        ("edit", "orders", "a\x00b", "control character"),
        ("edti", "orders", "", "Did you mean 'edit'"),
    ],
)
def test_bad_input(corner: Corner, action: str, uid: str, reason: str, told: str) -> None:
    with pytest.raises(InvalidInputError, match=told), corner.write(by("ana")) as ctx:
        requests.create(ctx, action, uid, reason=reason)


def test_lists_are_paged(corner: Corner) -> None:
    made = [asked(corner, "ana", "edit", uid).request.uid for uid in ("orders", "items", "stores")]
    for who, some in (("ana", requests.list_own), ("mona", approvals.list_answerable)):
        with corner.read(by(who)) as ctx:
            first = some(ctx, limit=2)
            rest = some(ctx, limit=2, before=first[-1].request.n)
            assert [one.request.uid for one in (*first, *rest)] == made[::-1]


def test_those_who_can_give_it_get_a_mail(corner: Corner, tmp_path: Path) -> None:
    settings = Settings(data=tmp_path, smtp=SecretStr("smtp://127.0.0.1:25"))
    with corner.write(by("olga")) as ctx:
        for who in ("mona", "adam", "ana", "erik"):
            accounts.add(ctx, who, email=f"{who}@example.org")
    with corner.write(by("ana")) as ctx:
        told = requests.create(ctx, "edit", "orders", reason="For the board.", settings=settings)
    with corner.read(by("olga")) as ctx:
        mails = outbox.due_messages(ctx.session.transaction, ctx.at)
        assert {mail.receiver for mail in mails} == {"mona@example.org", "adam@example.org"}
        body = ctx.keys.decrypt(mails[0].body)
        assert "For the board." in body
        assert f"/requests/{told.request.uid}" in body
        assert "For the board." not in mails[0].body
    with corner.write(by("mona")) as ctx:
        approvals.approve(ctx, told.request.uid, settings=settings)
    with corner.read(by("olga")) as ctx:
        assert [mail.receiver for mail in outbox.due_messages(ctx.session.transaction, ctx.at)][2:] == [
            "ana@example.org"
        ]


def test_ones_own_are_found_by_their_state(corner: Corner) -> None:
    late, gone = asked(corner, "ana", "edit", "orders"), asked(corner, "ana", "edit", "items")
    with corner.write(by("ana")) as ctx:
        requests.withdraw(ctx, gone.request.uid)
    corner.hand.pass_by(31)
    new = asked(corner, "ana", "edit", "stores")
    with corner.read(by("ana")) as ctx:
        states = (PENDING, EXPIRED, WITHDRAWN)
        found = {state: [one.request.uid for one in requests.list_own(ctx, state=state)] for state in states}
    assert found == {PENDING: [new.request.uid], EXPIRED: [late.request.uid], WITHDRAWN: [gone.request.uid]}
