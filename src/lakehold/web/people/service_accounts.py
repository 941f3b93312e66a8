"""Service accounts and their API tokens."""

from __future__ import annotations

import re

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.directory import members, tokens
from lakehold.directory.act_for import MANAGE, need_act_for
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.ids import valid_name
from lakehold.web import one_time_secret, pages, urls
from lakehold.web.confirmation import confirm
from lakehold.web.cookies import Flash
from lakehold.web.one_time_secret import OneTimeSecret
from lakehold.web.people.member_page import member_breadcrumbs
from lakehold.web.routing import SubmittedForm, router

routes = router("/people")

_LIFETIMES = (("30", "30 days"), ("90", "90 days"), ("365", "1 year"), ("", "No end"))


@routes.get("/new-service-account")
def new_service_account_form(request: Request, ctx: ReadContext) -> Response:
    """Show the form for a new service account."""
    ctx.need(MANAGE, ctx.caller.tenant)
    return pages.render(request, "people/new_service.html", {"name": "", "error": ""})


@routes.post("/new-service-account")
def create_service_account(request: Request, ctx: WriteContext, sent: SubmittedForm) -> Response:
    """Create a service account."""
    ctx.need(MANAGE, ctx.caller.tenant)
    name = str(sent.get("name", "")).strip()
    try:
        made = members.create_service_account(ctx, valid_name(name))
    except InvalidInputError as error:
        return pages.render(request, "people/new_service.html", {"name": name, "error": str(error)}, status=422)
    return pages.redirect(request, urls.member(made), Flash(f"{name} was created. Add roles and a token next."))


@routes.get("/{uid:path}/tokens/new")
def token_form(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Show the form for a new token."""
    member = members.get(ctx, uid)
    need_act_for(ctx, "make tokens", uid)
    values: dict[str, object] = {
        "crumbs": member_breadcrumbs(ctx, member, "New token"),
        "member": member,
        "lasts": _LIFETIMES,
    }
    return pages.render(request, "people/token.html", {**values, "name": "", "days": "90", "error": ""})


@routes.post("/{uid:path}/tokens/new")
def create_token(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Create a token and show its secret once."""
    member = members.get(ctx, uid)
    name, days = str(sent.get("name", "")).strip(), str(sent.get("days", ""))
    try:
        created = tokens.create(ctx, name, member=uid, days=_parse_days(sent))
    except (InvalidInputError, ConflictError) as error:
        values: dict[str, object] = {"member": member, "lasts": _LIFETIMES, "name": name, "days": days}
        values |= {"crumbs": member_breadcrumbs(ctx, member, "New token"), "error": str(error)}
        return pages.render(request, "people/token.html", values, status=422)
    text = "It has all permissions of the service account. Keep it secret."
    secret = OneTimeSecret(
        f"Token for {member.name}", "Token", created.secret, text, created.token.until, urls.member(uid)
    )
    return one_time_secret.redirect_to_secret(request, ctx.caller, secret)


@routes.post("/{uid:path}/tokens/revoke")
def revoke_token(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Revoke a token."""
    token = tokens.get(ctx, str(sent.get("token", "")))
    back = urls.member(uid)
    text = "Programs that use it lose access immediately."
    if confirmation := confirm(request, sent, f"Revoke the token {token.name}?", text, do="Revoke", back=back):
        return confirmation
    tokens.revoke(ctx, token.id)
    return pages.redirect(request, back, Flash(f"The token {token.name} was revoked."))


def _parse_days(sent: FormData) -> int | None:
    days = str(sent.get("days", ""))
    if not days:
        return None
    return int(days) if re.fullmatch(r"[0-9]{1,6}", days) else 0
