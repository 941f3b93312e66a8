"""The audit log: a page of it, all of it, and whether it is whole."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Annotated, Literal

from fastapi import Depends, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import Field

from lakehold.api.frame.models import Answer, IdText, Time, Word, time_of
from lakehold.api.frame.paging import Page, Paged
from lakehold.api.frame.routes import router
from lakehold.api.frame.works import Reading, house_of
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import to_moment
from lakehold.ledger.audit import AuditFilter, NumberedEntry

routes = router("/api/v1/access/audit", "Audit log")

_AT_ONCE = 1_000
_JSON_LINES = "application/jsonl"
Outcome = Literal["done", "denied"]


class AuditEntry(Answer):
    """One line of the log."""

    n: int = Field(description="Its number.")
    at: Time
    member: str = Field(examples=["ana"], description="The id of who did it; empty for the installation itself.")
    member_name: str = Field(examples=["Ana, Analyst"])
    action: str = Field(examples=["grant"])
    resource: str = Field(examples=["orders"])
    resource_name: str = Field(examples=["orders"])
    kind: str = Field(examples=["lakehouse.table"])
    outcome: str = Field(examples=["done"])
    token: str = Field(examples=[""], description="The API token's id, if it was done through one.")
    viewing_as: str = Field(examples=[""], description="Whose eyes the member saw with.")
    request: str = Field(examples=["5f0c3f1de1a44d54"])
    address: str = Field(examples=["127.0.0.1"])
    before: dict[str, object] = Field(examples=[{}])
    after: dict[str, object] = Field(examples=[{"role": "viewer", "subject": "bob"}])
    reason: str = Field(examples=[""])
    hash: str = Field(examples=["9f86d081884c7d65"])


class AuditVerdict(Answer):
    """What a look at the whole chain found."""

    whole: bool
    entries: int
    head: str = Field(examples=["9f86d081884c7d65"])
    fault: str = Field(examples=[""], description="Empty if nothing was altered, removed, reordered or cut off.")


async def _filter(
    member: Annotated[IdText | None, Query(description="Who did it.")] = None,
    resource: Annotated[IdText | None, Query(description="To what.")] = None,
    action: Annotated[Word | None, Query(description="What they did.")] = None,
    outcome: Annotated[Outcome | None, Query(description="Whether it was done or denied.")] = None,
    since: Annotated[Time | None, Query(description="From this moment on.")] = None,
    until: Annotated[Time | None, Query(description="Before this moment.")] = None,
) -> AuditFilter:
    return AuditFilter(
        member=member,
        resource=resource,
        action=action,
        outcome=outcome,
        since=None if since is None else to_moment(since),
        until=None if until is None else to_moment(until),
    )


Wanted = Annotated[AuditFilter, Depends(_filter)]


@routes.get("", openapi_extra={"x-tells-all-to": "see_audit"})
def list_audit_entries(ctx: Reading, paged: Paged, wanted: Wanted) -> Page[AuditEntry]:
    """The audit log, the newest entries first.

    Needs the right `see_audit`.
    """
    need_audit(ctx)
    of = f"audit {wanted}"
    behind = paged.start(of, int)
    before = None if behind is None else int(behind[0])
    found = ctx.audit.page(wanted, before=before, limit=paged.limit + 1)
    return paged.page(of, found, lambda line: (line.n,), _told)


@routes.get(
    "/export",
    response_class=StreamingResponse,
    openapi_extra={"x-tells-all-to": "see_audit"},
    responses={200: {"description": "JSON lines", "content": {_JSON_LINES: {"schema": {"type": "string"}}}}},
)
def export_audit(ctx: Reading, request: Request, wanted: Wanted) -> Response:
    """The whole audit log as JSON lines, the oldest entries first.

    Needs the right `see_audit`, all the way through: who loses it meanwhile gets no more.
    """
    need_audit(ctx)
    lines = _lines(house_of(request), ctx.caller, wanted)
    return StreamingResponse(
        lines, media_type=_JSON_LINES, headers={"content-disposition": 'attachment; filename="audit.jsonl"'}
    )


@routes.get("/verify", openapi_extra={"x-tells-all-to": "see_audit"})
def verify_audit(ctx: Reading) -> AuditVerdict:
    """Is the audit log whole?

    Walks the whole chain. Needs the right `see_audit`.
    """
    need_audit(ctx)
    found = ctx.audit.verify()
    return AuditVerdict(whole=not found.fault, entries=found.entries, head=found.head, fault=found.fault)


def need_audit(ctx: RequestContext) -> None:
    """Refuse whoever may not see the log."""
    ctx.need("see_audit", ctx.caller.tenant)


def _lines(platform: Platform, caller: Caller, wanted: AuditFilter) -> Iterator[bytes]:
    """Some at a time, each time in a short transaction: a slow reader holds nothing up."""
    after = 0
    while True:
        with platform.read(caller) as ctx:
            need_audit(ctx)
            lines = list(islice(ctx.audit.export(wanted, after), _AT_ONCE))
        if lines:
            yield ("\n".join(lines) + "\n").encode()
        if len(lines) < _AT_ONCE:
            return
        after = json.loads(lines[-1])["n"]


def _told(line: NumberedEntry) -> AuditEntry:
    entry = line.entry
    return AuditEntry(
        n=line.n,
        at=time_of(entry.at),
        member=entry.member,
        member_name=entry.member_name,
        action=entry.action,
        resource=entry.resource,
        resource_name=entry.resource_name,
        kind=entry.kind,
        outcome=entry.outcome,
        token=entry.token,
        viewing_as=entry.viewing_as,
        request=entry.request,
        address=entry.address,
        before=dict(entry.before),
        after=dict(entry.after),
        reason=entry.reason,
        hash=line.hash,
    )
