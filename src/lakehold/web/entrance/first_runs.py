"""The first run: whoever was told the secret names the tenant, becomes its Owner, and chooses what to begin with."""

from __future__ import annotations

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold import workspaces
from lakehold.api.directory.sign_in import CurrentClient
from lakehold.api.http.dependencies import CurrentPlatform, retry_when_busy
from lakehold.demo import activity, company
from lakehold.directory import passwords, tenants
from lakehold.directory.accounts import email_key, valid_email
from lakehold.directory.authentication import PasswordMethod, sign_in
from lakehold.directory.errors import UnauthorizedError
from lakehold.directory.platform import Platform
from lakehold.directory.tenants import TenantSetup
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.ids import valid_name
from lakehold.web import pages
from lakehold.web.cookies import Flash
from lakehold.web.entrance import doors
from lakehold.web.entrance.faults import Faults, faults, text
from lakehold.web.entrance.shut import refused, shut
from lakehold.web.navigation import Navigation
from lakehold.web.routing import SubmittedForm, router

routes = router("/first-run")

EMPTY, DEMO = "empty", "demo"
_FIELDS = ("tenant", "name", "email", "start")


@routes.get("/{secret}")
def first_run_page(request: Request, platform: CurrentPlatform, secret: str) -> Response:
    """The form, for the first to come who was told the secret."""
    return _shut(request, platform, secret) or _form(request, secret, {"start": EMPTY})


@routes.post("/{secret}")
def set_up(
    request: Request, platform: CurrentPlatform, visit: CurrentClient, secret: str, sent: SubmittedForm
) -> Response:
    """Make the tenant and its Owner, who is signed in at once."""
    if nothing := _shut(request, platform, secret):
        return nothing
    filled, password = {name: text(sent, name).strip() for name in _FIELDS}, text(sent, "password")
    if found := _faults(sent):
        return _form(request, secret, filled, found)
    demo = filled["start"] == DEMO
    # The demo company knows itself by its id; what it is called is up to the Owner.
    uid = company.TENANT if demo else ""
    wanted = TenantSetup(filled["tenant"], filled["name"], filled["email"], password, uid)
    try:
        founded = retry_when_busy(lambda: tenants.create_first_tenant(platform, workspaces.models(), wanted, visit))
    except ConflictError:
        return _done(request)
    if demo:
        company.load_facts(platform.access)
        activity.add_activity(platform)
    method = PasswordMethod(filled["email"], password, founded.tenant)
    signed_in = retry_when_busy(lambda: sign_in(platform, method, visit))
    flash = Flash(f"{wanted.name} is set up, and you are its Owner.")
    return doors.let_in(request, platform, visit, signed_in, to="/", flash=flash)


def _shut(request: Request, platform: Platform, secret: str) -> Response | None:
    try:
        tenants.need_setup_secret(platform, secret)
    except UnauthorizedError as error:
        return refused(request, "This is not the right link", error)
    return None if tenants.is_setup_open(platform) else _done(request)


def _done(request: Request) -> Response:
    words = "Somebody has been here before and is the Owner. Sign in, or ask them for an invite."
    return shut(request, "It is set up already", words, status=409)


def _faults(sent: FormData) -> Faults:
    name, email = text(sent, "name").strip(), text(sent, "email").strip()
    return faults(
        tenant=lambda: valid_name(text(sent, "tenant").strip(), "name"),
        name=lambda: valid_name(name, "name"),
        email=lambda: _address(email, text(sent, "start")),
        password=lambda: passwords.valid_password(text(sent, "password"), name, email),
    )


def _address(email: str, start: str) -> None:
    valid_email(email)
    if start == DEMO and email_key(email).endswith(f"@{activity.MAIL_DOMAIN}"):
        raise InvalidInputError("This is an address of the demo company.", "Use your own.")


def _form(request: Request, secret: str, filled: dict[str, str], found: Faults | None = None) -> Response:
    values: dict[str, object] = {"secret": secret, "filled": filled, "faults": found or {}}
    return pages.render(
        request, "entrance/first_run.html", values, navigation=Navigation(), status=422 if found else 200
    )
