"""Endpoints of the caller, their sign-ins and their password, and of impersonation ("View as")."""

from fastapi import Request
from pydantic import Field

from lakehold.api.catalog.schemas import RefJson
from lakehold.api.directory.schemas import (
    MemberJson,
    NewPassword,
    SecretId,
    SignInJson,
    SignOutResultJson,
    TypedPassword,
)
from lakehold.api.directory.sign_in import authenticate_now
from lakehold.api.http.dependencies import CurrentPlatform, ReadContext, WriteContext, retry_when_busy
from lakehold.api.http.models import IdText, NameText, RecordEnd, RequestModel, ResponseModel
from lakehold.api.http.paging import PageResponse
from lakehold.api.http.routing import REQUIRES_SIGN_IN, make_router, problem_responses
from lakehold.catalog import impersonation, resource_view
from lakehold.directory import authentication, groups, members, sign_ins

routes = make_router("/api/v1/me", "Me")


class Me(ResponseModel):
    """The caller, and what they may do with the tenant."""

    tenant: IdText = Field(examples=["corner"])
    tenant_name: NameText = Field(examples=["Corner & Main"])
    member: MemberJson
    everybody: str | None = Field(
        examples=["corner/all"], description="The id of the group All; null if the caller may not see it."
    )
    may: list[str] = Field(examples=[["see"]], description="Actions that they may perform on the tenant itself.")


class PasswordChange(RequestModel):
    """The old password, and the new one."""

    old: TypedPassword
    new: NewPassword
    revoke_tokens: bool = Field(default=False, description="Also revoke all API tokens of the member.")


@routes.get("")
def get_me(ctx: ReadContext) -> Me:
    """Get the caller."""
    tenant, everybody = ctx.caller.tenant, groups.all_members_group(ctx)
    ctx.need("see", tenant)
    return Me(
        tenant=tenant,
        tenant_name=ctx.view.names.get(ctx.view.resource(tenant)) or tenant,
        member=MemberJson.model_validate(members.get(ctx, ctx.caller.member)),
        everybody=everybody if ctx.session.can_see(ctx.principal, everybody) else None,
        may=list(ctx.session.actions(ctx.principal, tenant)),
    )


@routes.put(
    "/password", status_code=204, responses=problem_responses(401, 403, 404, 409), openapi_extra=REQUIRES_SIGN_IN
)
def change_password(platform: CurrentPlatform, request: Request, body: PasswordChange) -> None:
    """Change one's own password.

    All other sign-ins end, and all unused links.
    """
    caller = authenticate_now(request)
    old, new = body.old.get_secret_value(), body.new.get_secret_value()
    retry_when_busy(
        lambda: authentication.change_password(platform, caller, old, new, revoke_tokens=body.revoke_tokens)
    )


@routes.get("/sign-ins")
def list_my_sign_ins(ctx: ReadContext) -> PageResponse[SignInJson]:
    """List the caller's sign-ins."""
    return PageResponse[SignInJson].from_records(sign_ins.list_of_member(ctx, ctx.caller.member))


@routes.delete("/sign-ins")
def end_my_other_sign_ins(ctx: WriteContext) -> SignOutResultJson:
    """Sign out on all other devices."""
    return SignOutResultJson(ended=sign_ins.end_all(ctx, ctx.caller.member, but=ctx.caller.sign_in_id))


@routes.delete("/sign-ins/{sign_in}", status_code=204)
def end_my_sign_in(ctx: WriteContext, sign_in: SecretId) -> None:
    """Sign out on one device."""
    sign_ins.end(ctx, ctx.caller.member, sign_in)


view_as_routes = make_router("/api/v1/view-as", "View as")


class ViewAsBody(RequestModel):
    """The member to view as."""

    member: IdText = Field(examples=["bella"])


class ViewAsState(ResponseModel):
    """The member that the caller views as."""

    member: RefJson | None = Field(description="Null if the caller does not view as anyone.")
    behind: str | None = Field(examples=["adam"], description="The member who views as them.")
    until: RecordEnd = Field(description="When it expires.")


@view_as_routes.get("")
def get_view_as(ctx: ReadContext) -> ViewAsState:
    """Get the member that the caller views as."""
    if not ctx.caller.impersonator:
        return ViewAsState(member=None, behind=None, until=None)
    seen, until = resource_view.VisibleRefs(ctx).ref(ctx.caller.member), impersonation.active_until(ctx)
    return ViewAsState.model_validate({"member": seen, "behind": ctx.caller.impersonator, "until": until})


@view_as_routes.post("")
def begin_view_as(ctx: WriteContext, body: ViewAsBody) -> ViewAsState:
    """Begin to view as another member, with this sign-in or token.

    Needs the right `view_as`; an Admin may not view as an Owner. Nothing can be changed until it ends.
    """
    seen = impersonation.start(ctx, body.member)
    member = ctx.session.read_view(lambda view: resource_view.make_ref(view, seen.member))
    until = ctx.at + impersonation.MAX_DURATION
    return ViewAsState.model_validate({"member": member, "behind": seen.impersonator, "until": until})


@view_as_routes.delete("", status_code=204)
def end_view_as(ctx: WriteContext) -> None:
    """Stop viewing as another member."""
    impersonation.stop(ctx)
