"""The caller's sessions."""

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
from lakehold.web.profile import profile_page
from lakehold.web.routing import SubmittedForm, router

routes = router(profile_page.SIGN_INS)

COLUMNS = [
    ListColumn("Browser", "where"),
    ListColumn("Method", wide=True),
    ListColumn("IP address", wide=True),
    ListColumn("Signed in", "since", wide=True),
    ListColumn("Last used", "used"),
]
_METHODS = {"password": "Password", "link": "Link", "invite": "Invite"}


@dataclass(frozen=True, slots=True)
class SignInRow:
    """One session, with a label for its browser."""

    found: SignIn
    device: str
    method: str
    action: PageAction


@routes.get("")
def sign_ins_page(request: Request, ctx: ReadContext) -> Response:
    """Show all sessions, the current one first."""
    listing = ListState.from_request(request, sorts=("-used", "where", "since"))
    rows = _sign_in_rows(listing, sign_ins.list_of_member(ctx, ctx.caller.member))
    values: dict[str, object] = {
        "listing": listing,
        "columns": COLUMNS,
        "rows": listing.slice_page(rows),
        "total": len(rows),
        "others": [row for row in rows if not row.found.current],
    }
    return profile_page.render_tab(request, ctx, "sign_ins.html", values, at=profile_page.SIGN_INS)


@routes.post("/end")
def end_all_others(request: Request, ctx: WriteContext, sent: SubmittedForm) -> Response:
    """End all sessions except the current one."""
    here = ctx.caller.sign_in_id
    question = "Sign out everywhere else?"
    text = "Only this browser stays signed in. API tokens keep working."
    if confirmation := confirm(request, sent, question, text, do="Sign out", back=profile_page.SIGN_INS):
        return confirmation
    ended = sign_ins.end_all(ctx, ctx.caller.member, but=here)
    return pages.redirect(
        request, profile_page.SIGN_INS, Flash(f"{format_count(ended, 'sign-in')} ended. Only this one is left.")
    )


@routes.post("/{sign_in}/end")
def end_one(request: Request, ctx: WriteContext, sign_in: str) -> Response:
    """End one session. Ending the current one signs out."""
    ended = _device_name(ctx, sign_in)
    sign_ins.end(ctx, ctx.caller.member, sign_in)
    if sign_in == ctx.caller.sign_in_id:
        return pages.redirect(request, "/sign-in", Flash("You were signed out."))
    return pages.redirect(request, profile_page.SIGN_INS, Flash(f"{ended} was signed out."))


def _sign_in_rows(listing: ListState, found: list[SignIn]) -> list[SignInRow]:
    rows = [
        SignInRow(
            each,
            describe_user_agent(each.agent),
            _METHODS.get(each.method, each.method.capitalize()),
            PageAction("Sign out", f"{profile_page.SIGN_INS}/{each.id}/end", method="post", icon="log-out"),
        )
        for each in found
    ]
    search_text = fold_name(listing.search)
    rows = [row for row in rows if search_text in fold_name(f"{row.device} {row.found.address} {row.method}")]
    keys = {
        "where": lambda row: fold_name(row.device),
        "since": lambda row: row.found.made_at,
        "used": lambda row: row.found.used_at,
    }
    rows.sort(key=keys[listing.sort], reverse=listing.descending)
    return sorted(rows, key=lambda row: not row.found.current)


def _device_name(ctx: RequestContext, sign_in: str) -> str:
    found = sign_ins.list_of_member(ctx, ctx.caller.member)
    return next((describe_user_agent(each.agent) for each in found if each.id == sign_in), "")


_BROWSERS = {
    "Edg/": "Edge",
    "OPR/": "Opera",
    "Firefox/": "Firefox",
    "Chrome/": "Chrome",
    "Safari/": "Safari",
    "curl/": "curl",
}
_SYSTEMS = {
    "iPhone": "iPhone",
    "iPad": "iPad",
    "Android": "Android",
    "Windows": "Windows",
    "Mac OS": "Mac",
    "Linux": "Linux",
}
_MAX_LENGTH = 40


def describe_user_agent(agent: str) -> str:
    """Return a label such as `Firefox on Linux`."""
    browser = next((name for mark, name in _BROWSERS.items() if mark in agent), "")
    system = next((name for mark, name in _SYSTEMS.items() if mark in agent), "")
    if not browser:
        return agent[:_MAX_LENGTH] or "Something unknown"
    return f"{browser} on {system}" if system else browser
