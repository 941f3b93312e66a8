"""Answering requests for access: with one's own right, for good or for a time, or with a reason why not."""

from __future__ import annotations

from lakehold.access import Add, Grant
from lakehold.access.facts.records import Fact
from lakehold.catalog import details, kinds, proposals, request_table, requests, telling
from lakehold.catalog.request_table import APPROVED, PENDING, REFUSED, Request
from lakehold.catalog.requests import Told
from lakehold.directory.request_context import RequestContext, When
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.settings import Settings


def waiting_for(ctx: RequestContext, *, before: int | None = None, limit: int = 50) -> list[Told]:
    """What waits for an answer that the caller could give, newest first."""
    found: list[Told] = []
    while len(found) < limit:
        which = request_table.table.c.state == PENDING
        some = request_table.rows(ctx, which, before=before, limit=limit)
        answerable = (told for request in some if (told := requests.told(ctx, request)).may_answer)
        found.extend(answerable)
        if len(some) < limit:
            break
        before = some[-1].n
    return found[:limit]


def approve(
    ctx: RequestContext, uid: str, *, until: When | None = None, answer: str = "", settings: Settings | None = None
) -> Told:
    """Give what was asked for. What the caller cannot give stays asked for, and others can give the rest of it."""
    ctx.writing()
    request = _answerable(ctx, uid)
    why = requests.valid_reason(answer)
    left = requests.still_wanted(ctx, request)
    if left is None:
        raise ConflictError("What was asked for can no longer be given.", "Refuse the request.")
    able = [fact for fact in left if requests.may_give(ctx, fact)]
    for fact in able:
        _give(ctx, fact, until)
    ctx.note(
        "approve request",
        request.resource,
        after={"request": request.uid, "given": len(able), "left": len(left) - len(able)},
        reason=why,
    )
    if len(able) == len(left):
        request = request_table.update(ctx, request, state=APPROVED, answer=why, until=until)
        _tell(ctx, request, "Your request was approved", settings)
    return requests.told(ctx, request)


def refuse(ctx: RequestContext, uid: str, answer: str, *, settings: Settings | None = None) -> Told:
    """Say no, and why."""
    ctx.writing()
    request = _answerable(ctx, uid)
    why = requests.valid_reason(answer)
    if not why.strip():
        raise InvalidInputError("A refusal needs a reason.", "Say in a few words why not.")
    ctx.note("refuse request", request.resource, after={"request": request.uid}, reason=why)
    request = request_table.update(ctx, request, state=REFUSED, answer=why)
    _tell(ctx, request, "Your request was refused", settings)
    return requests.told(ctx, request)


def expire(ctx: RequestContext) -> int:
    """End the requests that nobody has answered in time, and tell how many. For the worker."""
    ended = request_table.lapse(ctx)
    for uid in ended:
        ctx.note("request expired", after={"request": uid})
    return len(ended)


def _answerable(ctx: RequestContext, uid: str) -> Request:
    """A request that waits for an answer which the caller can give at least a part of."""
    request = requests.found(ctx, uid)
    if not requests.concerns(ctx, request):
        if request.asker == ctx.caller.member:
            raise ConflictError("You cannot answer your own request.", "Wait for those who can, or withdraw it.")
        raise requests.none(uid)
    requests.refuse_answered(request)
    left = requests.still_wanted(ctx, request)
    if left and not any(requests.may_give(ctx, fact) for fact in left):
        raise ConflictError("What is left of this request is not yours to give.", "Others can give it.")
    return request


def _give(ctx: RequestContext, fact: Fact, until: When | None) -> None:
    ctx.make(Add(fact), until=until)
    here = proposals.named_in(fact)[0]
    if not isinstance(fact, Grant) and kinds.workspace_of(ctx.view, here) is not None:
        details.changed(ctx, here)


def _tell(ctx: RequestContext, request: Request, words: str, settings: Settings | None) -> None:
    if settings is not None:
        body = f"{words}. {request.answer}\n\n{settings.base_url}/requests/{request.uid}\n"
        telling.tell(ctx, settings, [request.asker], words, body)
