"""Answering requests for access: with one's own right, for good or for a time, or with a reason why not."""

from __future__ import annotations

from lakehold.access import Add, Grant
from lakehold.access.facts.records import Fact
from lakehold.catalog import details, kinds, proposals, request_table, requests, telling
from lakehold.catalog.request_table import APPROVED, PENDING, REFUSED, Request
from lakehold.catalog.requests import Told
from lakehold.directory.work import When, Work
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.settings import Settings


def waiting_for(work: Work, *, before: int | None = None, limit: int = 50) -> list[Told]:
    """What waits for an answer that the caller could give, newest first."""
    found: list[Told] = []
    while len(found) < limit:
        which = request_table.table.c.state == PENDING
        some = request_table.rows(work, which, before=before, limit=limit)
        answerable = (told for request in some if (told := requests.told(work, request)).may_answer)
        found.extend(answerable)
        if len(some) < limit:
            break
        before = some[-1].n
    return found[:limit]


def approve(
    work: Work, uid: str, *, until: When | None = None, answer: str = "", settings: Settings | None = None
) -> Told:
    """Give what was asked for. What the caller cannot give stays asked for, and others can give the rest of it."""
    work.writing()
    request = _answerable(work, uid)
    why = requests.valid_reason(answer)
    left = requests.still_wanted(work, request)
    if left is None:
        raise ConflictError("What was asked for can no longer be given.", "Refuse the request.")
    able = [fact for fact in left if requests.may_give(work, fact)]
    for fact in able:
        _give(work, fact, until)
    work.note(
        "approve request",
        request.resource,
        after={"request": request.uid, "given": len(able), "left": len(left) - len(able)},
        reason=why,
    )
    if len(able) == len(left):
        request = request_table.update(work, request, state=APPROVED, answer=why, until=until)
        _tell(work, request, "Your request was approved", settings)
    return requests.told(work, request)


def refuse(work: Work, uid: str, answer: str, *, settings: Settings | None = None) -> Told:
    """Say no, and why."""
    work.writing()
    request = _answerable(work, uid)
    why = requests.valid_reason(answer)
    if not why.strip():
        raise InvalidInputError("A refusal needs a reason.", "Say in a few words why not.")
    work.note("refuse request", request.resource, after={"request": request.uid}, reason=why)
    request = request_table.update(work, request, state=REFUSED, answer=why)
    _tell(work, request, "Your request was refused", settings)
    return requests.told(work, request)


def expire(work: Work) -> int:
    """End the requests that nobody has answered in time, and tell how many. For the worker."""
    ended = request_table.lapse(work)
    for uid in ended:
        work.note("request expired", after={"request": uid})
    return len(ended)


def _answerable(work: Work, uid: str) -> Request:
    """A request that waits for an answer which the caller can give at least a part of."""
    request = requests.found(work, uid)
    if not requests.concerns(work, request):
        if request.asker == work.caller.member:
            raise ConflictError("You cannot answer your own request.", "Wait for those who can, or withdraw it.")
        raise requests.none(uid)
    requests.refuse_answered(request)
    left = requests.still_wanted(work, request)
    if left and not any(requests.may_give(work, fact) for fact in left):
        raise ConflictError("What is left of this request is not yours to give.", "Others can give it.")
    return request


def _give(work: Work, fact: Fact, until: When | None) -> None:
    work.make(Add(fact), until=until)
    here = proposals.named_in(fact)[0]
    if not isinstance(fact, Grant) and kinds.workspace_of(work.view, here) is not None:
        details.changed(work, here)


def _tell(work: Work, request: Request, words: str, settings: Settings | None) -> None:
    if settings is not None:
        body = f"{words}. {request.answer}\n\n{settings.base}/requests/{request.uid}\n"
        telling.tell(work, settings, [request.asker], words, body)
