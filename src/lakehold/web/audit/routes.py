"""Routes of the audit log: the list (newest first), one entry, and the verification of the chain."""

from __future__ import annotations

from fastapi import Request, Response

from lakehold.api.http.dependencies import ReadContext
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import NotFoundError
from lakehold.ledger.audit import AuditFilter
from lakehold.web import pages
from lakehold.web.audit import entries, filters
from lakehold.web.list_view import ListColumn
from lakehold.web.navigation import Breadcrumb
from lakehold.web.routing import router

routes = router("/audit")

_SIZE = 50
_LARGEST = 2**62
_COLUMNS = (
    ListColumn("When", wide=True),
    ListColumn("Who"),
    ListColumn("Did"),
    ListColumn("With"),
    ListColumn("Through", wide=True),
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
        "lines": entries.entry_rows(ctx, page_entries),
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
        raise NotFoundError("There is no such entry in the audit log.", "Look its number up in the log.")
    (line,) = entries.entry_rows(ctx, found)
    return pages.render(request, "audit/entry.html", {"line": line, "crumbs": _breadcrumbs(ctx, f"Entry {n}")})


def _require_audit_right(ctx: RequestContext) -> None:
    ctx.need("see_audit", ctx.caller.tenant)


def _parse_number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < len(str(_LARGEST)) else None


def _breadcrumbs(ctx: RequestContext, here: str) -> list[Breadcrumb]:
    tenant = ctx.view.names.get(ctx.view.resource(ctx.caller.tenant)) or "Home"
    return [Breadcrumb(tenant, "/"), Breadcrumb("Audit log", "/audit"), Breadcrumb(here)]
