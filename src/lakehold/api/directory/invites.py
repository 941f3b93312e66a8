"""Invites, and their acceptance."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from lakehold.api.directory.texts import EmailText, NewPassword, PathSecret, SecretId, SecretText
from lakehold.api.directory.visiting import SignedInJson, Visiting, let_in
from lakehold.api.frame.models import Answer, Body, IdText, NameText, Time, Word, time_of
from lakehold.api.frame.paging import Page, Paged
from lakehold.api.frame.routes import problems, router
from lakehold.api.frame.works import Creating, House, Reading, Writing, retried
from lakehold.directory import invite_acceptance, invites
from lakehold.directory.invite_grants import MAX_ROLES, InvitedRole, InviteGrants, MembershipSetting
from lakehold.directory.invites import CreatedInvite, Invite
from lakehold.directory.request_context import RequestContext

routes = router("/api/v1/invites", "Invites")


class RoleOn(Body):
    """A role on the tenant, a workspace, or what lies in one."""

    role: Word = Field(examples=["business_user"])
    resource: IdText = Field(examples=["sales"])


class MembershipValue(Body):
    """A value of the membership in something, such as the scope in a project."""

    resource: IdText = Field(examples=["sales"])
    name: Word = Field(examples=["scope"])
    value: Word = Field(examples=["selected_contexts"])


class NewInvite(Body):
    """Whom to invite, and to what."""

    email: EmailText
    roles: Annotated[list[RoleOn], Field(max_length=MAX_ROLES)] = Field(default=[])
    settings: Annotated[list[MembershipValue], Field(max_length=MAX_ROLES)] = Field(default=[])
    mail: bool = Field(default=False, description="Mail the link instead of showing it here.")


class Again(Body):
    """How it is sent again."""

    mail: bool = Field(default=False, description="Mail the link instead of showing it here.")


class InviteSecret(Body):
    """What the link carries."""

    secret: SecretText


class Newcomer(Body):
    """Somebody new accepts."""

    secret: SecretText
    name: NameText = Field(examples=["Nils, New here"])
    password: NewPassword


class InviteJson(Answer):
    """An invite that nobody has accepted yet."""

    id: SecretId
    email: str = Field(examples=["nils@example.org"])
    roles: list[RoleOn] = Field(description="Those on what the caller may see.")
    settings: list[MembershipValue]
    made_by: str = Field(examples=["tara"])
    made_at: Time
    until: Time


class MadeInvite(Answer):
    """An invite with its link. The link is shown here and now, or was mailed."""

    invite: InviteJson
    link: str | None = Field(examples=["http://127.0.0.1:8400/invite/lhi_…"], description="Null if it was mailed.")


class OpenInvite(Answer):
    """What an invite is about, for whoever holds its link."""

    tenant: IdText = Field(examples=["corner"])
    tenant_name: NameText = Field(examples=["Corner & Main"])
    email: str = Field(examples=["nils@example.org"])
    inviter_name: str = Field(examples=["Tara, Technical User"])
    until: Time
    has_account: bool = Field(description="Whether there is an account with this address: then sign in and accept.")


@routes.get("")
def list_invites(ctx: Reading, paged: Paged) -> Page[InviteJson]:
    """The invites that one made, or could have made, the newest first."""
    behind = paged.start("invites", int, str)
    after = None if behind is None else (int(behind[0]), str(behind[1]))
    rows = invites.page(ctx, after=after, limit=paged.limit + 1)
    return paged.page("invites", rows, lambda row: (row.made_at, row.id), lambda row: _told(ctx, row))


@routes.post("", status_code=201)
def make_invite(ctx: Creating, platform: House, body: NewInvite) -> MadeInvite:
    """Invite somebody, with these roles.

    Needs the right to invite as each of them, or to give it and to bring people in.
    """
    wanted = InviteGrants(
        tuple(InvitedRole(place.role, place.resource) for place in body.roles),
        tuple(MembershipSetting(setting.resource, setting.name, setting.value) for setting in body.settings),
    )
    return _made(ctx, invites.create(ctx, platform.settings, body.email, wanted, mail=body.mail))


@routes.get("/by-link/{secret}", responses=problems(401))
def look_at_invite(platform: House, secret: PathSecret) -> OpenInvite:
    """What is this invite about? Looking does not accept it."""
    found = invite_acceptance.get_info(platform, secret)
    return OpenInvite(
        tenant=found.tenant,
        tenant_name=found.tenant_name,
        email=found.email,
        inviter_name=found.inviter_name,
        until=time_of(found.until),
        has_account=found.has_account,
    )


@routes.post("/by-link", status_code=201, responses=problems(401, 409))
def accept_invite(platform: House, visit: Visiting, body: Newcomer) -> SignedInJson:
    """Accept an invite as somebody new: become a member, and be signed in."""
    secret, password = body.secret.get_secret_value(), body.password.get_secret_value()
    return let_in(platform, retried(lambda: invite_acceptance.accept(platform, secret, body.name, password, visit)))


@routes.post("/accept")
def accept_invite_as_member(ctx: Writing, body: InviteSecret) -> InviteJson:
    """Accept an invite to one's own e-mail address."""
    return _told(ctx, invite_acceptance.accept_as_member(ctx, body.secret.get_secret_value()))


@routes.get("/{invite}")
def get_invite(ctx: Reading, invite: SecretId) -> InviteJson:
    """One invite."""
    return _told(ctx, invites.get(ctx, invite))


@routes.post("/{invite}/again", status_code=201)
def send_invite_again(ctx: Creating, platform: House, invite: SecretId, body: Again) -> MadeInvite:
    """Make a new link in place of the old one."""
    return _made(ctx, invites.resend(ctx, platform.settings, invite, mail=body.mail))


@routes.delete("/{invite}", status_code=204)
def revoke_invite(ctx: Writing, invite: SecretId) -> None:
    """Let the link be good for nothing."""
    invites.revoke(ctx, invite)


def _made(ctx: RequestContext, made: CreatedInvite) -> MadeInvite:
    return MadeInvite(invite=_told(ctx, made.invite), link=made.link or None)


def _told(ctx: RequestContext, invite: Invite) -> InviteJson:
    def sees(uid: str) -> bool:
        return ctx.view.ids.get(uid) is not None and ctx.session.can_see(ctx.asker, uid)

    carried = invite.grants
    return InviteJson(
        id=invite.id,
        email=invite.email,
        roles=[RoleOn(role=role, resource=there) for role, there in carried.roles if sees(there)],
        settings=[
            MembershipValue(resource=there, name=name, value=value)
            for there, name, value in carried.settings
            if sees(there)
        ],
        made_by=invite.made_by,
        made_at=time_of(invite.made_at),
        until=time_of(invite.until),
    )
