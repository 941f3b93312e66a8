"""Endpoints of the first run, sign-in and sign-out, and the session cookie."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Annotated, Literal

from fastapi import Depends, Request, Response
from pydantic import Field, PrivateAttr

from lakehold import workspaces
from lakehold.api.directory.schemas import EmailText, NewPassword, PathSecret, SecretText, TypedPassword
from lakehold.api.http.authentication import SESSION_COOKIE, get_client_info, make_csrf_token
from lakehold.api.http.dependencies import CurrentPlatform, WriteContext, read_transaction, retry_when_busy
from lakehold.api.http.models import IdText, NameText, RecordTime, RequestModel, ResponseModel
from lakehold.api.http.routing import make_router, problem_responses
from lakehold.directory import authentication, links, sign_ins, tenants
from lakehold.directory.authentication import MagicLinkMethod, PasswordMethod, sign_in
from lakehold.directory.caller import Caller, ClientInfo
from lakehold.directory.platform import Platform
from lakehold.directory.sign_ins import CreatedSignIn
from lakehold.directory.tenants import TenantSetup
from lakehold.kit.clock import SECOND
from lakehold.kit.errors import ConflictError
from lakehold.kit.ids import MAX_ID
from lakehold.kit.settings import Settings


async def _client_info(request: Request) -> ClientInfo:
    return get_client_info(request)


CurrentClient = Annotated[ClientInfo, Depends(_client_info)]
"""The client of a request, for endpoints without sign-in."""


class SignInResultJson(ResponseModel):
    """The result of a sign-in. The session itself is in the cookie."""

    tenant: IdText
    member: IdText
    until: RecordTime
    csrf: str = Field(examples=["5f0c3f1d…"], description="Send it as `X-CSRF-Token` with every change by cookie.")
    _cookie: str = PrivateAttr(default="")

    def headers(self) -> Mapping[str, str]:
        """Return the header that sets the session cookie."""
        return {"set-cookie": self._cookie}


def sign_in_result(platform: Platform, do: Callable[[], CreatedSignIn]) -> SignInResultJson:
    """Sign somebody in, and return the response."""
    signed_in = retry_when_busy(do)
    csrf = make_csrf_token(platform.keys, signed_in.secret)
    result = SignInResultJson.model_validate({**asdict(signed_in), "csrf": csrf})
    seconds = max(0, signed_in.until - platform.clock()) // SECOND
    result._cookie = session_cookie_header(platform.settings, signed_in.secret, seconds)  # noqa: SLF001 - it is this model's own
    return result


def session_cookie_header(settings: Settings, secret: str, seconds: int) -> str:
    """Return the header that sets the session cookie, or removes it if the secret is empty.

    Scripts cannot read the cookie, and other sites cannot send it along with a change.
    """
    response = Response()
    response.set_cookie(
        SESSION_COOKIE,
        secret,
        max_age=seconds,
        httponly=True,
        samesite="lax",
        secure=settings.base_url.startswith("https:"),
    )
    return response.headers["set-cookie"]


def authenticate_now(request: Request) -> Caller:
    """Authenticate the caller of an endpoint that works outside of a transaction."""
    return read_transaction(request).run(lambda ctx: ctx.caller)


routes = make_router("/api/v1/sign-in", "Sign-in")

TypedEmail = Annotated[str, Field(max_length=254, examples=["ana@example.org"])]
"""An e-mail address as typed to sign in: an invalid one is answered like an unknown one."""
TypedTenant = Annotated[
    str, Field(max_length=MAX_ID, examples=["corner"], description="May be left out where there is only one.")
]


class PasswordSignInBody(RequestModel):
    """A sign-in with e-mail address and password."""

    email: TypedEmail
    password: TypedPassword
    tenant: TypedTenant = ""


class LinkSignInBody(RequestModel):
    """A sign-in with the secret of a link."""

    secret: SecretText


class LinkRequestBody(RequestModel):
    """A request to mail a link."""

    email: TypedEmail
    purpose: Literal["sign_in", "password"] = "sign_in"
    tenant: TypedTenant = ""


class PasswordResetBody(LinkSignInBody):
    """The secret of a link, and the new password."""

    password: NewPassword
    revoke_tokens: bool = Field(default=False, description="Also revoke all API tokens of the member.")


class LinkRequestResultJson(ResponseModel):
    """The result of a link request, which is the same whether or not the account exists."""

    message: str = Field(serialization_alias="told", examples=["If there is such an account, a mail is on its way."])


class LinkInfoJson(ResponseModel):
    """The purpose of a link that is still valid."""

    purpose: str = Field(examples=["sign_in"])
    tenant: IdText
    tenant_name: NameText
    member_name: NameText
    until: RecordTime


@routes.post("", responses=problem_responses(401))
def sign_in_with_password(
    platform: CurrentPlatform, client: CurrentClient, body: PasswordSignInBody
) -> SignInResultJson:
    """Sign in with a password.

    The answer to a wrong password is the same as that to an unknown account. After some attempts one has to wait.
    """
    method = PasswordMethod(body.email, body.password.get_secret_value(), body.tenant)
    return sign_in_result(platform, lambda: sign_in(platform, method, client))


@routes.post("/link", responses=problem_responses(401))
def sign_in_with_link(platform: CurrentPlatform, client: CurrentClient, body: LinkSignInBody) -> SignInResultJson:
    """Sign in with a link, which works once."""
    method = MagicLinkMethod(body.secret.get_secret_value())
    return sign_in_result(platform, lambda: sign_in(platform, method, client))


@routes.get("/link/{secret}", responses=problem_responses(401), operation_id="look_at_link")
def get_link_info(platform: CurrentPlatform, secret: PathSecret) -> LinkInfoJson:
    """Get the purpose of a link, without using it."""
    return LinkInfoJson.model_validate(links.get_info(platform, secret))


@routes.post("/ask", status_code=202)
def ask_for_link(platform: CurrentPlatform, client: CurrentClient, body: LinkRequestBody) -> LinkRequestResultJson:
    """Request a link by mail.

    The response is the same whether or not there is such an account.
    """
    retry_when_busy(lambda: links.request_link(platform, body.email, body.purpose, client, body.tenant))
    return LinkRequestResultJson(message="If there is such an account and mails are sent here, one is on its way.")


@routes.post("/password", status_code=204, responses=problem_responses(401))
def set_password_with_link(platform: CurrentPlatform, client: CurrentClient, body: PasswordResetBody) -> None:
    """Set a new password with a link for it.

    All sign-ins and all other links of the member end.
    """
    secret, password = body.secret.get_secret_value(), body.password.get_secret_value()
    retry_when_busy(
        lambda: authentication.set_password_with_link(
            platform, secret, password, client, revoke_tokens=body.revoke_tokens
        )
    )


@routes.delete("", status_code=204)
def sign_out(ctx: WriteContext, platform: CurrentPlatform) -> Response:
    """End the caller's own sign-in."""
    if not ctx.caller.sign_in_id:
        raise ConflictError("Nobody is signed in here: the call came with an API token.", "Revoke the token instead.")
    sign_ins.end(ctx, ctx.caller.member, ctx.caller.sign_in_id)
    return Response(status_code=204, headers={"set-cookie": session_cookie_header(platform.settings, "", 0)})


