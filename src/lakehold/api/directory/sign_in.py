"""Signing in, and out."""

from __future__ import annotations

from typing import Literal

from fastapi import Response
from pydantic import Field

from lakehold.api.directory.texts import NewPassword, PathSecret, SecretText, TypedEmail, TypedPassword, TypedTenant
from lakehold.api.directory.visiting import SignedInJson, Visiting, cookie, let_in
from lakehold.api.frame.models import Answer, Body, IdText, NameText, Time, time_of
from lakehold.api.frame.routes import problems, router
from lakehold.api.frame.works import House, Writing, retried
from lakehold.directory import authentication, links, sign_ins
from lakehold.directory.authentication import MagicLinkMethod, PasswordMethod, sign_in
from lakehold.kit.errors import ConflictError

routes = router("/api/v1/sign-in", "Sign-in")

Purpose = Literal["sign_in", "password"]


class ByPassword(Body):
    """An e-mail address and a password."""

    email: TypedEmail
    password: TypedPassword
    tenant: TypedTenant = ""


class ByLink(Body):
    """What a link carries."""

    secret: SecretText


class AskedLink(Body):
    """To whom a link is to be mailed, and what for."""

    email: TypedEmail
    purpose: Purpose = "sign_in"
    tenant: TypedTenant = ""


class PasswordByLink(Body):
    """A link for it, and the new password."""

    secret: SecretText
    password: NewPassword


class Asking(Answer):
    """The same whoever it is about."""

    told: str = Field(examples=["If there is such an account, a mail is on its way."])


class OpenLink(Answer):
    """What a link can still be used for."""

    purpose: str = Field(examples=["sign_in"])
    tenant: IdText
    tenant_name: NameText
    member_name: NameText
    until: Time


@routes.post("", responses=problems(401))
def sign_in_with_password(platform: House, visit: Visiting, body: ByPassword) -> SignedInJson:
    """Sign in with a password.

    The answer to a wrong password is the same as that to an unknown account. After some attempts one has to wait.
    """
    method = PasswordMethod(body.email, body.password.get_secret_value(), body.tenant)
    return let_in(platform, retried(lambda: sign_in(platform, method, visit)))


@routes.post("/link", responses=problems(401))
def sign_in_with_link(platform: House, visit: Visiting, body: ByLink) -> SignedInJson:
    """Sign in with a link. It works once."""
    method = MagicLinkMethod(body.secret.get_secret_value())
    return let_in(platform, retried(lambda: sign_in(platform, method, visit)))


@routes.get("/link/{secret}", responses=problems(401))
def look_at_link(platform: House, secret: PathSecret) -> OpenLink:
    """What is this link for? Looking does not use it."""
    found = links.get_info(platform, secret)
    return OpenLink(
        purpose=found.purpose,
        tenant=found.tenant,
        tenant_name=found.tenant_name,
        member_name=found.member_name,
        until=time_of(found.until),
    )


@routes.post("/ask", status_code=202)
def ask_for_link(platform: House, visit: Visiting, body: AskedLink) -> Asking:
    """Ask for a link by mail.

    The answer is the same whether or not there is such an account.
    """
    retried(lambda: links.request_link(platform, body.email, body.purpose, visit, body.tenant))
    return Asking(told="If there is such an account and mails are sent here, one is on its way.")


@routes.post("/password", status_code=204, responses=problems(401))
def set_password_with_link(platform: House, visit: Visiting, body: PasswordByLink) -> None:
    """Set a new password with a link for it.

    All sign-ins and all other links of the member end.
    """
    secret, password = body.secret.get_secret_value(), body.password.get_secret_value()
    retried(lambda: authentication.set_password_with_link(platform, secret, password, visit))


@routes.delete("", status_code=204)
def sign_out(ctx: Writing, platform: House) -> Response:
    """Sign out here."""
    if not ctx.caller.sign_in_id:
        raise ConflictError("Nobody is signed in here: the call came with an API token.", "Revoke the token instead.")
    sign_ins.end(ctx, ctx.caller.member, ctx.caller.sign_in_id)
    return Response(status_code=204, headers={"set-cookie": cookie(platform.settings, "", 0)})
