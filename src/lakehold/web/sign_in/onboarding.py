"""Onboarding: the first run, and accepting invites.

In the first run whoever has the printed secret names the tenant, becomes its Owner, and chooses to start empty or with
the demo company. An invite is accepted by a new member, who chooses a name and a password, or by a member who is
signed in.
"""

from __future__ import annotations

from urllib.parse import quote, urlencode

from fastapi import Request, Response

from lakehold import workspaces
from lakehold.api.directory.sign_in import CurrentClient
from lakehold.api.http.dependencies import CurrentPlatform, WriteContext, retry_when_busy
from lakehold.demo import activity, company
from lakehold.directory import invite_acceptance, passwords, tenants
from lakehold.directory.accounts import email_key, valid_email
from lakehold.directory.authentication import PasswordMethod, sign_in
from lakehold.directory.errors import UnauthorizedError
from lakehold.directory.invite_acceptance import InviteInfo
from lakehold.directory.platform import Platform
from lakehold.directory.tenants import TenantSetup
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.ids import valid_name
from lakehold.web import pages
from lakehold.web.cookies import Flash
from lakehold.web.form_values import FieldErrors, collect_errors, text_field
from lakehold.web.routing import SubmittedForm, router
from lakehold.web.sign_in import session_flow
from lakehold.web.sign_in.session_flow import expired_link_page, refusal_page, render_bare

routes = router()

EMPTY, DEMO = "empty", "demo"
_FIRST_RUN_FIELDS = ("tenant", "name", "email", "start")


@routes.get("/first-run/{secret}")
def first_run_page(request: Request, platform: CurrentPlatform, secret: str) -> Response:
    """Show the first-run form to whoever has the secret."""
    return _refused_page(request, platform, secret) or _first_run_form(request, secret, {"start": EMPTY})


@routes.post("/first-run/{secret}")
def set_up(
    request: Request, platform: CurrentPlatform, visit: CurrentClient, secret: str, sent: SubmittedForm
) -> Response:
    """Create the tenant and its Owner, and sign the Owner in."""
    if refusal := _refused_page(request, platform, secret):
        return refusal
    filled = {name: text_field(sent, name).strip() for name in _FIRST_RUN_FIELDS}
    password = text_field(sent, "password")
    if errors := _first_run_errors(filled, password):
        return _first_run_form(request, secret, filled, errors)
    demo = filled["start"] == DEMO
    # The demo company knows itself by its id; what it is called is up to the Owner.
    uid = company.TENANT if demo else ""
    tenant_setup = TenantSetup(filled["tenant"], filled["name"], filled["email"], password, uid)
    try:
        founded = retry_when_busy(
            lambda: tenants.create_first_tenant(platform, workspaces.models(), tenant_setup, visit)
        )
    except ConflictError:
        return _already_set_up_page(request)
    if demo:
        company.load_facts(platform.access)
        activity.add_activity(platform)
    method = PasswordMethod(filled["email"], password, founded.tenant)
    signed_in = retry_when_busy(lambda: sign_in(platform, method, visit))
    flash = Flash(f"{tenant_setup.name} is set up, and you are its Owner.")
    return session_flow.start_session(request, platform, visit, signed_in, to="/", flash=flash)


def _refused_page(request: Request, platform: Platform, secret: str) -> Response | None:
    try:
        tenants.need_setup_secret(platform, secret)
    except UnauthorizedError as error:
        return refusal_page(request, "Invalid link", error)
    return None if tenants.is_setup_open(platform) else _already_set_up_page(request)


def _already_set_up_page(request: Request) -> Response:
    words = "This installation already has an Owner. Sign in, or ask them for an invite."
    return expired_link_page(request, "Already set up", words, status=409)


def _first_run_errors(filled: dict[str, str], password: str) -> FieldErrors:
    name, email = filled["name"], filled["email"]
    return collect_errors(
        tenant=lambda: valid_name(filled["tenant"], "name"),
        name=lambda: valid_name(name, "name"),
        email=lambda: _check_email(email, filled["start"]),
        password=lambda: passwords.valid_password(password, name, email),
    )


def _check_email(email: str, start: str) -> None:
    valid_email(email)
    if start == DEMO and email_key(email).endswith(f"@{activity.MAIL_DOMAIN}"):
        raise InvalidInputError("This is an address of the demo company.", "Use your own.")


def _first_run_form(
    request: Request, secret: str, filled: dict[str, str], errors: FieldErrors | None = None
) -> Response:
    values: dict[str, object] = {"secret": secret, "filled": filled, "faults": errors or {}}
    return render_bare(request, "first_run.html", values, status=422 if errors else 200)


@routes.get("/invite/{secret}")
def invite_page(request: Request, platform: CurrentPlatform, secret: str) -> Response:
    """Show what an invite is for and how to accept it."""
    try:
        return _invite_form(request, platform, secret, invite_acceptance.get_info(platform, secret))
    except UnauthorizedError as error:
        return _expired_invite(request, error)


@routes.post("/invite/{secret}")
def accept_as_new_member(
    request: Request, platform: CurrentPlatform, visit: CurrentClient, secret: str, sent: SubmittedForm
) -> Response:
    """Create a member from an invite, and sign them in."""
    name, password = text_field(sent, "name").strip(), text_field(sent, "password")
    try:
        found = invite_acceptance.get_info(platform, secret)
        errors = collect_errors(
            name=lambda: valid_name(name, "name"),
            password=lambda: passwords.valid_password(password, name, found.email),
        )
        if errors:
            return _invite_form(request, platform, secret, found, name=name, errors=errors)
        signed_in = retry_when_busy(lambda: invite_acceptance.accept(platform, secret, name, password, visit))
    except UnauthorizedError as error:
        return _expired_invite(request, error)
    flash = Flash(f"Welcome to {found.tenant_name}.")
    return session_flow.start_session(request, platform, visit, signed_in, to="/", flash=flash)


@routes.post("/invite/{secret}/accept")
def accept_as_member(request: Request, ctx: WriteContext, secret: str) -> Response:
    """Accept an invite as the member who is signed in."""
    invite_acceptance.accept_as_member(ctx, secret)
    return pages.redirect(request, "/", "You have accepted the invite.")


def _invite_form(
    request: Request,
    platform: Platform,
    secret: str,
    found: InviteInfo,
    *,
    name: str = "",
    errors: FieldErrors | None = None,
) -> Response:
    guest = session_flow.current_member(request, platform)
    path = f"/invite/{quote(secret, safe='')}"
    values: dict[str, object] = {
        "invite": found,
        "path": path,
        "guest": guest,
        "is_mine": guest is not None
        and found.has_account
        and guest.tenant == found.tenant
        and email_key(guest.email) == email_key(found.email),
        "sign_in": f"/sign-in?{urlencode({'next': path, 'tenant': found.tenant})}",
        "name": name,
        "faults": errors or {},
    }
    return render_bare(request, "invite.html", values, status=422 if errors else 200)


def _expired_invite(request: Request, error: UnauthorizedError) -> Response:
    return refusal_page(request, "This invite has expired", error)
