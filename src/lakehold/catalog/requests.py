"""Asking for access: who asks names what they want to do, and sees what becomes of it.

Nothing leaks by asking: a request about something that the asker may not see is answered alike whether or not it
exists, and tells the asker nothing of what would have to be given. Only a person's answer does.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from lakehold.access import Add
from lakehold.access.facts.records import Fact, require_text
from lakehold.access.facts.view import FactView
from lakehold.catalog import details, discovery, kinds, proposals, request_table, telling
from lakehold.catalog.request_table import PENDING, WITHDRAWN, Request
from lakehold.catalog.shapes import Ref, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import DAY
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError
from lakehold.kit.ids import quote, valid_id
from lakehold.kit.settings import Settings

LASTS = 30 * DAY
"""How long a request waits for an answer."""
MOST_PENDING = 100
LONGEST_REASON = 2_000


@dataclass(frozen=True, slots=True)
class Told:
    """A request as somebody may see it."""

    request: Request
    asker: Ref | None
    resource: Ref | None
    """None if the one who looks may neither see it nor find it by name."""
    facts: Sequence[Fact]
    """What is asked for, and not given yet, if the one who looks may see all of it."""
    may_answer: bool


def ask(
    ctx: RequestContext,
    action: str,
    uid: str,
    *,
    reason: str = "",
    facts: Collection[Fact] | None = None,
    settings: Settings | None = None,
) -> Told:
    """Ask to be allowed something. With `facts`, for one of the ways that `explain` proposes; else for the nearest."""
    ctx.writing()
    wanted = Request(
        n=0,
        uid=secrets.token_hex(8),
        asker=ctx.caller.member,
        resource=valid_id(uid),
        action=valid_id(action, "action"),
        facts=tuple(_wanted(ctx, require_text(action, "action"), uid, facts)),
        reason=valid_reason(reason),
        state=PENDING,
        asked_at=ctx.at,
        expires_at=ctx.at + LASTS,
    )
    known = request_table.pending_of(ctx, wanted.asker, uid, action)
    same = next((one for one in known if set(one.facts) == set(wanted.facts)), None)
    if same is not None:
        # Asked again: one request, with the newest words, and the full time to answer it.
        newest = {"reason": wanted.reason or same.reason, "expires_at": wanted.expires_at}
        return told(ctx, request_table.update(ctx, same, **newest))
    if len(request_table.pending_of(ctx, wanted.asker)) >= MOST_PENDING:
        raise ConflictError(f"{MOST_PENDING} of your requests wait for an answer.", "Withdraw some of them first.")
    made = request_table.insert(ctx, wanted)
    ctx.note("request access", uid, after={"action": action, "request": made.uid}, reason=made.reason)
    _tell_givers(ctx, made, settings)
    return told(ctx, made)


def mine(ctx: RequestContext, *, state: str = "", before: int | None = None, limit: int = 50) -> list[Told]:
    """What the caller has asked for, newest first; with a state, only what is in it."""
    which = request_table.table.c.asker == ctx.caller.member
    if state:
        which &= request_table.in_state(state, ctx.at)
    return [told(ctx, request) for request in request_table.rows(ctx, which, before=before, limit=limit)]


def get(ctx: RequestContext, uid: str) -> Told:
    """One request: for who asked, and for those who can give it or have."""
    request = found(ctx, uid)
    if request.asker != ctx.caller.member and not concerns(ctx, request):
        raise none(uid)
    return told(ctx, request)


def withdraw(ctx: RequestContext, uid: str) -> Told:
    """Ask no longer."""
    ctx.writing()
    request = found(ctx, uid)
    if request.asker != ctx.caller.member:
        raise none(uid)
    refuse_answered(request)
    ctx.note("withdraw request", request.resource, after={"request": request.uid})
    return told(ctx, request_table.update(ctx, request, state=WITHDRAWN))


# What those who answer need too


def told(ctx: RequestContext, request: Request) -> Told:
    """The request for the caller's eyes."""
    eyes = VisibleRefs(ctx)
    left = still_wanted(ctx, request) or []
    seen = all(eyes.sees(uid) for fact in left for uid in proposals.named_in(fact))
    resource = eyes.ref(request.resource)
    if resource is None and discovery.may_be_found(ctx, request.resource):
        resource = discovery.named(ctx, request.resource)
    return Told(
        request=replace(request, facts=()),
        asker=eyes.ref(request.asker),
        resource=resource,
        facts=tuple(left) if seen else (),
        may_answer=any(may_give(ctx, fact) for fact in left),
    )


