"""Endpoints of access requests, and of the discovery of what can be requested."""

from dataclasses import asdict
from typing import Annotated, Literal

from fastapi import Query
from pydantic import Field

from lakehold.api.access.what_if import FactJson, parse_fact
from lakehold.api.catalog.schemas import KindName, OptionalId, RefJson
from lakehold.api.http.dependencies import CreateContext, CurrentPlatform, ReadContext, WriteContext
from lakehold.api.http.models import (
    IdText,
    RecordEnd,
    RecordId,
    RecordTime,
    RequestModel,
    ResponseModel,
    SearchText,
    Time,
    Word,
    validated_by,
)
from lakehold.api.http.paging import PageParams, PageResponse
from lakehold.api.http.routing import make_router
from lakehold.catalog import approvals, discovery, requests
from lakehold.catalog.requests import MAX_REASON, RequestView, valid_reason
from lakehold.kit.ids import valid_id

routes = make_router("/api/v1/requests", "Access requests")

RequestId = Annotated[IdText, Field(examples=["9b1de1f20c3a4d5e"])]
ReasonText = Annotated[
    str, Field(max_length=MAX_REASON, examples=["For the yearly report."]), validated_by(valid_reason)
]
ActionText = Annotated[str, Field(min_length=1, max_length=200, examples=["read"]), validated_by(valid_id)]
RequestState = Literal["pending", "approved", "refused", "withdrawn", "expired"]


class NewAccessRequest(RequestModel):
    """An access request to create."""

    resource: IdText
    action: ActionText
    reason: ReasonText = ""
    facts: Annotated[list[FactJson], Field(min_length=1, max_length=50)] | None = Field(
        default=None, description="One of the ways that explain proposes; default: the nearest."
    )


class Approval(RequestModel):
    """The approval of a request, permanently or for a time."""

    until: Time | None = Field(default=None, description="End time of the grant.")
    answer: ReasonText = ""


class Refusal(RequestModel):
    """The refusal of a request, with its reason."""

    answer: ReasonText = Field(min_length=1, examples=["Ask Erik to do it."])


class RequestJson(ResponseModel):
    """An access request, as the caller may see it."""

    id: RecordId = Field(examples=["9b1de1f20c3a4d5e"])
    asker: RefJson | None
    asked_for: OptionalId = Field(
        examples=["orders"],
        description="The requested id, which may not exist. Empty if the caller may not know it.",
    )
    resource: RefJson | None = Field(description="The resource, if the caller may see it or find it by name.")
    action: Word
    reason: str = Field(examples=["For the yearly report."])
    state: RequestState
    facts: list[FactJson] = Field(description="The facts to grant, if the caller may see all of them.")
    may_answer: bool = Field(description="Whether the caller can grant a part of it.")
    asked_at: RecordTime
    expires_at: RecordTime
    decided_at: RecordEnd
    decided_by: str = Field(examples=[""], description="The id of the member who answered last.")
    answer: str = Field(examples=[""])
    until: RecordEnd = Field(description="End time of what was granted.")


@routes.post("", status_code=201)
def request_access(ctx: CreateContext, platform: CurrentPlatform, body: NewAccessRequest) -> RequestJson:
    """Request access.

    Those who can grant it are notified. Something that the caller may not see is requested by its id, and answered
    alike whether or not it exists. A second request for the same returns the first one.
    """
    facts = None if body.facts is None else [parse_fact(fact) for fact in body.facts]
    created = requests.create(
        ctx, body.action, body.resource, reason=body.reason, facts=facts, settings=platform.settings
    )
    return _request_json(created)


@routes.get("")
def list_my_requests(ctx: ReadContext, paged: PageParams) -> PageResponse[RequestJson]:
    """List the caller's own requests, newest first."""
    found = requests.list_own(ctx, before=paged.start_after("my requests", int), limit=paged.limit + 1)
    return paged.build_page("my requests", found, lambda one: (one.request.n,), _request_json)


@routes.get("/waiting")
def list_waiting_requests(ctx: ReadContext, paged: PageParams) -> PageResponse[RequestJson]:
    """List pending requests that the caller can answer, newest first."""
    found = approvals.list_answerable(ctx, before=paged.start_after("waiting", int), limit=paged.limit + 1)
    return paged.build_page("waiting", found, lambda one: (one.request.n,), _request_json)


@routes.get("/{request}")
def get_request(ctx: ReadContext, request: RequestId) -> RequestJson:
    """Get a request: for its author, and for those who can grant it."""
    return _request_json(requests.get(ctx, request))


@routes.post("/{request}/approve")
def approve_request(ctx: WriteContext, platform: CurrentPlatform, request: RequestId, body: Approval) -> RequestJson:
    """Approve a request, with the caller's own rights.

    What the caller cannot grant stays pending, and others can grant the rest of it.
    """
    return _request_json(
        approvals.approve(ctx, request, until=body.until, answer=body.answer, settings=platform.settings)
    )


@routes.post("/{request}/refuse")
def refuse_request(ctx: WriteContext, platform: CurrentPlatform, request: RequestId, body: Refusal) -> RequestJson:
    """Refuse a request, with a reason."""
    return _request_json(approvals.refuse(ctx, request, body.answer, settings=platform.settings))


@routes.post("/{request}/withdraw")
def withdraw_request(ctx: WriteContext, request: RequestId) -> RequestJson:
    """Withdraw one's own request."""
    return _request_json(requests.withdraw(ctx, request))


def _request_json(found: RequestView) -> RequestJson:
    request = {**asdict(found.request), "asked_for": found.request.resource}
    visible = {"asker": found.asker, "resource": found.resource, "may_answer": found.may_answer}
    return RequestJson.model_validate({**request, **visible, "facts": list(found.facts)})


discovery_routes = make_router("/api/v1/discover", "Discovery")


class DiscoverableResourceJson(RefJson):
    """A resource that the caller may not see, but may find and request."""

    description: str = Field(examples=["What everybody earns."])
    workspace: RefJson | None = Field(description="Null if the caller may not see it.")


@discovery_routes.get("", openapi_extra={"x-tells-what-is": "discoverable"})
def discover(
    ctx: ReadContext,
    paged: PageParams,
    search: Annotated[SearchText, Query(description="A part of the name.")] = "",
    kind: Annotated[KindName | None, Query(description="Only this kind.")] = None,
) -> PageResponse[DiscoverableResourceJson]:
    """List resources that the caller may not see but may request.

    Only those whose managers have made them discoverable, and of these only name, description and kind.
    """
    found = discovery.find(ctx, search, kind=kind, after=paged.after, limit=paged.limit)
    return PageResponse[DiscoverableResourceJson].model_validate(found)
