"""Requests for access: the asker names what they want to do, and sees the answer.

A request leaks nothing: one about a hidden resource is answered alike whether or not it exists, and does not tell
the asker what would have to be given. Only a person's answer does.
"""

import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from lakehold.access import Add
from lakehold.access.decisions.ways import rank_ways
from lakehold.access.facts.records import Fact, mentioned_ids, require_text
from lakehold.access.facts.view import FactView
from lakehold.catalog import discovery, kinds, request_table, resource_metadata
from lakehold.catalog.request_table import PENDING, WITHDRAWN, AccessRequest
from lakehold.catalog.resource_view import ResourceRef, VisibleRefs
from lakehold.directory import accounts
from lakehold.directory.act_for import need_unrestricted
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import DAY
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError
from lakehold.kit.ids import quote, valid_id
from lakehold.kit.settings import Settings

LIFETIME = 30 * DAY
"""How long a request waits for an answer."""
MOST_PENDING = 100
MAX_REASON = 2_000


@dataclass(frozen=True, slots=True)
class RequestView:
    """A request as the caller may see it."""

    request: AccessRequest
    asker: ResourceRef | None
    resource: ResourceRef | None
    """None if the caller may neither see it nor find it by name. Then only the asker reads its id in `request`."""
    facts: Sequence[Fact]
    """What is requested and not granted yet, if the caller may see all of it."""
    may_answer: bool


def create(
    ctx: RequestContext,
    action: str,
    uid: str,
    *,
    reason: str = "",
    facts: Collection[Fact] | None = None,
    settings: Settings | None = None,
) -> RequestView:
    """Request to be allowed an action, by the `facts` that `explain` proposes or else by the nearest way."""
    ctx.need_writable()
    need_unrestricted(ctx, "request access")
    draft = AccessRequest(
        n=0,
        uid=secrets.token_hex(8),
        asker=ctx.caller.member,
        resource=valid_id(uid),
        action=valid_id(action, "action"),
        facts=tuple(_facts_to_request(ctx, require_text(action, "action"), uid, facts)),
        reason=valid_reason(reason),
        state=PENDING,
        asked_at=ctx.at,
        expires_at=ctx.at + LIFETIME,
    )
    known = request_table.list_pending(ctx, draft.asker, uid, action)
    same = next((one for one in known if set(one.facts) == set(draft.facts)), None)
    if same is not None:
        # Requested again: still one request, with the newest reason and the full time to answer it.
        newest = {"reason": draft.reason or same.reason, "expires_at": draft.expires_at}
        return to_view(ctx, request_table.update(ctx, same, **newest))
    if len(request_table.list_pending(ctx, draft.asker)) >= MOST_PENDING:
        raise ConflictError(f"You have {MOST_PENDING} pending requests.", "Withdraw some of them first.")
    created = request_table.insert(ctx, draft)
    ctx.note("request access", uid, after={"action": action, "request": created.uid}, reason=created.reason)
    _notify_givers(ctx, created, settings)
    return to_view(ctx, created)


def list_own(ctx: RequestContext, *, state: str = "", before: int | None = None, limit: int = 50) -> list[RequestView]:
    """Return the caller's own requests, newest first; with a state, only those in it."""
    which = request_table.access_request_table.c.asker == ctx.caller.member
    if state:
        which &= request_table.in_state(state, ctx.at)
    return [to_view(ctx, request) for request in request_table.list_requests(ctx, which, before=before, limit=limit)]


def get(ctx: RequestContext, uid: str) -> RequestView:
    """Return one request, for its asker and for those who can approve it or have answered it."""
    request = find(ctx, uid)
    if request.asker != ctx.caller.member and not is_approver(ctx, request):
        raise not_found(uid)
    return to_view(ctx, request)


def withdraw(ctx: RequestContext, uid: str) -> RequestView:
    """Withdraw one's own request."""
    ctx.need_writable()
    request = find(ctx, uid)
    if request.asker != ctx.caller.member:
        raise not_found(uid)
    refuse_answered(request)
    ctx.note("withdraw request", request.resource, after={"request": request.uid})
    return to_view(ctx, request_table.update(ctx, request, state=WITHDRAWN))


# What those who answer need too


def to_view(ctx: RequestContext, request: AccessRequest) -> RequestView:
    """Return the request as the caller may see it."""
    visible_refs = VisibleRefs(ctx)
    left = missing_facts(ctx, request) or []
    seen = all(visible_refs.sees(uid) for fact in left for uid in mentioned_ids(fact))
    resource = visible_refs.ref(request.resource) or discovery.find_ref(ctx, request.resource)
    # Who can give what was requested need not see what it is requested for. The asker knows the id already.
    named = resource is not None or request.asker == ctx.caller.member
    return RequestView(
        request=replace(request, facts=(), resource=request.resource if named else ""),
        asker=visible_refs.ref(request.asker),
        resource=resource,
        facts=tuple(left) if seen else (),
        may_answer=any(may_give(ctx, fact) for fact in left),
    )