def still_wanted(ctx: RequestContext, request: Request) -> list[Fact] | None:
    """What is asked for and not given yet; None if it can no longer be given."""
    if request.state != PENDING:
        return []
    return ctx.session.read_view(lambda view: proposals.missing(view, request.facts))


def may_give(ctx: RequestContext, fact: Fact) -> bool:
    """Whether the caller may give it, and see what it is about."""
    eyes = VisibleRefs(ctx)
    return all(eyes.sees(uid) for uid in proposals.named_in(fact)) and ctx.session.check_change(ctx.asker, Add(fact))


def concerns(ctx: RequestContext, request: Request) -> bool:
    """Whether the request is the caller's to know of as one who gives, or has given."""
    return request.decided_by == ctx.caller.member or any(may_give(ctx, fact) for fact in request.facts)


def found(ctx: RequestContext, uid: str) -> Request:
    """The request of this id. Whether the caller may know of it is asked by the one who calls."""
    request = request_table.read(ctx, valid_id(uid))
    if request is None:
        raise none(uid)
    return request


def refuse_answered(request: Request) -> None:
    """A request is answered once."""
    if request.state != PENDING:
        raise ConflictError(f"This request is {request.state} already.", "Ask anew.")


def none(uid: str) -> NotFoundError:
    """There is no such request, or the caller may not know of it."""
    return NotFoundError(f"There is no request {quote(uid)}.", "Look the id up in the list of requests.")


def valid_reason(reason: object) -> str:
    """The words, if they may be a reason."""
    words = details.valid_description(reason)
    if len(words) > LONGEST_REASON:
        raise InvalidInputError(f"The reason has {len(words):,} characters.", f"Use {LONGEST_REASON:,} at the most.")
    return words


# What to ask for


def _wanted(ctx: RequestContext, action: str, uid: str, facts: Collection[Fact] | None) -> list[Fact]:
    member = ctx.caller.member
    exists = ctx.session.read_view(lambda view: view.ids.get(uid) is not None)
    if not exists or not ctx.session.can_see(ctx.asker, uid):
        if facts is not None:
            raise NotFoundError(f"There is no resource {quote(uid)}.", "Look the id up in a list.")
        return ctx.session.read_view(lambda view: _unseen(view, member, action, uid)) if exists else []
    explained = ctx.session.explain(member, action, uid)
    if explained.allowed:
        raise ConflictError("You may do this already.", "There is nothing to ask for.")
    proposed = [proposals.facts_of(way) for way in explained.ways]
    if facts is not None:
        chosen = next((way for way in proposed if set(way) == set(facts)), None)
        if chosen is None:
            raise InvalidInputError("This is none of the ways that explain proposes.", "Take one of these as it is.")
        return chosen
    if proposed:
        return proposed[0]
    hidden = ctx.session.read_view(lambda view: proposals.ways(view, member, action, uid))
    if not hidden:
        raise ConflictError("Nothing that could be given would allow this.", "Ask why: explain tells what stops it.")
    return proposals.facts_of(hidden[0])


def _unseen(view: FactView, member: str, action: str, uid: str) -> list[Fact]:
    """What would have to be given for something that the asker knows by its id alone. An action that it does not have
    counts as seeing it: the asker must not learn what it is from what cannot be done with it.
    """
    schema = kinds.schema_of(view, uid)
    ways = proposals.ways(view, member, action if action in schema.actions else schema.visible, uid)
    return proposals.facts_of(ways[0]) if ways else []


def _tell_givers(ctx: RequestContext, request: Request, settings: Settings | None) -> None:
    left = still_wanted(ctx, request)
    if settings is None or not left:
        return
    receivers = ctx.session.read_view(lambda view: proposals.givers(view, left))
    asker = ctx.view.names.get(ctx.view.member(request.asker)) or request.asker
    body = f"{asker} asks to be allowed something. {request.reason}\n\n{settings.base_url}/requests/{request.uid}\n"
    telling.tell(ctx, settings, (to for to in receivers if to != request.asker), "Somebody asks for access", body)
