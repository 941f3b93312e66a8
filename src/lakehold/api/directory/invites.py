"""Endpoints of invites and their acceptance."""

from dataclasses import asdict
from typing import Annotated

from pydantic import Field

from lakehold.api.directory.schemas import EmailText, MailedLink, NewPassword, PathSecret, SecretId, SecretText
from lakehold.api.directory.sign_in import CurrentClient, SignInResultJson, sign_in_result
from lakehold.api.http.dependencies import CreateContext, CurrentPlatform, ReadContext, WriteContext
from lakehold.api.http.models import IdText, NameText, RecordTime, RequestModel, ResponseModel, Word
from lakehold.api.http.paging import PageParams, PageResponse
from lakehold.api.http.routing import make_router, problem_responses
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory import invite_acceptance, invites
from lakehold.directory.invites import MAX_ROLES, CreatedInvite, Invite, InvitedRole, InviteGrants, MembershipSetting
from lakehold.directory.request_context import RequestContext

routes = make_router("/api/v1/invites", "Invites")


class InviteRole(RequestModel):
    """A role on the tenant, a workspace, or a resource in one."""

    role: Word = Field(examples=["business_user"])
    resource: IdText = Field(examples=["sales"])


class MembershipValueBody(RequestModel):
    """An attribute of a membership, such as the scope in a project."""

    resource: IdText = Field(examples=["sales"])
    name: Word = Field(examples=["scope"])
    value: Word = Field(examples=["selected_contexts"])


class ResendInviteBody(RequestModel):
    """Options for sending an invite again."""

    mail: bool = Field(default=False, description="Mail the link instead of showing it here.")


class NewInvite(ResendInviteBody):
    """An invite to create."""

    email: EmailText
    roles: Annotated[list[InviteRole], Field(max_length=MAX_ROLES)] = Field(default=[])
    settings: Annotated[list[MembershipValueBody], Field(max_length=MAX_ROLES)] = Field(default=[])


class InviteSecret(RequestModel):
    """The secret of an invite's link."""

    secret: SecretText


class InviteAcceptance(InviteSecret):
    """The acceptance of an invite by a new member."""

    name: NameText = Field(examples=["Nils, New here"])
    password: NewPassword


class InviteJson(ResponseModel):
    """An invite that is still pending."""

    id: SecretId
    email: str = Field(examples=["nils@example.org"])
    roles: list[InviteRole] = Field(description="Roles on resources that the caller may see.")
    settings: list[MembershipValueBody]
    made_by: str = Field(examples=["tara"])
    made_at: RecordTime
    until: RecordTime


class CreatedInviteJson(ResponseModel):
    """A new invite. Its link is returned here once, or was mailed."""

    invite: InviteJson
    link: MailedLink = Field(examples=["http://127.0.0.1:8400/invite/lhi_…"])


class OpenInvite(ResponseModel):
    """An invite, as the holder of its link may see it."""

    tenant: IdText = Field(examples=["corner"])
    tenant_name: NameText = Field(examples=["Corner & Main"])
    email: str = Field(examples=["nils@example.org"])
    inviter_name: str = Field(examples=["Tara, Technical User"])
    until: RecordTime
    has_account: bool = Field(description="Whether there is an account with this address: then sign in and accept.")


@routes.get("")
def list_invites(ctx: ReadContext, paged: PageParams) -> PageResponse[InviteJson]:
    """List the invites that the caller made, or could have made, newest first."""
    behind = paged.start_key("invites", int, str)
    after = None if behind is None else (int(behind[0]), str(behind[1]))
    rows = invites.page(ctx, after=after, limit=paged.limit + 1)
    return paged.build_page("invites", rows, lambda row: (row.made_at, row.id), lambda row: _invite_json(ctx, row))


@routes.post("", status_code=201)
def make_invite(ctx: CreateContext, platform: CurrentPlatform, body: NewInvite) -> CreatedInviteJson:
    """Invite somebody, with these roles.

    Needs the right to invite as each of them, or to grant it and to add people.
    """
    invitation = InviteGrants(
        tuple(InvitedRole(place.role, place.resource) for place in body.roles),
        tuple(MembershipSetting(setting.resource, setting.name, setting.value) for setting in body.settings),
    )
    return _created_invite(ctx, invites.create(ctx, platform.settings, body.email, invitation, mail=body.mail))


@routes.get("/by-link/{secret}", responses=problem_responses(401), operation_id="look_at_invite")
def get_invite_by_link(platform: CurrentPlatform, secret: PathSecret) -> OpenInvite:
    """Get an invite by its link, without accepting it."""
    return OpenInvite.model_validate(invite_acceptance.get_info(platform, secret))


@routes.post("/by-link", status_code=201, responses=problem_responses(401, 409))
def accept_invite(platform: CurrentPlatform, client: CurrentClient, body: InviteAcceptance) -> SignInResultJson:
    """Accept an invite as a new member, and sign in."""
    secret, password = body.secret.get_secret_value(), body.password.get_secret_value()
    return sign_in_result(platform, lambda: invite_acceptance.accept(platform, secret, body.name, password, client))


@routes.post("/accept")
def accept_invite_as_member(ctx: WriteContext, body: InviteSecret) -> InviteJson:
    """Accept an invite to one's own e-mail address."""
    return _invite_json(ctx, invite_acceptance.accept_as_member(ctx, body.secret.get_secret_value()))


@routes.get("/{invite}")
def get_invite(ctx: ReadContext, invite: SecretId) -> InviteJson:
    """Get an invite."""
    return _invite_json(ctx, invites.get(ctx, invite))


@routes.post("/{invite}/again", status_code=201)
def send_invite_again(
    ctx: CreateContext, platform: CurrentPlatform, invite: SecretId, body: ResendInviteBody
) -> CreatedInviteJson:
    """Send an invite again. A new link replaces the old one."""
    return _created_invite(ctx, invites.resend(ctx, platform.settings, invite, mail=body.mail))


@routes.delete("/{invite}", status_code=204)
def revoke_invite(ctx: WriteContext, invite: SecretId) -> None:
    """Revoke an invite."""
    invites.revoke(ctx, invite)


def _created_invite(ctx: RequestContext, created: CreatedInvite) -> CreatedInviteJson:
    return CreatedInviteJson(invite=_invite_json(ctx, created.invite), link=created.link)


def _invite_json(ctx: RequestContext, invite: Invite) -> InviteJson:
    carried, refs = invite.grants, VisibleRefs(ctx)
    visible = {
        "roles": [role._asdict() for role in carried.roles if refs.sees(role.resource)],
        "settings": [setting._asdict() for setting in carried.settings if refs.sees(setting.resource)],
    }
    return InviteJson.model_validate({**asdict(invite), **visible})
