"""Endpoints of the audit log, of changes and of reads. Read, export, verify, and the heads to keep elsewhere."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from itertools import islice
from typing import Annotated, Literal

from fastapi import Depends, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import Field

from lakehold.api.http.dependencies import CurrentPlatform, ReadContext, get_platform
from lakehold.api.http.models import IdText, ItemsResponse, RecordTime, ResponseModel, Time, Word
from lakehold.api.http.paging import PageParams, PageResponse
from lakehold.api.http.routing import make_router
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import to_moment
from lakehold.ledger.anchor import ChainHead, head_fault
from lakehold.ledger.audit import AuditFilter, AuditLog, NumberedEntry

routes = make_router("/api/v1/access/audit", "Audit log")

_EXPORT_CHUNK = 1_000
_JSON_LINES = "application/jsonl"
AuditOutcome = Literal["done", "denied"]
LogName = Annotated[
    Literal["changes", "reads"],
    Query(description="changes: what was done, and what was denied; reads: who read which tables and files."),
]


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


class AuditHeadJson(ResponseModel):
    """The last entry of a log. Kept elsewhere, it proves later that nothing before it was cut off or replaced."""

    log: str = Field(examples=["changes"])
    entries: int = Field(description="Its number.")
    head: str = Field(examples=["9f86d081884c7d65"], description="Its hash.")


class AuditVerificationJson(AuditHeadJson):
    """The result of verifying a whole chain."""

    whole: bool
    fault: str = Field(examples=[""], description="Empty if nothing was altered, removed, reordered or cut off.")
    anchored: int = Field(description="Up to which entry the anchor outside the database confirms it; 0 without one.")
    anchored_at: RecordTime | None = Field(description="When the anchor was written.")


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
def list_audit_entries(
    ctx: ReadContext, paged: PageParams, filters: AuditFilterParams, log: LogName = "changes"
) -> PageResponse[AuditEntry]:
    """List audit log entries, newest first.

    A read is also found by each table that its query read. Needs the right `see_audit`.
    """
    ctx.need("see_audit", ctx.caller.tenant)
    list_name = f"audit {log} {filters}"
    found = _log_named(ctx, log).page(filters, before=paged.start_after(list_name, int), limit=paged.limit + 1)
    return paged.build_page(list_name, found, lambda line: (line.n,), _entry_json)


@routes.get(
    "/export",
    response_class=StreamingResponse,
    openapi_extra={"x-tells-all-to": "see_audit"},
    responses={200: {"description": "JSON lines", "content": {_JSON_LINES: {"schema": {"type": "string"}}}}},
)
def export_audit(ctx: ReadContext, request: Request, filters: AuditFilterParams, log: LogName = "changes") -> Response:
    """Export the whole audit log as JSON lines, oldest first.

    Needs the right `see_audit` until the end: a caller who loses it meanwhile gets no more.
    """
    ctx.need("see_audit", ctx.caller.tenant)
    lines = _export_lines(get_platform(request), ctx.caller, filters, log)
    name = "audit.jsonl" if log == "changes" else "reads.jsonl"
    return StreamingResponse(
        lines, media_type=_JSON_LINES, headers={"content-disposition": f'attachment; filename="{name}"'}
    )


@routes.get("/verify", openapi_extra={"x-tells-all-to": "see_audit"})
def verify_audit(
    ctx: ReadContext,
    platform: CurrentPlatform,
    log: LogName = "changes",
    entries: Annotated[int, Query(ge=0, description="The number of an entry whose hash was kept elsewhere.")] = 0,
    head: Annotated[str, Query(pattern=r"^([0-9a-f]{64})?$", description="That hash.", examples=["9f86d081" * 8])] = "",
) -> AuditVerificationJson:
    """Verify the audit log.

    Checks the whole hash chain, compares it with the anchor that this server keeps outside of the database, and with
    a head that you have kept, if you send one. Needs the right `see_audit`.
    """
    ctx.need("see_audit", ctx.caller.tenant)
    chain = _log_named(ctx, log)
    found = platform.anchors.verify(chain)
    kept = ChainHead(chain.tenant_uid, chain.chain.name, entries, head, 0)
    fault = found.fault or (head_fault(chain, kept, "The head that was kept") if head else "")
    values = {**asdict(found), "anchored_at": found.anchored_at or None, "fault": fault}
    return AuditVerificationJson.model_validate({**values, "log": log, "whole": not fault})


@routes.get("/head", openapi_extra={"x-tells-all-to": "see_audit"})
def list_audit_heads(ctx: ReadContext) -> ItemsResponse[AuditHeadJson]:
    """Return the last entry of each log, to be kept elsewhere and compared later.

    Needs the right `see_audit`.
    """
    ctx.need("see_audit", ctx.caller.tenant)
    seals = {log: _log_named(ctx, log).load_seal() for log in ("changes", "reads")}
    return ItemsResponse[AuditHeadJson](
        items=[AuditHeadJson(log=log, entries=seal.entries, head=seal.head) for log, seal in seals.items() if seal]
    )


def _log_named(ctx: RequestContext, log: str) -> AuditLog:
    return ctx.reads if log == "reads" else ctx.audit


def _export_lines(platform: Platform, caller: Caller, filters: AuditFilter, log: str = "changes") -> Iterator[bytes]:
    """Yield the log in chunks, each read in a short transaction, so that a slow reader blocks nothing."""
    after = 0
    while True:
        with platform.read(caller) as ctx:
            ctx.need("see_audit", ctx.caller.tenant)
            lines = list(islice(_log_named(ctx, log).export(filters, after), _EXPORT_CHUNK))
        if lines:
            yield ("\n".join(lines) + "\n").encode()
        if len(lines) < _EXPORT_CHUNK:
            return
        after = json.loads(lines[-1])["n"]


def _entry_json(line: NumberedEntry) -> AuditEntry:
    return AuditEntry.model_validate({"n": line.n, "hash": line.hash, **asdict(line.entry)})
