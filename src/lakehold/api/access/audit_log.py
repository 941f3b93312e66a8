"""Endpoints of the audit log. Read, export and verify."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from itertools import islice
from typing import Annotated, Literal

from fastapi import Depends, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import Field

from lakehold.api.http.dependencies import ReadContext, get_platform
from lakehold.api.http.models import IdText, RecordTime, ResponseModel, Time, Word
from lakehold.api.http.paging import PageParams, PageResponse
from lakehold.api.http.routing import make_router
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.kit.clock import to_moment
from lakehold.ledger.audit import AuditFilter, NumberedEntry

routes = make_router("/api/v1/access/audit", "Audit log")

_EXPORT_CHUNK = 1_000
_JSON_LINES = "application/jsonl"
AuditOutcome = Literal["done", "denied"]


class AuditEntry(ResponseModel):
    """An entry of the audit log."""

    n: int = Field(description="Its number.")
    at: RecordTime
    member: str = Field(
        examples=["ana"], description="The id of the member who did it; empty for the installation itself."
    )
    member_name: str = Field(examples=["Ana, Analyst"])
    action: str = Field(examples=["grant"])
    resource: str = Field(examples=["orders"])
    resource_name: str = Field(examples=["orders"])
    kind: str = Field(examples=["lakehouse.table"])
    outcome: str = Field(examples=["done"])
    token: str = Field(examples=[""], description="The id of the API token, if one was used.")
    viewing_as: str = Field(examples=[""], description="The member whom the caller impersonated.")
    request: str = Field(examples=["5f0c3f1de1a44d54"])
    address: str = Field(examples=["127.0.0.1"])
    before: dict[str, object] = Field(examples=[{}])
    after: dict[str, object] = Field(examples=[{"role": "viewer", "subject": "bob"}])
    reason: str = Field(examples=[""])
    hash: str = Field(examples=["9f86d081884c7d65"])


class AuditVerificationJson(ResponseModel):
    """The result of verifying the whole chain."""

    whole: bool
    entries: int
    head: str = Field(examples=["9f86d081884c7d65"])
    fault: str = Field(examples=[""], description="Empty if nothing was altered, removed, reordered or cut off.")


async def _filter(
    member: Annotated[IdText | None, Query(description="Only entries of this member.")] = None,
    resource: Annotated[IdText | None, Query(description="To what.")] = None,
    action: Annotated[Word | None, Query(description="Only this action.")] = None,
    outcome: Annotated[AuditOutcome | None, Query(description="Whether it was done or denied.")] = None,
    since: Annotated[Time | None, Query(description="From this moment on.")] = None,
    until: Annotated[Time | None, Query(description="Before this moment.")] = None,
) -> AuditFilter:
    begin, end = (None if at is None else to_moment(at) for at in (since, until))
    return AuditFilter(member, resource, action, outcome, begin, end)


AuditFilterParams = Annotated[AuditFilter, Depends(_filter)]


@routes.get("", openapi_extra={"x-tells-all-to": "see_audit"})
def list_audit_entries(ctx: ReadContext, paged: PageParams, filters: AuditFilterParams) -> PageResponse[AuditEntry]:
    """List audit log entries, newest first.

    Needs the right `see_audit`.
    """
    ctx.need("see_audit", ctx.caller.tenant)
    of = f"audit {filters}"
    found = ctx.audit.page(filters, before=paged.start_after(of, int), limit=paged.limit + 1)
    return paged.build_page(of, found, lambda line: (line.n,), _entry_json)


@routes.get(
    "/export",
    response_class=StreamingResponse,
    openapi_extra={"x-tells-all-to": "see_audit"},
    responses={200: {"description": "JSON lines", "content": {_JSON_LINES: {"schema": {"type": "string"}}}}},
)
def export_audit(ctx: ReadContext, request: Request, filters: AuditFilterParams) -> Response:
    """Export the whole audit log as JSON lines, oldest first.

    Needs the right `see_audit` until the end: a caller who loses it meanwhile gets no more.
    """
    ctx.need("see_audit", ctx.caller.tenant)
    lines = _export_lines(get_platform(request), ctx.caller, filters)
    return StreamingResponse(
        lines, media_type=_JSON_LINES, headers={"content-disposition": 'attachment; filename="audit.jsonl"'}
    )


@routes.get("/verify", openapi_extra={"x-tells-all-to": "see_audit"})
def verify_audit(ctx: ReadContext) -> AuditVerificationJson:
    """Verify the audit log.

    Checks the whole hash chain. Needs the right `see_audit`.
    """
    ctx.need("see_audit", ctx.caller.tenant)
    found = ctx.audit.verify()
    return AuditVerificationJson(whole=not found.fault, entries=found.entries, head=found.head, fault=found.fault)


def _export_lines(platform: Platform, caller: Caller, filters: AuditFilter) -> Iterator[bytes]:
    """Yield the log in chunks, each read in a short transaction, so that a slow reader blocks nothing."""
    after = 0
    while True:
        with platform.read(caller) as ctx:
            ctx.need("see_audit", ctx.caller.tenant)
            lines = list(islice(ctx.audit.export(filters, after), _EXPORT_CHUNK))
        if lines:
            yield ("\n".join(lines) + "\n").encode()
        if len(lines) < _EXPORT_CHUNK:
            return
        after = json.loads(lines[-1])["n"]


def _entry_json(line: NumberedEntry) -> AuditEntry:
    return AuditEntry.model_validate({"n": line.n, "hash": line.hash, **asdict(line.entry)})
