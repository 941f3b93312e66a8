"""Routes of the audit log: the list (newest first), one entry, and the verification of the chain."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from fastapi import Request, Response

from lakehold.api.http.dependencies import ReadContext
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import NotFoundError
from lakehold.ledger.audit import DENIED, AuditFilter, AuditLogEntry, NumberedEntry
from lakehold.web import pages, urls
from lakehold.web.audit import filters
from lakehold.web.components import FieldChange
from lakehold.web.labels import humanize, icon_of
from lakehold.web.list_view import ListColumn
from lakehold.web.navigation import Breadcrumb, breadcrumb_trail
from lakehold.web.routing import router


@dataclass(frozen=True, slots=True)
class AuditEntryRow:
    """An audit entry with its labels and links, as pages show it."""

    n: int
    hash: str
    entry: AuditLogEntry
    who: str
    """The name of who did it, as it was then."""
    who_at: str
    """Their page, if there is one to see."""
    what: str
    what_at: str
    icon: str
    deed: str
    denied: bool
    through: str
    """The token or the impersonation through which it was done."""
    changes: tuple[FieldChange, ...]


def entry_rows(ctx: RequestContext, found: list[NumberedEntry]) -> list[AuditEntryRow]:
    """Return the rows of entries for the caller. Only resources that the caller may see are links."""
    eyes = VisibleRefs(ctx)
    return [_entry_row(ctx, eyes, numbered) for numbered in found]


def _entry_row(ctx: RequestContext, eyes: VisibleRefs, numbered: NumberedEntry) -> AuditEntryRow:
    entry = numbered.entry
    return AuditEntryRow(
        n=numbered.n,
        hash=numbered.hash,
        entry=entry,
        who=entry.member_name or entry.member or "The installation",
        who_at=urls.member(entry.member) if entry.member and eyes.sees(entry.member) else "",
        what=entry.resource_name or entry.resource,
        what_at=_resource_address(ctx, eyes, entry),
        icon=icon_of(entry.kind) if entry.kind else "",
        deed=humanize(entry.action),
        denied=entry.outcome == DENIED,
        through=_describe_channel(ctx, entry),
        changes=field_changes(entry.before, entry.after),
    )


def field_changes(before: Mapping[str, object], after: Mapping[str, object]) -> tuple[FieldChange, ...]:
    """Return the differences between two mappings field by field, in their recorded order."""
    names = list(dict.fromkeys([*before, *after]))
    both = ((name, _format_value(before, name), _format_value(after, name)) for name in names)
    return tuple(FieldChange(humanize(name), was, now) for name, was, now in both)


def _resource_address(ctx: RequestContext, eyes: VisibleRefs, entry: AuditLogEntry) -> str:
    if not entry.resource or not eyes.sees(entry.resource):
        return ""
    if entry.resource == ctx.caller.tenant:
        return ""
    return urls.for_kind(entry.resource, entry.kind)


def _describe_channel(ctx: RequestContext, entry: AuditLogEntry) -> str:
    if entry.viewing_as:
        number = ctx.view.ids.get(entry.viewing_as)
        name = ctx.view.names.get(number) if number is not None else None
        return f"viewing as {name or entry.viewing_as}"
    return "through a token" if entry.token else ""


def _format_value(values: Mapping[str, object], name: str) -> str | None:
    if name not in values:
        return None
    value = values[name]
    match value:
        case str():
            return value
        case bool():
            return "yes" if value else "no"
        case list() if all(isinstance(each, str) for each in value):
            return ", ".join(value)
        case _:
            return json.dumps(value, ensure_ascii=False)


routes = router("/audit")

_SIZE = 50
_LARGEST = 2**62
_COLUMNS = (
    ListColumn("Time", wide=True),
    ListColumn("Actor"),
    ListColumn("Action"),
    ListColumn("Resource"),
    ListColumn("Via", wide=True),
)
_COMMON = (
    *("create", "rename", "delete", "grant", "revoke", "set", "link", "unlink", "view as", "stop viewing as"),
    *("request access", "approve request", "refuse request", "sign in", "start review", "take review"),
    *("start campaign", "keep role", "remove role", "close campaign", "adopt model", "see"),
)


@routes.get("")
def audit_page(request: Request, ctx: ReadContext) -> Response:
    """Show the log with the filters of the address."""
    _require_audit_right(ctx)
    list_request = filters.parse_list_request(request, ctx)
    found = (
        []
        if list_request.errors
        else ctx.audit.page(
            list_request.entry_filter, before=_parse_number(list_request.listing.after), limit=_SIZE + 1
        )
    )
    page_entries = found[:_SIZE]
    values: dict[str, object] = {
        "asked": list_request,
        "listing": list_request.listing,
        "columns": _COLUMNS,
        "lines": entry_rows(ctx, page_entries),
        "after": str(page_entries[-1].n) if len(found) > _SIZE else "",
        "outcomes": filters.OUTCOMES,
        "common": _COMMON,
    }
    return pages.render(request, "audit/list.html", values)


@routes.get("/verify")
def verify_page(request: Request, ctx: ReadContext) -> Response:
    """Verify the whole hash chain and show the result."""
    _require_audit_right(ctx)
    return pages.render(
        request, "audit/verify.html", {"verdict": ctx.audit.verify(), "crumbs": _breadcrumbs(ctx, "Verify")}
    )


@routes.get("/{seq}")
def entry_page(request: Request, ctx: ReadContext, seq: str) -> Response:
    """Show one entry with everything that was recorded."""
    _require_audit_right(ctx)
    n = _parse_number(seq)
    found = [] if n is None else ctx.audit.page(AuditFilter(), before=n + 1, limit=1)
    if not found or found[0].n != n:
        raise NotFoundError("There is no such entry in the audit log.", "Check the number in the log.")
    (line,) = entry_rows(ctx, found)
    return pages.render(request, "audit/entry.html", {"line": line, "crumbs": _breadcrumbs(ctx, f"Entry {n}")})


def _require_audit_right(ctx: RequestContext) -> None:
    ctx.need("see_audit", ctx.caller.tenant)


def _parse_number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < len(str(_LARGEST)) else None


def _breadcrumbs(ctx: RequestContext, here: str) -> list[Breadcrumb]:
    return breadcrumb_trail(ctx, Breadcrumb("Audit log", "/audit"), Breadcrumb(here))
