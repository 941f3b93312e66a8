"""Asking for access, and answering."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

from pydantic import Field

from lakehold.api.access.facts import FactJson, fact_of
from lakehold.api.access.facts import told as fact_told
from lakehold.api.catalog import shown
from lakehold.api.catalog.shown import RefJson
from lakehold.api.frame.models import Answer, Body, IdText, Time, Word, checked, time_of, told
from lakehold.api.frame.paging import Page, Paged, Paging
from lakehold.api.frame.routes import router
from lakehold.api.frame.works import Creating, House, Reading, Writing
from lakehold.catalog import approvals, requests
from lakehold.catalog.requests import MAX_REASON, RequestView, valid_reason
from lakehold.kit.ids import valid_id

routes = router("/api/v1/requests", "Access requests")

RequestId = Annotated[IdText, Field(examples=["9b1de1f20c3a4d5e"])]
Reason = Annotated[str, Field(max_length=MAX_REASON, examples=["For the yearly report."]), checked(valid_reason)]
Action = Annotated[str, Field(min_length=1, max_length=200, examples=["read"]), checked(valid_id)]
State = Literal["pending", "approved", "refused", "withdrawn", "expired"]


class NewRequest(Body):
    """What somebody wants to be allowed."""

    resource: IdText
    action: Action
    reason: Reason = ""
    facts: Annotated[list[FactJson], Field(min_length=1, max_length=50)] | None = Field(
        default=None, description="One of the ways that explain proposes, as it is; the nearest one without."
    )


class Approval(Body):
    """For good, or for a time."""

    until: Time | None = Field(default=None, description="When what is given ends.")
    answer: Reason = ""


class Refusal(Body):
    """Why not."""

    answer: Reason = Field(min_length=1, examples=["Ask Erik to do it."])


class RequestJson(Answer):
    """A request for access, as the caller may see it."""

    id: RequestId
    asker: RefJson | None
    asked_for: IdText = Field(description="The id that was asked for. There may be nothing of this id.")
    resource: RefJson | None = Field(description="What it is, if the caller may see it or find it by name.")
    action: Word
    reason: str = Field(examples=["For the yearly report."])
    state: State
    facts: list[FactJson] = Field(description="What would have to be given, if the caller may see all of it.")
    may_answer: bool = Field(description="Whether the caller can give some of it.")
    asked_at: Time
    expires_at: Time
    decided_at: Time | None
    decided_by: str = Field(examples=[""], description="The id of who answered last.")
    answer: str = Field(examples=[""])
    until: Time | None = Field(description="When what was given ends.")


@routes.post("", status_code=201)
def request_access(ctx: Creating, platform: House, body: NewRequest) -> RequestJson:
    """Ask to be allowed something.

    Those who can give it are told. Something that the caller may not see is asked for by its id, and answered alike
    whether or not it exists. Who asks again for the same gets the same request.
    """
    facts = None if body.facts is None else [fact_of(fact) for fact in body.facts]
    made = requests.create(ctx, body.action, body.resource, reason=body.reason, facts=facts, settings=platform.settings)
    return _told(made)


@routes.get("")
def list_my_requests(ctx: Reading, paged: Paged) -> Page[RequestJson]:
    """What the caller has asked for, newest first."""
    return _page(paged, "my requests", lambda before, limit: requests.list_own(ctx, before=before, limit=limit))


@routes.get("/waiting")
def list_waiting_requests(ctx: Reading, paged: Paged) -> Page[RequestJson]:
    """What waits for an answer that the caller can give, newest first."""
    return _page(paged, "waiting", lambda before, limit: approvals.list_answerable(ctx, before=before, limit=limit))


@routes.get("/{request}")
def get_request(ctx: Reading, request: RequestId) -> RequestJson:
    """One request: for who asked, and for those who can give it."""
    return _told(requests.get(ctx, request))


@routes.post("/{request}/approve")
def approve_request(ctx: Writing, platform: House, request: RequestId, body: Approval) -> RequestJson:
    """Give what was asked for, with the caller's own right.

    What the caller cannot give stays asked for, and others can give the rest of it.
    """
    return _told(approvals.approve(ctx, request, until=body.until, answer=body.answer, settings=platform.settings))


@routes.post("/{request}/refuse")
def refuse_request(ctx: Writing, platform: House, request: RequestId, body: Refusal) -> RequestJson:
    """Say no, and why."""
    return _told(approvals.refuse(ctx, request, body.answer, settings=platform.settings))


@routes.post("/{request}/withdraw")
def withdraw_request(ctx: Writing, request: RequestId) -> RequestJson:
    """Ask no longer."""
    return _told(requests.withdraw(ctx, request))


def _page(paged: Paging, of: str, some: Callable[[int | None, int], list[RequestView]]) -> Page[RequestJson]:
    start = paged.start(of, int)
    found = some(None if start is None else int(start[0]), paged.limit + 1)
    return paged.page(of, found, lambda one: (one.request.n,), _told)


def _told(found: RequestView) -> RequestJson:
    request = found.request
    return RequestJson(
        id=request.uid,
        asker=shown.maybe(found.asker),
        asked_for=request.resource,
        resource=shown.maybe(found.resource),
        action=request.action,
        reason=request.reason,
        state=_STATES[request.state],
        facts=[fact_told(fact) for fact in found.facts],
        may_answer=found.may_answer,
        asked_at=time_of(request.asked_at),
        expires_at=time_of(request.expires_at),
        decided_at=told(request.decided_at),
        decided_by=request.decided_by,
        answer=request.answer,
        until=told(request.until),
    )


_STATES: dict[str, State] = {
    "pending": "pending",
    "approved": "approved",
    "refused": "refused",
    "withdrawn": "withdrawn",
    "expired": "expired",
}
