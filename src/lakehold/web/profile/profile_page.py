"""The caller's profile: name, e-mail address, password and theme; and their sessions."""

from collections.abc import Mapping
from urllib.parse import urlencode

from fastapi import Request, Response

from lakehold.api.directory.sign_in import CurrentClient, authenticate_now
from lakehold.api.http.dependencies import CurrentPlatform, ReadContext, WriteContext, get_platform, retry_when_busy
from lakehold.directory import accounts, authentication, links, members, sign_ins
from lakehold.directory.accounts import valid_email
from lakehold.directory.errors import ThrottledError, UnauthorizedError
from lakehold.directory.links import PASSWORD
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.ids import fold_name, valid_name
from lakehold.web import pages
from lakehold.web.confirmation import need_confirmation
from lakehold.web.cookies import Flash
from lakehold.web.form_values import collect_errors, text_field
from lakehold.web.labels import format_count
from lakehold.web.list_view import ListState
from lakehold.web.people.member_page import may_set_email
from lakehold.web.routing import SubmittedForm, router

PROFILE, SIGN_INS, TOKENS = "/profile", "/profile/sign-ins", "/profile/tokens"


def render_tab(
    request: Request,
    ctx: RequestContext,
    template: str,
    values: dict[str, object],
    errors: Mapping[str, str] | None = None,
) -> Response:
    """Render one of the profile pages. An impersonator sees neither the member's profile nor their own."""
    if ctx.caller.impersonator:
        return pages.render(request, "profile/impersonation.html")
    return pages.render_form(request, f"profile/{template}", values, errors)


routes = router(PROFILE)


@routes.get("")
def profile_page(request: Request, ctx: ReadContext) -> Response:
    """Show the caller's profile."""
    return _render_profile(request, ctx)


def _render_profile(
    request: Request,
    ctx: RequestContext,
    filled: Mapping[str, str] | None = None,
    errors: Mapping[str, str] | None = None,
) -> Response:
    me, account = members.get(ctx, ctx.caller.member), accounts.get(ctx, ctx.caller.member)
    email = account.email if account else ""
    values: dict[str, object] = {
        "me": me,
        "filled": {"name": me.name, "email": email, **(filled or {})},
        "email": email,
        "may_set_email": may_set_email(ctx, ctx.caller.member),
        "has_password": bool(account and account.password),
        "mails": bool(email) and links.can_send_mail(get_platform(request).settings),
    }
    return render_tab(request, ctx, "profile.html", values, errors)


@routes.post("")
def save_profile(request: Request, ctx: WriteContext, sent: SubmittedForm) -> Response:
    """Save name and e-mail address."""
    me, account = ctx.caller.member, accounts.get(ctx, ctx.caller.member)
    before = ctx.view.names.get(ctx.view.member(me)) or ""
    name, email = text_field(sent, "name").strip(), text_field(sent, "email").strip()
    errors = collect_errors(name=lambda: valid_name(name), email=lambda: email and valid_email(email))
    if not errors and email and email != (account.email if account else ""):
        # First, for it can be refused: what is refused leaves nothing behind.
        with errors.at("email", ConflictError):
            members.set_email(ctx, me, email)
    if errors:
        return _render_profile(request, ctx, {"name": name, "email": email}, errors)
    if name == before:
        return pages.redirect(request, PROFILE, "Saved.")
    members.rename(ctx, me, name)
    undo = f"{PROFILE}/name?{urlencode({'to': before})}"
    return pages.redirect(request, PROFILE, Flash(f"Your name was changed to {name}.", undo=undo))


@routes.post("/name")
def undo_rename(request: Request, ctx: WriteContext, to: str) -> Response:
    """Undo the change of the name."""
    members.rename(ctx, ctx.caller.member, to)
    return pages.redirect(request, PROFILE, f"Your name was changed back to {to}.")