first_run_routes = make_router("/api/v1/first-run", "First run")


class FirstRunState(ResponseModel):
    """Whether the platform has been set up."""

    open: bool = Field(description="Whether the platform still has to be set up.")


class FirstOwnerBody(RequestModel):
    """The first tenant, and its Owner."""

    tenant: NameText = Field(examples=["Corner & Main"], description="The name of the tenant.")
    name: NameText = Field(examples=["Olga, Owner"], description="The Owner's name.")
    email: EmailText
    password: NewPassword
    secret: SecretText = Field(examples=["lhf_4fK0aQx9Zb…"], description="The secret that `lakehold up` printed.")


@first_run_routes.get("")
def get_first_run(platform: CurrentPlatform) -> FirstRunState:
    """Get whether the platform has been set up."""
    return FirstRunState(open=tenants.is_setup_open(platform))


@first_run_routes.post("", status_code=201, responses=problem_responses(401, 409))
def begin_first_run(platform: CurrentPlatform, client: CurrentClient, body: FirstOwnerBody) -> SignInResultJson:
    """Set the platform up by creating its first tenant and its Owner.

    Works once, with the secret that `lakehold up` printed. The caller is signed in.
    """
    tenants.need_setup_secret(platform, body.secret.get_secret_value())
    password = body.password.get_secret_value()
    founding = TenantSetup(body.tenant, body.name, body.email, password)
    founded = retry_when_busy(
        lambda: tenants.create_tenant(platform, workspaces.models(), founding, first=True, client=client)
    )
    method = PasswordMethod(body.email, password, founded.tenant)
    return sign_in_result(platform, lambda: sign_in(platform, method, client))
