"""Invites: the pending ones, and creating one by e-mail address.

`directory.invite_grants` decides who may invite whom to what; the form asks it for every choice.
"""

from __future__ import annotations

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.access.model.policy import TENANT
from lakehold.access.model.schema import KindSchema
from lakehold.api.http.dependencies import CurrentPlatform, ReadContext, WriteContext
from lakehold.catalog import kinds, workspaces
from lakehold.catalog.resource_view import ResourceRef, ResourceSummary, VisibleRefs
from lakehold.directory import invite_grants, invites, links
from lakehold.directory.invite_grants import InvitedRole, InviteGrants, MembershipSetting
from lakehold.directory.invites import CreatedInvite, Invite
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.ids import fold_name
from lakehold.web import one_time_secret, pages, urls
from lakehold.web.components import PageAction
from lakehold.web.confirmation import confirm
from lakehold.web.list_view import ListFilter, ListState
from lakehold.web.one_time_secret import OneTimeSecret
from lakehold.web.routing import SubmittedForm, router
from lakehold.web.workspaces import membership

routes = router("/invites")

LABEL_FIELD, VALUE_PREFIX = "label", "value_"
_STATES = ListFilter("state", "State", (("open", "Open"), ("over", "Expired")))
_SORT_KEYS = {
    "sent": lambda invite: invite.made_at,
    "email": lambda invite: fold_name(invite.email),
    "ends": lambda invite: invite.until,
}
_MAX_INVITES = 1_000
_MAX_WORKSPACES = 500
_MAX_LABELS = 200


@routes.get("")
def invites_page(request: Request, ctx: ReadContext, platform: CurrentPlatform) -> Response:
    """Show the invites that the caller created or could have created."""
    listing = ListState.from_request(request, sorts=("-sent", "email", "ends"), filters=(_STATES,))
    state, mailing, eyes = listing.chosen["state"], links.can_send_mail(platform.settings), VisibleRefs(ctx)
    found = [
        invite
        for invite in invites.page(ctx, limit=_MAX_INVITES)
        if state in {"", "over" if invite.until <= ctx.at else "open"}
    ]
    found = listing.select(found, lambda invite: invite.email, _SORT_KEYS)
    rows = [
        (n, invite, _invited_roles(ctx, eyes, invite), eyes.ref(invite.made_by), _actions(ctx, invite, mailing=mailing))
        for n, invite in enumerate(listing.slice_page(found))
    ]
    values = {**listing.page_values(found), "rows": rows, "may_invite": may_invite_to(ctx) or invitable_workspaces(ctx)}
    return pages.render(request, "invites/invites.html", values)


@routes.get("/new")
def new_invite_form(request: Request, ctx: ReadContext, platform: CurrentPlatform) -> Response:
    """Show the form: first the workspace, then the role."""
    return _invite_form(request, ctx, platform, request.query_params.get("workspace", ""))


@routes.post("/new")
def create_invite(request: Request, ctx: WriteContext, platform: CurrentPlatform, sent: SubmittedForm) -> Response:
    """Create the invite, then show its link once."""
    workspace, email = str(sent.get("workspace", "")), str(sent.get("email", "")).strip()
    mail = bool(sent.get("mail")) and links.can_send_mail(platform.settings)
    try:
        if workspace and not sent.get("role"):
            return _invite_form(request, ctx, platform, workspace, sent, errors={"role": "Select a role."})
        made = invites.create(ctx, platform.settings, email, _parse_invitation(ctx, workspace, sent), mail=mail)
    except (InvalidInputError, ConflictError) as error:
        return _invite_form(request, ctx, platform, workspace, sent, errors={"email": str(error)})
    return _show_link(request, ctx, platform, made)


@routes.post("/{id_}/again")
def resend_invite(request: Request, ctx: WriteContext, platform: CurrentPlatform, id_: str) -> Response:
    """Replace the link of an invite by a new one."""
    made = invites.resend(ctx, platform.settings, id_, mail=links.can_send_mail(platform.settings))
    return _show_link(request, ctx, platform, made)


@routes.post("/{id_}/revoke")
def revoke_invite(request: Request, ctx: WriteContext, id_: str, sent: SubmittedForm) -> Response:
    """Revoke an invite, so that its link becomes invalid."""
    invite = invites.get(ctx, id_)
    question = f"Revoke the invite for {invite.email}?"
    if confirmation := confirm(request, sent, question, "The link stops working.", do="Revoke", back="/invites"):
        return confirmation
    invites.revoke(ctx, id_)
    return pages.redirect(request, "/invites", f"The invite for {invite.email} was revoked.")


def _show_link(request: Request, ctx: RequestContext, platform: Platform, created: CreatedInvite) -> Response:
    """Show the link of an invite once, or say where it was mailed to."""
    invite = created.invite
    if created.mailed:
        return pages.redirect(request, "/invites", f"The invite was mailed to {invite.email}.")
    sends = links.can_send_mail(platform.settings)
    text = "Share the link yourself." if sends else "Share the link yourself. This installation sends no mails."
    secret = OneTimeSecret(f"Invite for {invite.email}", "Link", created.link, text, invite.until, "/invites")
    return one_time_secret.redirect_to_secret(request, ctx.caller, secret)


