"""The profile page: the caller's name, e-mail address, password and theme."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

from fastapi import Request, Response

from lakehold.api.directory.sign_in import CurrentClient, authenticate_now
from lakehold.api.http.dependencies import CurrentPlatform, ReadContext, WriteContext, get_platform, retry_when_busy
from lakehold.directory import accounts, authentication, links, members
from lakehold.directory.accounts import valid_email
from lakehold.directory.errors import DeniedError, ThrottledError, UnauthorizedError
from lakehold.directory.links import PASSWORD
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.ids import valid_name
from lakehold.web import form_values, pages
from lakehold.web.cookies import Flash
from lakehold.web.form_values import collect_errors, text_field
from lakehold.web.navigation import Breadcrumb, NavLink, breadcrumb_trail
from lakehold.web.pages import THEMES
from lakehold.web.routing import SubmittedForm, router

PROFILE, SIGN_INS, TOKENS = "/profile", "/profile/sign-ins", "/profile/tokens"

TABS = (
    NavLink("You", PROFILE, "user"),
    NavLink("Sign-ins", SIGN_INS, "monitor"),
    NavLink("API tokens", TOKENS, "key-round"),
)


def render_tab(
    request: Request,
    ctx: RequestContext,
    template: str,
    values: dict[str, object],
    *,
    at: str = PROFILE,
    status: int = 200,
) -> Response:
    """Render one of the profile pages. An impersonator sees neither the member's profile nor their own."""
    crumbs = breadcrumb_trail(ctx, Breadcrumb("Profile", PROFILE))
    crumbs += [Breadcrumb(tab.label, tab.href) for tab in TABS if tab.href == at != PROFILE]
    shared: dict[str, object] = {"tabs": TABS, "at": at}
    if ctx.caller.impersonator:
        name = ctx.view.names.get(ctx.view.member(ctx.caller.member)) or ""
        return pages.render(request, "profile/viewing.html", {**shared, "crumbs": crumbs, "name": name})
    return pages.render(request, f"profile/{template}", {"crumbs": crumbs, **shared, **values}, status=status)


routes = router(PROFILE)

_THEMES = {"system": "System", "light": "Light", "dark": "Dark"}


@routes.get("")
def profile_page(request: Request, ctx: ReadContext) -> Response:
    """Show the caller's profile."""
    return render_profile(request, ctx)


def render_profile(
    request: Request,
    ctx: RequestContext,
    *,
    form_values: Mapping[str, str] | None = None,
    errors: Mapping[str, str] | None = None,
) -> Response:
    """Render the page, with submitted values and their errors if there are any."""
    me, account = members.get(ctx, ctx.caller.member), accounts.get(ctx, ctx.caller.member)
    email = account.email if account else ""
    values: dict[str, object] = {
        "me": me,
        "filled": {"name": me.name, "email": email, **(form_values or {})},
        "email": email,
        "may_set_email": _may_set_email(ctx),
        "has_password": bool(account and account.password),
        "mails": bool(email) and links.can_send_mail(get_platform(request).settings),
        "themes": [(theme, _THEMES[theme], "") for theme in THEMES],
        "faults": errors or {},
    }
    return render_tab(request, ctx, "profile.html", values, status=422 if errors else 200)


def _may_set_email(ctx: RequestContext) -> bool:
    """Return whether the caller may change their e-mail address. Its reader could sign in, so not everybody may."""
    try:
        members.need_set_email(ctx, ctx.caller.member)
    except DeniedError:
        return False
    return True


name_routes = router(PROFILE)


@name_routes.post("")
def save_profile(request: Request, ctx: WriteContext, sent: SubmittedForm) -> Response:
    """Save name and e-mail address."""
    me, account = ctx.caller.member, accounts.get(ctx, ctx.caller.member)
    before = ctx.view.names.get(ctx.view.member(me)) or ""
    name, email = text_field(sent, "name").strip(), text_field(sent, "email").strip()
    errors = collect_errors(name=lambda: valid_name(name), email=lambda: email and valid_email(email))
    if not errors and email and email != (account.email if account else ""):
        # First, for it can be refused: what is refused leaves nothing behind.
        try:
            members.set_email(ctx, me, email)
        except ConflictError as error:
            errors = {"email": str(error)}
    if errors:
        return render_profile(request, ctx, form_values={"name": name, "email": email}, errors=errors)
    if name == before:
        return pages.redirect(request, PROFILE, Flash("Saved."))
    members.rename(ctx, me, name)
    undo = f"{PROFILE}/name?{urlencode({'to': before})}"
    return pages.redirect(request, PROFILE, Flash(f"Your name was changed to {name}.", undo=undo))


@name_routes.post("/name")
def undo_rename(request: Request, ctx: WriteContext, to: str) -> Response:
    """Undo the change of the name."""
    members.rename(ctx, ctx.caller.member, to)
    return pages.redirect(request, PROFILE, Flash(f"Your name was changed back to {to}."))


password_routes = router(f"{PROFILE}/password")


@password_routes.post("")
def change_password(request: Request, platform: CurrentPlatform, sent: SubmittedForm) -> Response:
    """Replace the password. Hashing is slow and runs outside of any transaction."""
    caller = authenticate_now(request, platform)
    old, new = form_values.text_field(sent, "old"), form_values.text_field(sent, "new")
    errors = {}
    try:
        retry_when_busy(lambda: authentication.change_password(platform, caller, old, new))
    except UnauthorizedError as error:
        errors["old"] = error.message
    except ThrottledError as error:
        errors["old"] = str(error)
    except InvalidInputError as error:
        errors["new"] = str(error)
    if errors:
        with platform.read(caller) as ctx:
            return render_profile(request, ctx, errors=errors)
    return pages.redirect(request, PROFILE, Flash("Your password was changed. You were signed out everywhere else."))


@password_routes.post("/link")
def mail_password_link(request: Request, platform: CurrentPlatform, visit: CurrentClient) -> Response:
    """Mail a link to set a password, for members without one."""
    caller = authenticate_now(request, platform)
    with platform.read(caller) as ctx:
        account = accounts.get(ctx, caller.member)
    if account is not None and not caller.impersonator:
        email = account.email
        retry_when_busy(lambda: links.request_link(platform, email, PASSWORD, visit, caller.tenant))
    return pages.redirect(request, PROFILE, Flash("A mail with a link was sent to you."))
