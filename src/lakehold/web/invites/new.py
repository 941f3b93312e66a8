"""Asking somebody to come: by their e-mail address, to what the caller may invite to."""

from __future__ import annotations

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.api.http.dependencies import CurrentPlatform, ReadContext, WriteContext
from lakehold.catalog import kinds
from lakehold.directory import invites, links
from lakehold.directory.invite_grants import InvitedRole, InviteGrants, MembershipSetting
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.web import pages
from lakehold.web.invites import offers
from lakehold.web.invites.routes import shown
from lakehold.web.routing import SubmittedForm, router

routes = router("/invites")

LABEL, VALUE = "label", "value_"


@routes.get("/new")
def new_form(request: Request, ctx: ReadContext, platform: CurrentPlatform) -> Response:
    """To which workspace first, then as what."""
    return _form(request, ctx, platform, request.query_params.get("workspace", ""))


@routes.post("/new")
def invite(request: Request, ctx: WriteContext, platform: CurrentPlatform, sent: SubmittedForm) -> Response:
    """Make the invite, and go where its link is shown once."""
    workspace, email = str(sent.get("workspace", "")), str(sent.get("email", "")).strip()
    mail = bool(sent.get("mail")) and links.can_send_mail(platform.settings)
    try:
        if workspace and not sent.get("role"):
            return _form(
                request, ctx, platform, workspace, filled=sent, errors={"role": "Choose what they are to be there."}
            )
        made = invites.create(ctx, platform.settings, email, _wanted(ctx, workspace, sent), mail=mail)
    except (InvalidInputError, ConflictError) as error:
        return _form(request, ctx, platform, workspace, filled=sent, errors={"email": str(error)})
    return shown(request, ctx, platform, made)


def _wanted(ctx: RequestContext, workspace: str, sent: FormData) -> InviteGrants:
    places: list[InvitedRole] = []
    settings: list[MembershipSetting] = []
    if workspace:
        ctx.need_visible(workspace, "invite")
        places.append(InvitedRole(str(sent.get("role")), workspace))
        known = kinds.schema_of(ctx.view, workspace).membership
        settings = [
            MembershipSetting(workspace, name, str(sent[VALUE + name])) for name in known if sent.get(VALUE + name)
        ]
        for chosen in sent.getlist(LABEL):
            role, _, uid = str(chosen).partition(" ")
            places.append(InvitedRole(role, uid))
    if sent.get("tenant_role"):
        places.append(InvitedRole(str(sent["tenant_role"]), ctx.caller.tenant))
    return InviteGrants(tuple(places), tuple(settings))


def _form(
    request: Request,
    ctx: RequestContext,
    platform: Platform,
    workspace: str,
    *,
    filled: FormData | None = None,
    errors: dict[str, str] | None = None,
) -> Response:
    filled = FormData() if filled is None else filled
    open_ones = offers.open_workspaces(ctx)
    plain = offers.may(ctx)
    chosen = next((found for found in open_ones if found.uid == workspace), None)
    if chosen is None and not plain and len(open_ones) == 1:
        chosen = open_ones[0]
    offer = offers.offer(ctx, chosen) if chosen else None
    values: dict[str, object] = {
        "workspaces": open_ones,
        "options": [("", "None" if plain else "Choose one"), *((found.uid, found.name) for found in open_ones)],
        "chosen": chosen,
        "offer": offer,
        "offer_roles": [(name, title, "") for name, title in offer.roles] if offer else [],
        "plain": plain,
        "tenant_roles": offers.tenant_roles(ctx),
        "needs_workspace": chosen is None and not plain,
        "mailing": links.can_send_mail(platform.settings),
        "filled": filled,
        "labels": [str(value) for value in filled.getlist(LABEL)],
        "days": platform.settings.invite_days,
        "errors": errors or {},
    }
    return pages.render(request, "invites/new.html", values, status=422 if errors else 200)