def _invited_roles(ctx: RequestContext, eyes: VisibleRefs, invite: Invite) -> list[tuple[str, ResourceRef]]:
    """Return the roles by their title and where, as far as the caller may see; those on the tenant come last."""
    places = [
        (ctx.view.policy.role(there.kind, place.role).title, there)
        for place in invite.grants.roles
        if (there := eyes.ref(place.resource)) is not None
    ]
    return sorted(places, key=lambda place: place[1].kind == TENANT)


def _actions(ctx: RequestContext, invite: Invite, *, mailing: bool) -> list[PageAction]:
    """Return the actions of a row. A caller who lost the right to invite cannot resend, but may still revoke."""
    label, icon, here = "Send again" if mailing else "Create new link", "refresh-cw", f"/invites/{invite.id}"
    sure = f"Revoke the invite for {invite.email}?"
    end = PageAction("Revoke", f"{here}/revoke", "post", "trash-2", confirm=sure, danger=True)
    if may_invite_to(ctx, *invite.grants.roles):
        return [PageAction(label, f"{here}/again", "post", icon), end]
    place = next(iter(invite.grants.roles), None)
    ask = urls.request(place.resource if place else ctx.caller.tenant, "")
    return [PageAction(label, icon=icon, why_not="You can no longer invite to this workspace.", request=ask), end]


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
    filled: FormData | None = None,
    *,
    errors: dict[str, str] | None = None,
) -> Response:
    filled = FormData() if filled is None else filled
    open_ones, plain = invitable_workspaces(ctx), may_invite_to(ctx)
    chosen = next((found for found in open_ones if found.uid == workspace), None)
    if chosen is None and not plain and len(open_ones) == 1:
        chosen = open_ones[0]
    tenant_roles = ctx.view.policy.kind(TENANT).schema.roles
    values: dict[str, object] = {
        "workspaces": open_ones,
        "options": [("", "None" if plain else "Select one"), *((found.uid, found.name) for found in open_ones)],
        "chosen": chosen,
        **_workspace_options(ctx, chosen),
        "plain": plain,
        "tenant_roles": [
            (name, role.title)
            for name, role in tenant_roles.items()
            if may_invite_to(ctx, InvitedRole(name, ctx.caller.tenant))
        ],
        "mailing": links.can_send_mail(platform.settings),
        "filled": filled,
        "ticked": [str(value) for value in filled.getlist(LABEL_FIELD)],
        "days": platform.settings.invite_days,
    }
    return pages.render_form(request, "invites/new.html", values, errors)


def may_invite_to(ctx: RequestContext, *places: InvitedRole) -> bool:
    """Whether the caller may invite to all of these places."""
    return invite_grants.may_invite(ctx.session, ctx.caller.tenant, ctx.principal, InviteGrants(places))


def invitable_workspaces(ctx: RequestContext) -> list[ResourceSummary]:
    """Return the workspaces that the caller may invite to, by name."""
    return [found for found in workspaces.page(ctx, limit=_MAX_WORKSPACES).items if invitable_roles(ctx, found.uid)]


def invitable_roles(ctx: RequestContext, uid: str) -> list[tuple[str, str, str]]:
    """Return the names and titles of the roles in a workspace that the caller may invite with, as options."""
    roles = kinds.schema_of(ctx.view, uid).roles
    return [
        (name, role.title, "")
        for name, role in roles.items()
        if not role.single and may_invite_to(ctx, InvitedRole(name, uid))
    ]


def _workspace_options(ctx: RequestContext, workspace: ResourceSummary | None) -> dict[str, object]:
    """Return the roles, membership values and labels, such as contexts, for an invite to a workspace."""
    if workspace is None:
        return {"roles": [], "values": [], "labels": []}
    schema, roles = kinds.catalog_kind(ctx.view.policy, workspace.kind), invitable_roles(ctx, workspace.uid)
    return {
        "roles": roles,
        "values": membership.value_fields(ctx, workspace.uid),
        "labels": _invite_labels(ctx, schema, workspace.uid) if roles else [],
    }


def _invite_labels(ctx: RequestContext, root: KindSchema, uid: str) -> list[tuple[str, str, str]]:
    """Return role and id, name, and the title of the kind of what can be assigned together with a role."""
    found: list[tuple[str, str, str]] = []
    for kind in ctx.view.policy.models[root.model].kinds.values():
        for role in kind.roles.values():
            if kind.name == root.name or role.invited_with is None:
                continue
            listed = ctx.session.list(ctx.principal, kind.visible, kind.id, within=uid, limit=_MAX_LABELS)
            found += [
                (f"{role.name} {item.uid}", item.name, kind.title)
                for item in listed.items
                if ctx.session.check(ctx.principal, "invite", item.uid, role=role.name)
            ]
    return found
