"""Pending invites, and creating one by e-mail address."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.access.model.policy import TENANT
from lakehold.api.http.dependencies import CurrentPlatform, ReadContext, WriteContext
from lakehold.catalog import kinds
from lakehold.catalog.resource_view import ResourceRef, VisibleRefs
from lakehold.directory import invites, links
from lakehold.directory.invite_grants import InvitedRole, InviteGrants, MembershipSetting
from lakehold.directory.invites import CreatedInvite, Invite
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.ids import fold_name
from lakehold.web import one_time_secret, pages, urls
from lakehold.web.components import PageAction
from lakehold.web.confirmation import confirm
from lakehold.web.cookies import Flash
from lakehold.web.invites import invite_options
from lakehold.web.list_view import ListColumn, ListFilter, ListState
from lakehold.web.one_time_secret import OneTimeSecret
from lakehold.web.routing import SubmittedForm, router

routes = router("/invites")

_COLUMNS = (
    ListColumn("E-mail", "email"),
    ListColumn("Access"),
    ListColumn("Invited by", wide=True),
    ListColumn("Sent", "sent", wide=True),
    ListColumn("State", "ends"),
)
_STATES = ListFilter("state", "State", (("open", "Open"), ("over", "Expired")))
_MAX_INVITES = 1_000


@dataclass(frozen=True, slots=True)
class InviteRow:
    """One row of the list of invites."""

    id: str
    email: str
    places: list[tuple[str, ResourceRef]]
    """Roles by their title, and where; only what the caller may see."""
    by: ResourceRef | None
    sent: Moment
    until: Moment
    over: bool
    actions: list[PageAction]


@routes.get("")
def invites_page(request: Request, ctx: ReadContext, platform: CurrentPlatform) -> Response:
    """Show the invites that the caller created or could have created."""
    listing = ListState.from_request(request, sorts=("-sent", "email", "ends"), filters=(_STATES,))
    mailing = links.can_send_mail(platform.settings)
    eyes = VisibleRefs(ctx)
    rows = [_invite_row(ctx, eyes, found, mailing=mailing) for found in invites.page(ctx, limit=_MAX_INVITES)]
    state, searched = listing.chosen["state"], fold_name(listing.search)
    rows = [row for row in rows if searched in fold_name(row.email) and state in {"", "over" if row.over else "open"}]
    keys = {"sent": lambda row: row.sent, "email": lambda row: fold_name(row.email), "ends": lambda row: row.until}
    rows.sort(key=keys[listing.sort], reverse=listing.descending)
    values: dict[str, object] = {
        "listing": listing,
        "columns": _COLUMNS,
        "rows": list(enumerate(listing.slice_page(rows))),
        "total": len(rows),
        "may_invite": invite_options.may_invite(ctx),
    }
    return pages.render(request, "invites/invites.html", values)


@routes.post("/{id_}/again")
def resend_invite(request: Request, ctx: WriteContext, platform: CurrentPlatform, id_: str) -> Response:
    """Replace the link of an invite by a new one."""
    made = invites.resend(ctx, platform.settings, id_, mail=links.can_send_mail(platform.settings))
    return show_invite_link(request, ctx, platform, made)


@routes.post("/{id_}/revoke")
def revoke_invite(request: Request, ctx: WriteContext, id_: str, sent: SubmittedForm) -> Response:
    """Revoke an invite, so that its link becomes invalid."""
    invite = invites.get(ctx, id_)
    question = f"Revoke the invite for {invite.email}?"
    if confirmation := confirm(request, sent, question, "The link stops working.", do="Revoke", back="/invites"):
        return confirmation
    invites.revoke(ctx, id_)
    return pages.redirect(request, "/invites", Flash(f"The invite for {invite.email} was revoked."))


def show_invite_link(
    request: Request, ctx: RequestContext, platform: CurrentPlatform, created: CreatedInvite
) -> Response:
    """Show the link of an invite once, or say where it was mailed to."""
    if created.mailed:
        return pages.redirect(request, "/invites", Flash(f"The invite was mailed to {created.invite.email}."))
    sends = links.can_send_mail(platform.settings)
    text = "Share the link yourself." if sends else "Share the link yourself. This installation sends no mails."
    secret = OneTimeSecret(
        f"Invite for {created.invite.email}", "Link", created.link, text, created.invite.until, "/invites"
    )
    return one_time_secret.redirect_to_secret(request, ctx.caller, secret)


def _invite_row(ctx: RequestContext, eyes: VisibleRefs, invite: Invite, *, mailing: bool) -> InviteRow:
    places = [
        (ctx.view.policy.role(there.kind, place.role).title, there)
        for place in invite.grants.roles
        if (there := eyes.ref(place.resource)) is not None
    ]
    tenant = [(title, there) for title, there in places if there.kind == TENANT]
    others = [(title, there) for title, there in places if there.kind != TENANT]
    again = PageAction(
        "Send again" if mailing else "Create new link", f"/invites/{invite.id}/again", "post", "refresh-cw"
    )
    end = PageAction(
        "Revoke",
        f"/invites/{invite.id}/revoke",
        "post",
        "trash-2",
        confirm=f"Revoke the invite for {invite.email}?",
        danger=True,
    )
    by = eyes.ref(invite.made_by)
    over = invite.until <= ctx.at
    return InviteRow(
        invite.id,
        invite.email,
        [*others, *tenant],
        by,
        invite.made_at,
        invite.until,
        over,
        _allowed_actions(ctx, invite, again, end),
    )


def _allowed_actions(ctx: RequestContext, invite: Invite, again: PageAction, end: PageAction) -> list[PageAction]:
    """Return the actions of a row. A caller who lost the right to invite cannot resend, but may still revoke."""
    if invite_options.may_invite_to(ctx, *invite.grants.roles):
        return [again, end]
    place = next(iter(invite.grants.roles), None)
    request_address = urls.request(place.resource if place else ctx.caller.tenant, "")
    return [
        PageAction(
            again.label, icon=again.icon, why_not="You can no longer invite to this workspace.", request=request_address
        ),
        end,
    ]


new_invite_routes = router("/invites")

LABEL_FIELD, VALUE_PREFIX = "label", "value_"


@new_invite_routes.get("/new")
def new_invite_form(request: Request, ctx: ReadContext, platform: CurrentPlatform) -> Response:
    """Show the form: first the workspace, then the role."""
    return _invite_form(request, ctx, platform, request.query_params.get("workspace", ""))


@new_invite_routes.post("/new")
def create_invite(request: Request, ctx: WriteContext, platform: CurrentPlatform, sent: SubmittedForm) -> Response:
    """Create the invite, then show its link once."""
    workspace, email = str(sent.get("workspace", "")), str(sent.get("email", "")).strip()
    mail = bool(sent.get("mail")) and links.can_send_mail(platform.settings)
    try:
        if workspace and not sent.get("role"):
            return _invite_form(request, ctx, platform, workspace, filled=sent, errors={"role": "Select a role."})
        made = invites.create(ctx, platform.settings, email, _parse_invitation(ctx, workspace, sent), mail=mail)
    except (InvalidInputError, ConflictError) as error:
        return _invite_form(request, ctx, platform, workspace, filled=sent, errors={"email": str(error)})
    return show_invite_link(request, ctx, platform, made)


def _parse_invitation(ctx: RequestContext, workspace: str, sent: FormData) -> InviteGrants:
    places: list[InvitedRole] = []
    settings: list[MembershipSetting] = []
    if workspace:
        ctx.need_visible(workspace, "invite")
        places.append(InvitedRole(str(sent.get("role")), workspace))
        known = kinds.schema_of(ctx.view, workspace).membership
        settings = [
            MembershipSetting(workspace, name, str(sent[VALUE_PREFIX + name]))
            for name in known
            if sent.get(VALUE_PREFIX + name)
        ]
        for chosen in sent.getlist(LABEL_FIELD):
            role, _, uid = str(chosen).partition(" ")
            places.append(InvitedRole(role, uid))
    if sent.get("tenant_role"):
        places.append(InvitedRole(str(sent["tenant_role"]), ctx.caller.tenant))
    return InviteGrants(tuple(places), tuple(settings))


def _invite_form(
    request: Request,
    ctx: RequestContext,
    platform: Platform,
    workspace: str,
    *,
    filled: FormData | None = None,
    errors: dict[str, str] | None = None,
) -> Response:
    filled = FormData() if filled is None else filled
    open_ones = invite_options.invitable_workspaces(ctx)
    plain = invite_options.may_invite_to(ctx)
    chosen = next((found for found in open_ones if found.uid == workspace), None)
    if chosen is None and not plain and len(open_ones) == 1:
        chosen = open_ones[0]
    offer = invite_options.workspace_options(ctx, chosen) if chosen else None
    values: dict[str, object] = {
        "workspaces": open_ones,
        "options": [("", "None" if plain else "Select one"), *((found.uid, found.name) for found in open_ones)],
        "chosen": chosen,
        "offer": offer,
        "offer_roles": [(name, title, "") for name, title in offer.roles] if offer else [],
        "plain": plain,
        "tenant_roles": invite_options.invitable_tenant_roles(ctx),
        "needs_workspace": chosen is None and not plain,
        "mailing": links.can_send_mail(platform.settings),
        "filled": filled,
        "labels": [str(value) for value in filled.getlist(LABEL_FIELD)],
        "days": platform.settings.invite_days,
        "errors": errors or {},
    }
    return pages.render(request, "invites/new.html", values, status=422 if errors else 200)