def missing_facts(ctx: RequestContext, request: AccessRequest) -> list[Fact] | None:
    """Return the requested facts that are not given yet; None if they can no longer be given."""
    if request.state != PENDING:
        return []
    return ctx.session.read_view(lambda view: request_table.missing_facts(view, request.facts))


def may_give(ctx: RequestContext, fact: Fact) -> bool:
    """Whether the caller may give the fact, and see all that it names."""
    visible_refs = VisibleRefs(ctx)
    return all(visible_refs.sees(uid) for uid in mentioned_ids(fact)) and ctx.session.check_change(
        ctx.principal, Add(fact)
    )


def is_approver(ctx: RequestContext, request: AccessRequest) -> bool:
    """Whether the caller can approve a part of the request, or has answered it."""
    return request.decided_by == ctx.caller.member or any(may_give(ctx, fact) for fact in request.facts)


def find(ctx: RequestContext, uid: str) -> AccessRequest:
    """Return the request with this id. Whether the caller may see it is checked by the calling function."""
    request = request_table.get(ctx, valid_id(uid))
    if request is None:
        raise not_found(uid)
    return request


def refuse_answered(request: AccessRequest) -> None:
    """Refuse to answer a request twice."""
    if request.state != PENDING:
        raise ConflictError(f"This request is {request.state} already.", "Create a new request.")


def not_found(uid: str) -> NotFoundError:
    """Return the error for a request that does not exist or is hidden from the caller."""
    return NotFoundError(f"There is no request {quote(uid)}.", "Check the ID in the list of requests.")


def valid_reason(reason: object) -> str:
    """Return the reason, or refuse an invalid one."""
    checked = resource_metadata.valid_description(reason)
    if len(checked) > MAX_REASON:
        raise InvalidInputError(f"The reason has {len(checked):,} characters.", f"Use at most {MAX_REASON:,}.")
    return checked


# What to ask for


def _facts_to_request(ctx: RequestContext, action: str, uid: str, facts: Collection[Fact] | None) -> list[Fact]:
    member = ctx.caller.member
    exists = ctx.session.read_view(lambda view: view.ids.get(uid) is not None)
    if not exists or not ctx.session.can_see(ctx.principal, uid):
        if facts is not None:
            raise NotFoundError(f"There is no resource {quote(uid)}.", "Check the ID.")
        return ctx.session.read_view(lambda view: _facts_for_hidden(view, member, action, uid)) if exists else []
    explained = ctx.session.explain(member, action, uid)
    if explained.allowed:
        raise ConflictError("You may do this already.", "There is nothing to request.")
    proposed = [request_table.way_facts(way) for _, way in rank_ways(ctx.view, uid, explained.ways)]
    if facts is not None:
        chosen = next((way for way in proposed if set(way) == set(facts)), None)
        if chosen is None:
            raise InvalidInputError("This is not one of the ways that explain proposes.", "Use one of them unchanged.")
        return chosen
    if proposed:
        return proposed[0]
    hidden = ctx.session.read_view(lambda view: request_table.find_ways(view, member, action, uid))
    if not hidden:
        raise ConflictError("No grant would allow this.", "Use explain to see the reason.")
    return request_table.way_facts(hidden[0])


def _facts_for_hidden(view: FactView, member: str, action: str, uid: str) -> list[Fact]:
    """Return the facts to request for a resource that the asker knows by its id alone. An unknown action counts as
    seeing it, so that the asker does not learn its kind from what cannot be done with it.
    """
    schema = kinds.schema_of(view, uid)
    ways = request_table.find_ways(view, member, action if action in schema.actions else schema.visible, uid)
    return request_table.way_facts(ways[0]) if ways else []


def _notify_givers(ctx: RequestContext, request: AccessRequest, settings: Settings | None) -> None:
    left = missing_facts(ctx, request)
    if settings is None or not left:
        return
    receivers = ctx.session.read_view(lambda view: request_table.find_givers(view, left))
    asker = ctx.view.names.get(ctx.view.member(request.asker)) or request.asker
    body = f"{asker} requests access. {request.reason}\n\n{settings.base_url}/requests/{request.uid}\n"
    accounts.queue_mails(ctx, settings, (to for to in receivers if to != request.asker), "Access request", body)
