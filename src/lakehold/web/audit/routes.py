"""The audit log: the newest first, one entry, and whether it is whole."""

from __future__ import annotations

from fastapi import Request, Response

from lakehold.api.http.dependencies import ReadContext
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import NotFoundError
from lakehold.ledger.audit import AuditFilter
from lakehold.web import pages
from lakehold.web.audit import asking, telling
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
    """The log, as the address filters it."""
    _need(ctx)
    asked = asking.asked(request, ctx)
    found = [] if asked.errors else ctx.audit.page(asked.wanted, before=_number(asked.listing.after), limit=_SIZE + 1)
    shown = found[:_SIZE]
    values: dict[str, object] = {
        "asked": asked,
        "listing": asked.listing,
        "columns": _COLUMNS,
        "lines": telling.lines(ctx, shown),
        "after": str(shown[-1].n) if len(found) > _SIZE else "",
        "outcomes": asking.OUTCOMES,
        "common": _COMMON,
    }
    return pages.render(request, "audit/list.html", values)


@routes.get("/verify")
def verify_page(request: Request, ctx: ReadContext) -> Response:
    """Walk the whole chain, and say what was found."""
    _need(ctx)
    return pages.render(request, "audit/verify.html", {"verdict": ctx.audit.verify(), "crumbs": _crumbs(ctx, "Verify")})


@routes.get("/{seq}")
def entry_page(request: Request, ctx: ReadContext, seq: str) -> Response:
    """One entry: everything that was written down."""
    _need(ctx)
    n = _number(seq)
    found = [] if n is None else ctx.audit.page(AuditFilter(), before=n + 1, limit=1)
    if not found or found[0].n != n:
        raise NotFoundError("There is no such entry in the audit log.", "Look its number up in the log.")
    (line,) = telling.lines(ctx, found)
    return pages.render(request, "audit/entry.html", {"line": line, "crumbs": _crumbs(ctx, f"Entry {n}")})


def _need(ctx: RequestContext) -> None:
    ctx.need("see_audit", ctx.caller.tenant)


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < len(str(_LARGEST)) else None


def _crumbs(ctx: RequestContext, here: str) -> list[Breadcrumb]:
    tenant = ctx.view.names.get(ctx.view.resource(ctx.caller.tenant)) or "Home"
    return [Breadcrumb(tenant, "/"), Breadcrumb("Audit log", "/audit"), Breadcrumb(here)]
