"""Invites: the pending ones, and creating one by e-mail address.

`directory.invites` decides who may invite whom to what; the form asks it for every choice.
"""

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.access.model.policy import TENANT
from lakehold.api.http.dependencies import CurrentPlatform, FormContext, ReadContext, WriteContext
from lakehold.catalog import kinds, workspaces
from lakehold.catalog.resource_view import ResourceRef, ResourceSummary, VisibleRefs
from lakehold.directory import invites, links
from lakehold.directory.invites import CreatedInvite, Invite, InvitedRole, InviteGrants, MembershipSetting
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.ids import fold_name
from lakehold.web import navigation_context, one_time_secret, pages, urls
from lakehold.web.components import PageAction
from lakehold.web.confirmation import need_confirmation
from lakehold.web.form_values import FieldErrors
from lakehold.web.list_view import ListFilter, ListState
from lakehold.web.one_time_secret import OneTimeSecret
from lakehold.web.routing import FORM_METHODS, SubmittedForm, router
from lakehold.web.workspaces import membership
from lakehold.web.workspaces.membership import MembershipForm, RoleOption

routes = router("/invites")

_STATES = ListFilter("state", "State", (("open", "Open"), ("over", "Expired")))
_SORT_KEYS = {
    "sent": lambda invite: invite.made_at,
    "email": lambda invite: fold_name(invite.email),
    "ends": lambda invite: invite.until,
}
_MAX_INVITES = 1_000
_MAX_WORKSPACES = 500


@routes.get("")
def invites_page(request: Request, ctx: ReadContext, platform: CurrentPlatform) -> Response:
    """Show the invites that the caller created or could have created."""
    listing = ListState.from_request(request, sorts=("-sent", "email", "ends"), filters=(_STATES,))
    state, mailing, visible = listing.chosen["state"], links.can_send_mail(platform.settings), VisibleRefs(ctx)
    found = [
        invite
        for invite in invites.page(ctx, limit=_MAX_INVITES)
        if state in {"", "over" if invite.until <= ctx.at else "open"}
    ]
    found = listing.select(found, lambda invite: invite.email, _SORT_KEYS)
    rows = [
        (
            n,
            invite,
            _invited_roles(ctx, visible, invite),
            visible.ref(invite.made_by),
            _actions(ctx, invite, mailing=mailing),
        )
        for n, invite in enumerate(listing.slice_page(found))
    ]
    values = {**listing.page_values(found), "rows": rows, "may_invite": may_invite_to(ctx) or invitable_workspaces(ctx)}
    return pages.render(request, "invites/invites.html", values)


@routes.api_route("/new", methods=FORM_METHODS)
def create_invite(request: Request, ctx: FormContext, platform: CurrentPlatform, sent: SubmittedForm) -> Response:
    """Show the form, first the workspace, then the role; create the invite, then show its link once."""
    workspace = str((sent if request.method == "POST" else request.query_params).get("workspace", ""))
    sends, errors = links.can_send_mail(platform.settings), FieldErrors()
    if request.method == "POST" and workspace and not sent.get("role"):
        errors["role"] = "Select a role."
    elif request.method == "POST":
        email, mail = str(sent.get("email", "")).strip(), bool(sent.get("mail")) and sends
        with errors.at("email", InvalidInputError, ConflictError):
            invite = invites.create(ctx, platform.settings, email, _parse_invitation(ctx, workspace, sent), mail=mail)
            return _show_link(request, ctx, platform, invite)
    open_ones, plain = invitable_workspaces(ctx), may_invite_to(ctx)
    chosen = next((found for found in open_ones if found.uid == workspace), None)
    if chosen is None and not plain and len(open_ones) == 1:
        chosen = open_ones[0]
    tenant_roles = ctx.view.policy.kind(TENANT).schema.roles
    values: dict[str, object] = {
        "workspaces": open_ones,
        "options": [("", "None" if plain else "Select one"), *((found.uid, found.name) for found in open_ones)],
        "chosen": chosen,
        "roles": invitable_roles(ctx, chosen.uid) if chosen else [],
        "values": membership.value_fields(ctx, chosen.uid) if chosen else [],
        "labels": _invite_labels(ctx, chosen) if chosen else [],
        "plain": plain,
        "tenant_roles": [
            (name, role.title)
            for name, role in tenant_roles.items()
            if may_invite_to(ctx, InvitedRole(name, ctx.caller.tenant))
        ],
        "mailing": sends,
        "filled": sent,
        "days": platform.settings.invite_days,
    }
    return pages.render_form(request, "invites/new.html", values, errors)


@routes.post("/{id_}/again")
def resend_invite(request: Request, ctx: WriteContext, platform: CurrentPlatform, id_: str) -> Response:
    """Replace the link of an invite by a new one."""
    invite = invites.resend(ctx, platform.settings, id_, mail=links.can_send_mail(platform.settings))
    return _show_link(request, ctx, platform, invite)


@routes.post("/{id_}/revoke")
def revoke_invite(request: Request, ctx: WriteContext, id_: str, sent: SubmittedForm) -> Response:
    """Revoke an invite, so that its link becomes invalid."""
    invite = invites.get(ctx, id_)
    question = f"Revoke the invite for {invite.email}?"
    need_confirmation(request, sent, question, "The link stops working.", do="Revoke", back="/invites")
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


def _invited_roles(ctx: RequestContext, visible: VisibleRefs, invite: Invite) -> list[tuple[str, ResourceRef]]:
    """Return the roles by their title and where, as far as the caller may see; those on the tenant come last."""
    places = [
        (ctx.view.policy.role(there.kind, place.role).title, there)
        for place in invite.grants.roles
        if (there := visible.ref(place.resource)) is not None
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
        filled, known = MembershipForm.parse(sent), kinds.schema_of(ctx.view, workspace).membership
        labels = [label.partition(" ") for label in filled.labels]
        places = [InvitedRole(str(sent.get("role")), workspace), *(InvitedRole(role, uid) for role, _, uid in labels)]
        chosen = {name: filled.values.get(name, "") for name in known}
        settings = [MembershipSetting(workspace, name, value) for name, value in chosen.items() if value]
    if sent.get("tenant_role"):
        places.append(InvitedRole(str(sent["tenant_role"]), ctx.caller.tenant))
    return InviteGrants(tuple(places), tuple(settings))


def may_invite_to(ctx: RequestContext, *places: InvitedRole) -> bool:
    """Whether the caller may invite to all of these places."""
    return invites.may_invite(ctx.session, ctx.caller.tenant, ctx.principal, InviteGrants(places))


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


def _invite_labels(ctx: RequestContext, workspace: ResourceSummary) -> list[RoleOption]:
    """Return the labels, such as contexts, that can be assigned together with a role."""
    root = kinds.catalog_kind(ctx.view.policy, workspace.kind)
    found: list[RoleOption] = []
    for kind in navigation_context.listed_kinds(ctx, root):
        roles = [name for name, role in kind.roles.items() if role.invited_with is not None]
        found += membership.label_options(ctx, workspace.uid, kind, roles, "invite") if roles else []
    return [option for option in found if option.may]
