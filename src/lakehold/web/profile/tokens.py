"""One's API tokens; for who keeps members, those of service accounts too."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import Request, Response

from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.catalog.resource_view import ResourceRef, VisibleRefs
from lakehold.directory import members, tokens
from lakehold.directory.act_for import MANAGE
from lakehold.directory.members import Member
from lakehold.directory.request_context import RequestContext
from lakehold.directory.tokens import ApiToken
from lakehold.kit.clock import DAY, FOREVER
from lakehold.kit.ids import fold_name
from lakehold.web import pages
from lakehold.web.components import PageAction
from lakehold.web.confirmation import confirm
from lakehold.web.cookies import Flash
from lakehold.web.list_view import ListColumn, ListFilter, ListState
from lakehold.web.profile import own
from lakehold.web.routing import SubmittedForm, router

routes = router(own.TOKENS)

SOON = 14 * DAY
"""When a token is about to end."""
_COLUMNS = (
    ListColumn("Name", "name"),
    ListColumn("May do", wide=True),
    ListColumn("Made", "made", wide=True),
    ListColumn("Last used", "used"),
    ListColumn("Ends", "until"),
)
_WHOSE = ListFilter("whose", "Whose", (("mine", "Mine"), ("service", "Of service accounts")))


@dataclass(frozen=True, slots=True)
class Row:
    """A token as its list shows it."""

    token: ApiToken
    service: str
    """The name of the service account whose it is; empty for one's own."""
    resources: list[ResourceRef] | None
    actions: list[PageAction]


@routes.get("")
def tokens_page(request: Request, ctx: ReadContext) -> Response:
    """All of them."""
    kept = kept_by(ctx)
    sorts = ("-made", "name", "used", "until")
    listing = ListState.from_request(request, sorts=sorts, filters=(_WHOSE,) if kept else ())
    rows = _chosen(listing, _rows(ctx, kept))
    values: dict[str, object] = {
        "listing": listing,
        "columns": _COLUMNS,
        "rows": listing.slice_page(rows),
        "total": len(rows),
        "soon": ctx.at + SOON,
        "forever": FOREVER,
    }
    return own.page(request, ctx, "tokens.html", values, at=own.TOKENS)


@routes.post("/{token}/revoke")
def revoke_token(request: Request, ctx: WriteContext, token: str, sent: SubmittedForm) -> Response:
    """End one at once."""
    found = tokens.get(ctx, token)
    text = "Whatever uses it is refused from now on. This cannot be taken back."
    if asked := confirm(request, sent, f"Revoke {found.name}?", text, do="Revoke", back=own.TOKENS):
        return asked
    tokens.revoke(ctx, found.id)
    return pages.redirect(request, own.TOKENS, Flash(f"{found.name} is revoked."))


def kept_by(ctx: RequestContext) -> list[Member]:
    """The service accounts that the caller keeps."""
    keeps = ctx.session.check(ctx.asker, MANAGE, ctx.caller.tenant)
    return members.list_service_accounts(ctx) if keeps and not ctx.caller.impersonator else []


def _rows(ctx: RequestContext, kept: list[Member]) -> list[Row]:
    eyes = VisibleRefs(ctx)
    found = [(token, "") for token in tokens.list_of_member(ctx, ctx.caller.member)]
    found += [(token, member.name) for member in kept for token in tokens.list_of_member(ctx, member.uid)]
    return [
        Row(token, service, None if token.resources is None else eyes.refs(token.resources), [_revoke(token)])
        for token, service in found
    ]


def _revoke(token: ApiToken) -> PageAction:
    return PageAction(
        "Revoke",
        f"{own.TOKENS}/{token.id}/revoke",
        method="post",
        icon="trash-2",
        danger=True,
        confirm=f"Revoke {token.name}? Whatever uses it is refused from now on.",
    )


def _chosen(listing: ListState, rows: list[Row]) -> list[Row]:
    wanted, whose = fold_name(listing.search), listing.chosen.get("whose", "")
    keys = {
        "name": lambda row: fold_name(row.token.name),
        "made": lambda row: row.token.made_at,
        "used": lambda row: row.token.used_at,
        "until": lambda row: row.token.until,
    }
    fitting = [
        row
        for row in rows
        if wanted in fold_name(f"{row.token.name} {row.token.prefix} {row.service}")
        and whose in {"", "service" if row.service else "mine"}
    ]
    return sorted(fitting, key=keys[listing.sort], reverse=listing.descending)
