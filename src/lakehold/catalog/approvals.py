"""Answers to requests for access: approve them permanently or for a time, or refuse them with a reason."""

from lakehold.access import Add, Grant
from lakehold.access.facts.records import mentioned_ids
from lakehold.catalog import kinds, request_table, requests, resource_metadata
from lakehold.catalog.request_table import APPROVED, PENDING, REFUSED, AccessRequest
from lakehold.catalog.requests import RequestView
from lakehold.directory import accounts
from lakehold.directory.request_context import MomentLike, RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.settings import Settings


def list_answerable(ctx: RequestContext, *, before: int | None = None, limit: int = 50) -> list[RequestView]:
    """Return the pending requests that the caller could answer, newest first."""
    found: list[RequestView] = []
    while len(found) < limit:
        which = request_table.access_request_table.c.state == PENDING
        some = request_table.list_requests(ctx, which, before=before, limit=limit)
        answerable = (view for request in some if (view := requests.to_view(ctx, request)).may_answer)
        found.extend(answerable)
        if len(some) < limit:
            break
        before = some[-1].n
    return found[:limit]


def approve(
    ctx: RequestContext,
    uid: str,
    *,
    until: MomentLike | None = None,
    answer: str = "",
    settings: Settings | None = None,
) -> RequestView:
    """Give what was requested. What the caller cannot give stays pending for others."""
    ctx.need_writable()
    request = _need_answerable(ctx, uid)
    why = requests.valid_reason(answer)
    left = requests.missing_facts(ctx, request)
    if left is None:
        raise ConflictError("The requested access can no longer be granted.", "Refuse the request.")
    able = [fact for fact in left if requests.may_give(ctx, fact)]
    for fact in able:
        ctx.make(Add(fact), until=until)
        here = mentioned_ids(fact)[0]
        if not isinstance(fact, Grant) and kinds.workspace_of(ctx.view, here) is not None:
            resource_metadata.save(ctx, here)
    ctx.note(
        "approve request",
        request.resource,
        after={"request": request.uid, "given": len(able), "left": len(left) - len(able)},
        reason=why,
    )
    if len(able) == len(left):
        request = request_table.update(ctx, request, state=APPROVED, answer=why, until=until)
        _notify_asker(ctx, request, "Your request was approved", settings)
    return requests.to_view(ctx, request)


def refuse(ctx: RequestContext, uid: str, answer: str, *, settings: Settings | None = None) -> RequestView:
    """Refuse the request, with a reason."""
    ctx.need_writable()
    request = _need_answerable(ctx, uid)
    why = requests.valid_reason(answer)
    if not why.strip():
        raise InvalidInputError("A refusal needs a reason.", "Enter a reason.")
    ctx.note("refuse request", request.resource, after={"request": request.uid}, reason=why)
    request = request_table.update(ctx, request, state=REFUSED, answer=why)
    _notify_asker(ctx, request, "Your request was denied", settings)
    return requests.to_view(ctx, request)


def expire_requests(ctx: RequestContext) -> int:
    """Expire the requests that nobody has answered in time, and return their number. Called by the worker."""
    ended = request_table.mark_expired(ctx)
    for uid in ended:
        ctx.note("request expired", after={"request": uid})
    return len(ended)


def _need_answerable(ctx: RequestContext, uid: str) -> AccessRequest:
    """Return a pending request of which the caller can give at least a part, or refuse."""
    request = requests.find(ctx, uid)
    if not requests.is_approver(ctx, request):
        if request.asker == ctx.caller.member:
            raise ConflictError("You cannot answer your own request.", "Wait for those who can, or withdraw it.")
        raise requests.not_found(uid)
    requests.refuse_answered(request)
    left = requests.missing_facts(ctx, request)
    if left and not any(requests.may_give(ctx, fact) for fact in left):
        raise ConflictError("You cannot grant the rest of this request.", "Others can grant it.")
    return request


def _notify_asker(ctx: RequestContext, request: AccessRequest, subject: str, settings: Settings | None) -> None:
    if settings is not None:
        body = f"{subject}. {request.answer}\n\n{settings.base_url}/requests/{request.uid}\n"
        accounts.queue_mails(ctx, settings, [request.asker], subject, body)
