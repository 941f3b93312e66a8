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
from lakehold.web import pages
from lakehold.web.cookies import Flash
from lakehold.web.pages import THEMES
from lakehold.web.profile import profile_tabs
from lakehold.web.routing import SubmittedForm, router
from lakehold.web.sign_in import form_errors
from lakehold.web.sign_in.form_errors import collect_errors, text_field

routes = router(profile_tabs.PROFILE)

_THEMES = {"system": "As the system", "light": "Light", "dark": "Dark"}


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
    return profile_tabs.render_tab(request, ctx, "profile.html", values, status=422 if errors else 200)


def _may_set_email(ctx: RequestContext) -> bool:
    """Return whether the caller may change their e-mail address. Its reader could sign in, so not everybody may."""
    try:
        members.need_set_email(ctx, ctx.caller.member)
    except DeniedError:
        return False
    return True


name_routes = router(profile_tabs.PROFILE)


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
            errors = {"email": f"{error.message} {error.hint}"}
    if errors:
        return render_profile(request, ctx, form_values={"name": name, "email": email}, errors=errors)
    if name == before:
        return pages.redirect(request, profile_tabs.PROFILE, Flash("Saved."))
    members.rename(ctx, me, name)
    undo = f"{profile_tabs.PROFILE}/name?{urlencode({'to': before})}"
    return pages.redirect(request, profile_tabs.PROFILE, Flash(f"You are called {name} now.", undo=undo))


@name_routes.post("/name")
def undo_rename(request: Request, ctx: WriteContext, to: str) -> Response:
    """Undo the change of the name."""
    members.rename(ctx, ctx.caller.member, to)
    return pages.redirect(request, profile_tabs.PROFILE, Flash(f"You are called {to} again."))


password_routes = router(f"{profile_tabs.PROFILE}/password")


@password_routes.post("")
def change_password(request: Request, platform: CurrentPlatform, sent: SubmittedForm) -> Response:
    """Replace the password. Hashing is slow and runs outside of any transaction."""
    caller = authenticate_now(request, platform)
    old, new = form_errors.text_field(sent, "old"), form_errors.text_field(sent, "new")
    errors = {}
    try:
        retry_when_busy(lambda: authentication.change_password(platform, caller, old, new))
    except UnauthorizedError as error:
        errors["old"] = error.message
    except ThrottledError as error:
        errors["old"] = f"{error.message} {error.hint}"
    except InvalidInputError as error:
        errors["new"] = form_errors.error_text(error)
    if errors:
        with platform.read(caller) as ctx:
            return render_profile(request, ctx, errors=errors)
    return pages.redirect(
        request, profile_tabs.PROFILE, Flash("Your password is changed. Everywhere else you are signed out.")
    )


@password_routes.post("/link")
def mail_password_link(request: Request, platform: CurrentPlatform, visit: CurrentClient) -> Response:
    """Mail a link to set a password, for members without one."""
    caller = authenticate_now(request, platform)
    with platform.read(caller) as ctx:
        account = accounts.get(ctx, caller.member)
    if account is not None and not caller.impersonator:
        email = account.email
        retry_when_busy(lambda: links.request_link(platform, email, PASSWORD, visit, caller.tenant))
    return pages.redirect(request, profile_tabs.PROFILE, Flash("A mail with a link is on its way to you."))