@routes.post("/password")
def change_password(request: Request, platform: CurrentPlatform, sent: SubmittedForm) -> Response:
    """Replace the password. Hashing is slow and runs outside of any transaction."""
    caller = authenticate_now(request)
    old, new = text_field(sent, "old"), text_field(sent, "new")
    ends = bool(sent.get("revoke_tokens"))
    errors = {}
    try:
        retry_when_busy(lambda: authentication.change_password(platform, caller, old, new, revoke_tokens=ends))
    except UnauthorizedError as error:
        errors["old"] = error.message
    except ThrottledError as error:
        errors["old"] = str(error)
    except InvalidInputError as error:
        errors["new"] = str(error)
    if errors:
        with platform.read(caller) as ctx:
            return _render_profile(request, ctx, errors=errors)
    return pages.redirect(request, PROFILE, "Your password was changed. You were signed out everywhere else.")


@routes.post("/password/link")
def mail_password_link(request: Request, platform: CurrentPlatform, visit: CurrentClient) -> Response:
    """Mail a link to set a password, for members without one."""
    caller = authenticate_now(request)
    with platform.read(caller) as ctx:
        account = accounts.get(ctx, caller.member)
    if account is not None and not caller.impersonator:
        email = account.email
        retry_when_busy(lambda: links.request_link(platform, email, PASSWORD, visit, caller.tenant))
    return pages.redirect(request, PROFILE, "A mail with a link was sent to you.")


_SIGN_IN_KEYS = {
    "where": lambda row: fold_name(row[1]),
    "since": lambda row: row[0].made_at,
    "used": lambda row: row[0].used_at,
}


@routes.get("/sign-ins")
def sign_ins_page(request: Request, ctx: ReadContext) -> Response:
    """Show all sessions, each with a label for its browser, the current one first."""
    listing = ListState.from_request(request, sorts=("-used", "where", "since"))
    found = [(each, describe_user_agent(each.agent)) for each in sign_ins.list_of_member(ctx, ctx.caller.member)]
    rows = listing.select(found, lambda row: f"{row[1]} {row[0].address} {row[0].method}", _SIGN_IN_KEYS)
    rows.sort(key=lambda row: not row[0].current)
    values = {**listing.page_values(rows), "others": any(not each.current for each, _ in rows)}
    return render_tab(request, ctx, "sign_ins.html", values)


@routes.post("/sign-ins/end")
def end_all_others(request: Request, ctx: WriteContext, sent: SubmittedForm) -> Response:
    """End all sessions except the current one."""
    question, text = "Sign out everywhere else?", "Only this browser stays signed in. API tokens keep working."
    need_confirmation(request, sent, question, text, do="Sign out", back=SIGN_INS)
    ended = sign_ins.end_all(ctx, ctx.caller.member, but=ctx.caller.sign_in_id)
    return pages.redirect(request, SIGN_INS, f"{format_count(ended, 'sign-in')} ended. Only this one is left.")


@routes.post("/sign-ins/{sign_in}/end")
def end_one(request: Request, ctx: WriteContext, sign_in: str) -> Response:
    """End one session. Ending the current one signs out."""
    found = sign_ins.list_of_member(ctx, ctx.caller.member)
    ended = next((describe_user_agent(each.agent) for each in found if each.id == sign_in), "")
    sign_ins.end(ctx, ctx.caller.member, sign_in)
    if sign_in == ctx.caller.sign_in_id:
        return pages.redirect(request, "/sign-in", "You were signed out.")
    return pages.redirect(request, SIGN_INS, f"{ended} was signed out.")


_BROWSERS = {"Edg": "Edge", "OPR": "Opera"} | {name: name for name in ("Firefox", "Chrome", "Safari", "curl")}
_SYSTEMS = ("iPhone", "iPad", "Android", "Windows", "Mac", "Linux")
_MAX_LENGTH = 40


def describe_user_agent(agent: str) -> str:
    """Return a label such as `Firefox on Linux`."""
    browser = next((name for mark, name in _BROWSERS.items() if f"{mark}/" in agent), "")
    system = next((name for name in _SYSTEMS if name in agent), "")
    if not browser:
        return agent[:_MAX_LENGTH] or "Something unknown"
    return f"{browser} on {system}" if system else browser
