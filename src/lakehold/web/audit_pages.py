"""The audit log: the list with its filters (newest first), one entry, and the verification of the hash chain.

Members with the right to see the audit log see all of it, including the names of resources that are hidden from them
elsewhere; but only resources that they may see are links.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TypeVar
from urllib.parse import urlencode

from fastapi import Request, Response

from lakehold.api.http.dependencies import CurrentPlatform, ReadContext
from lakehold.catalog import resources
from lakehold.catalog.resource_view import ResourceSummary, VisibleRefs
from lakehold.directory import members
from lakehold.directory.members import Member
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import SECOND, Moment
from lakehold.kit.errors import InvalidInputError, NotFoundError
from lakehold.kit.ids import fold_name, valid_id
from lakehold.ledger.audit import DENIED, DONE, AuditFilter, AuditLog, AuditLogEntry
from lakehold.web import pages
from lakehold.web.components import FieldChange
from lakehold.web.form_values import parse_day
from lakehold.web.labels import humanize
from lakehold.web.list_view import ListState, parse_row_number
from lakehold.web.routing import router

T = TypeVar("T")

routes = router("/audit")

OUTCOMES = ((DONE, "Done"), (DENIED, "Denied"))
LOGS = (("changes", "Changes"), ("reads", "Reads"))
FIELDS = ("log", "person", "resource", "action", "outcome", "from", "to")
_MAX_LENGTH = 200
_SIZE = 50
_READ_ACTIONS = ("query", "preview", "download", "pull", "load table")
_COMMON = (
    *("create", "rename", "delete", "grant", "revoke", "set", "link", "unlink", "view as", "stop viewing as"),
    *("request access", "approve request", "refuse request", "sign in", "start review", "take review"),
    *("start campaign", "keep role", "remove role", "close campaign", "adopt model", "see"),
)


@routes.get("")
def audit_page(request: Request, ctx: ReadContext) -> Response:
    """Show the log with the filters of the address. Invalid values are reported beside their fields."""
    ctx.need("see_audit", ctx.caller.tenant)
    chosen = {name: request.query_params.get(name, "").strip()[:_MAX_LENGTH] for name in FIELDS}
    chosen["log"] = chosen["log"] if chosen["log"] == "reads" else ""
    listing = ListState(path=request.url.path, after=request.query_params.get("after", ""), chosen=chosen)
    entry_filter, errors = _parse_filter(ctx, chosen)
    log = _log_named(ctx, chosen["log"])
    found = [] if errors else log.page(entry_filter, before=listing.before, limit=_SIZE + 1)
    page_entries = found[:_SIZE]
    values: dict[str, object] = {
        "errors": errors,
        "export": _export_url(entry_filter, chosen["log"]),
        "reads": log is ctx.reads,
        "logs": LOGS,
        "listing": listing,
        "lines": [
            (numbered, _describe_channel(ctx, numbered.entry), _describe_read(ctx, numbered.entry))
            for numbered in page_entries
        ],
        "after": str(page_entries[-1].n) if len(found) > _SIZE else "",
        "outcomes": OUTCOMES,
        "common": _READ_ACTIONS if log is ctx.reads else _COMMON,
    }
    return pages.render(request, "audit/list.html", values)


@routes.get("/verify")
def verify_page(request: Request, ctx: ReadContext, platform: CurrentPlatform) -> Response:
    """Verify both hash chains and show the results."""
    ctx.need("see_audit", ctx.caller.tenant)
    verdicts = [(label, platform.anchors.verify(_log_named(ctx, log))) for log, label in LOGS]
    return pages.render(request, "audit/verify.html", {"verdicts": verdicts})


def _log_named(ctx: RequestContext, log: str) -> AuditLog:
    return ctx.reads if log == "reads" else ctx.audit


@routes.get("/reads/{seq}")
def read_page(request: Request, ctx: ReadContext, seq: str) -> Response:
    """Show one entry of a read with everything that was recorded."""
    return _entry_page(request, ctx, ctx.reads, seq)


@routes.get("/{seq}")
def entry_page(request: Request, ctx: ReadContext, seq: str) -> Response:
    """Show one entry with everything that was recorded."""
    return _entry_page(request, ctx, ctx.audit, seq)


def _entry_page(request: Request, ctx: RequestContext, log: AuditLog, seq: str) -> Response:
    ctx.need("see_audit", ctx.caller.tenant)
    n = parse_row_number(seq)
    found = [] if n is None else log.page(AuditFilter(), before=n + 1, limit=1)
    if not found or found[0].n != n:
        raise NotFoundError("There is no such entry in the audit log.", "Check the number in the log.")
    entry, visible = found[0].entry, VisibleRefs(ctx)
    values: dict[str, object] = {
        "line": found[0],
        "sees_member": visible.sees(entry.member),
        "sees_resource": entry.resource != ctx.caller.tenant and visible.sees(entry.resource),
        "channel": _describe_channel(ctx, entry),
        "changes": field_changes(entry.before, entry.after),
    }
    return pages.render(request, "audit/entry.html", values)


def _parse_filter(ctx: RequestContext, values: Mapping[str, str]) -> tuple[AuditFilter, dict[str, str]]:
    """Return the filter that the fields ask for, and the messages of those that are invalid."""
    errors: dict[str, str] = {}

    def parse(name: str, read: Callable[[str], T]) -> T | None:
        try:
            return read(values[name]) if values[name] else None
        except InvalidInputError as error:
            errors[name] = error.message
            return None

    entry_filter = AuditFilter(
        member=parse("person", lambda text: _parse_id(ctx, text, lambda: members.page(ctx, search=text).items)),
        resource=parse("resource", lambda text: _parse_id(ctx, text, lambda: resources.find(ctx, text).items)),
        action=parse("action", lambda text: valid_id(text, "action")),
        outcome=values["outcome"] if values["outcome"] in dict(OUTCOMES) else None,
        since=parse("from", _parse_day),
        until=parse("to", lambda text: _parse_day(text, after=1)),
    )
    return entry_filter, errors


def _export_url(entry_filter: AuditFilter, log: str) -> str:
    """Return the address of the REST export (JSON lines) with the same filters."""
    times = {"since": _format_time(entry_filter.since), "until": _format_time(entry_filter.until)}
    given = {name: value for name, value in (asdict(entry_filter) | times | {"log": log}).items() if value}
    return "/api/v1/access/audit/export" + (f"?{urlencode(given)}" if given else "")


def _parse_id(ctx: RequestContext, text: str, search: Callable[[], Sequence[Member | ResourceSummary]]) -> str:
    """Return an id for itself, also of what was removed, or for a name that only one has whom the caller may find."""
    if ctx.view.ids.get(valid_id(text)) is not None:
        return text
    found = search()
    exact = [one for one in found if fold_name(one.name) == fold_name(text)]
    if len(exact) == 1 or len(found) == 1:
        return (exact if len(exact) == 1 else found)[0].uid
    if found:
        names = ", ".join(f"{one.name} ({one.uid})" for one in found[:5])
        raise InvalidInputError(f"Several match: {names}.")
    return text


def _parse_day(text: str, after: int = 0) -> Moment:
    return parse_day(text, InvalidInputError("Not a date. Use the format 2031-05-04."), after=after)


def _format_time(at: Moment | None) -> str:
    return "" if at is None else datetime.fromtimestamp(at / SECOND, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def field_changes(before: Mapping[str, object], after: Mapping[str, object]) -> tuple[FieldChange, ...]:
    """Return the differences between two mappings field by field, in their recorded order."""
    names = dict.fromkeys([*before, *after])
    return tuple(FieldChange(humanize(name), _format_value(before, name), _format_value(after, name)) for name in names)


def _describe_channel(ctx: RequestContext, entry: AuditLogEntry) -> str:
    if entry.viewing_as:
        return f"viewing as {_resource_name(ctx, entry.viewing_as)}"
    return "through a token" if entry.token else ""


_MAX_NAMED = 3


def _describe_read(ctx: RequestContext, entry: AuditLogEntry) -> str:
    """Return what was read of the resource: a file, or the tables of a query, the first of them by name."""
    tables = entry.after.get("tables")
    if not isinstance(tables, list):
        return str(entry.after.get("file", ""))
    names = [_resource_name(ctx, str(uid)) for uid in tables[:_MAX_NAMED]]
    more = len(tables) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")


def _resource_name(ctx: RequestContext, uid: str) -> str:
    number = ctx.view.ids.get(uid)
    return (ctx.view.names.get(number) if number is not None else None) or uid


def _format_value(values: Mapping[str, object], name: str) -> str | None:
    match values.get(name):
        case None if name not in values:
            return None
        case str() as value:
            return value
        case bool() as value:
            return "yes" if value else "no"
        case list() as value if all(isinstance(each, str) for each in value):
            return ", ".join(value)
        case value:
            return json.dumps(value, ensure_ascii=False)
