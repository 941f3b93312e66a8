"""Onboarding: the first run, and accepting invites.

In the first run the holder of the printed secret names the tenant, becomes its Owner, and chooses to start empty or
with the demo company. An invite is accepted by a new member, who chooses a name and a password, or by a member who is
signed in.
"""

from urllib.parse import quote, urlencode

from fastapi import Request, Response

from lakehold import workspaces
from lakehold.api.directory.sign_in import CurrentClient
from lakehold.api.http.dependencies import CurrentPlatform, WriteContext, retry_when_busy
from lakehold.demo import activity, company
from lakehold.directory import invite_acceptance, passwords, tenants
from lakehold.directory.accounts import email_key, valid_email
from lakehold.directory.authentication import PasswordMethod, sign_in
from lakehold.directory.caller import ClientInfo
from lakehold.directory.errors import UnauthorizedError
from lakehold.directory.platform import Platform
from lakehold.directory.tenants import TenantSetup
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.ids import valid_name
from lakehold.web import pages
from lakehold.web.cookies import Flash
from lakehold.web.form_values import FieldErrors, collect_errors, text_field
from lakehold.web.routing import FORM_METHODS, SubmittedForm, router
from lakehold.web.sign_in import session_flow
from lakehold.web.sign_in.session_flow import closed_page, render_bare

routes = router()

EMPTY, DEMO = "empty", "demo"
_FIELDS = ("tenant", "name", "email", "start")


@routes.api_route("/first-run/{secret}", methods=FORM_METHODS)
def first_run_page(
    request: Request, platform: CurrentPlatform, visit: CurrentClient, secret: str, sent: SubmittedForm
) -> Response:
    """Show the form to a visitor with the secret; create the tenant and its Owner, and sign the Owner in."""
    if refusal := _refused_page(request, platform, secret):
        return refusal
    filled, errors = {"start": EMPTY}, FieldErrors()
    if request.method == "POST":
        filled, password = {name: text_field(sent, name).strip() for name in _FIELDS}, text_field(sent, "password")
        if not (errors := _first_run_errors(filled, password)):
            return _set_up(request, platform, visit, filled, password)
    return render_bare(request, "first_run.html", {"secret": secret, "filled": filled}, errors=errors)


def _set_up(request: Request, platform: Platform, visit: ClientInfo, filled: dict[str, str], password: str) -> Response:
    demo = filled["start"] == DEMO
    # The demo company knows itself by its id; what it is called is up to the Owner.
    uid = company.TENANT if demo else ""
    tenant_setup = TenantSetup(filled["tenant"], filled["name"], filled["email"], password, uid)
    try:
        founded = retry_when_busy(
            lambda: tenants.create_tenant(platform, workspaces.models(), tenant_setup, first=True, client=visit)
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
        return closed_page(request, "Invalid link", error)
    return None if tenants.is_setup_open(platform) else _already_set_up_page(request)


def _already_set_up_page(request: Request) -> Response:
    words = "This installation already has an Owner. Sign in, or ask them for an invite."
    return closed_page(request, "Already set up", words, status=409)


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


@routes.api_route("/invite/{secret}", methods=FORM_METHODS)
def invite_page(
    request: Request, platform: CurrentPlatform, visit: CurrentClient, secret: str, sent: SubmittedForm
) -> Response:
    """Show what an invite is for and how to accept it; by POST, create a member from it and sign them in."""
    name, password, errors = text_field(sent, "name").strip(), text_field(sent, "password"), FieldErrors()
    try:
        found = invite_acceptance.get_info(platform, secret)
        if request.method == "POST":
            errors = collect_errors(
                name=lambda: valid_name(name, "name"),
                password=lambda: passwords.valid_password(password, name, found.email),
            )
        if request.method == "POST" and not errors:
            signed_in = retry_when_busy(lambda: invite_acceptance.accept(platform, secret, name, password, visit))
            flash = Flash(f"Welcome to {found.tenant_name}.")
            return session_flow.start_session(request, platform, visit, signed_in, to="/", flash=flash)
    except UnauthorizedError as error:
        return closed_page(request, "This invite has expired", error)
    guest, path = session_flow.current_member(request, platform), f"/invite/{quote(secret, safe='')}"
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
    }
    return render_bare(request, "invite.html", values, errors=errors)


@routes.post("/invite/{secret}/accept")
def accept_as_member(request: Request, ctx: WriteContext, secret: str) -> Response:
    """Accept an invite as the member who is signed in."""
    invite_acceptance.accept_as_member(ctx, secret)
    return pages.redirect(request, "/", "You have accepted the invite.")
