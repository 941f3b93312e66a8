"""Where one is signed in."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import Request, Response

from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.directory import sign_ins
from lakehold.directory.request_context import RequestContext
from lakehold.directory.sign_ins import SignIn
from lakehold.kit.ids import fold_name
from lakehold.web import pages
from lakehold.web.components import PageAction
from lakehold.web.confirmation import confirm
from lakehold.web.cookies import Flash
from lakehold.web.labels import format_count
from lakehold.web.list_view import ListColumn, ListState
from lakehold.web.profile import devices, own
from lakehold.web.routing import SubmittedForm, router

routes = router(own.SIGN_INS)

COLUMNS = [
    ListColumn("Where", "where"),
    ListColumn("With", wide=True),
    ListColumn("From", wide=True),
    ListColumn("Since", "since", wide=True),
    ListColumn("Last used", "used"),
]
_METHODS = {"password": "Password", "link": "Link", "invite": "Invite"}


@dataclass(frozen=True, slots=True)
class Row:
    """One browser."""

    found: SignIn
    device: str
    method: str
    action: PageAction


@routes.get("")
def sign_ins_page(request: Request, ctx: ReadContext) -> Response:
    """All of them, this one first."""
    listing = ListState.from_request(request, sorts=("-used", "where", "since"))
    rows = _rows(listing, sign_ins.list_of_member(ctx, ctx.caller.member))
    values: dict[str, object] = {
        "listing": listing,
        "columns": COLUMNS,
        "rows": listing.slice_page(rows),
        "total": len(rows),
        "others": [row for row in rows if not row.found.current],
    }
    return own.page(request, ctx, "sign_ins.html", values, at=own.SIGN_INS)


@routes.post("/end")
def end_all_others(request: Request, ctx: WriteContext, sent: SubmittedForm) -> Response:
    """Stay signed in here alone."""
    here = ctx.caller.sign_in_id
    question = "Sign out everywhere else?"
    text = "Only this browser stays signed in. API tokens go on working."
    if asked := confirm(request, sent, question, text, do="Sign out", back=own.SIGN_INS):
        return asked
    ended = sign_ins.end_all(ctx, ctx.caller.member, but=here)
    return pages.redirect(
        request, own.SIGN_INS, Flash(f"{format_count(ended, 'sign-in')} ended. Only this one is left.")
    )


@routes.post("/{sign_in}/end")
def end_one(request: Request, ctx: WriteContext, sign_in: str) -> Response:
    """Sign out in one browser. In this one, that is the way out."""
    ended = _named(ctx, sign_in)
    sign_ins.end(ctx, ctx.caller.member, sign_in)
    if sign_in == ctx.caller.sign_in_id:
        return pages.redirect(request, "/sign-in", Flash("You are signed out."))
    return pages.redirect(request, own.SIGN_INS, Flash(f"{ended} is signed out."))


def _rows(listing: ListState, found: list[SignIn]) -> list[Row]:
    rows = [
        Row(each, devices.spoken(each.agent), _METHODS.get(each.method, each.method.capitalize()), _end(each))
        for each in found
    ]
    wanted = fold_name(listing.search)
    rows = [row for row in rows if wanted in fold_name(f"{row.device} {row.found.address} {row.method}")]
    keys = {
        "where": lambda row: fold_name(row.device),
        "since": lambda row: row.found.made_at,
        "used": lambda row: row.found.used_at,
    }
    rows.sort(key=keys[listing.sort], reverse=listing.descending)
    return sorted(rows, key=lambda row: not row.found.current)


def _end(each: SignIn) -> PageAction:
    return PageAction("Sign out", f"{own.SIGN_INS}/{each.id}/end", method="post", icon="log-out")


def _named(ctx: RequestContext, sign_in: str) -> str:
    found = sign_ins.list_of_member(ctx, ctx.caller.member)
    return next((devices.spoken(each.agent) for each in found if each.id == sign_in), "")
