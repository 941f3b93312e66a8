"""Oneself: who one is, where one is signed in, and one's password."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from pydantic import Field

from lakehold.api.directory import people, sign_in_list
from lakehold.api.directory.people import MemberJson
from lakehold.api.directory.sign_in_list import Ended, SignInJson
from lakehold.api.directory.texts import NewPassword, SecretId, TypedPassword
from lakehold.api.directory.visiting import caller_now
from lakehold.api.frame.models import Answer, Body, IdText, NameText
from lakehold.api.frame.paging import Page
from lakehold.api.frame.routes import problems, router
from lakehold.api.frame.works import House, Reading, Writing, retried
from lakehold.directory import authentication, groups, members, sign_ins

routes = router("/api/v1/me", "Me")

_SIGNED_IN: dict[str, Any] = {"security": [{"token": []}, {"session": []}]}


class Me(Answer):
    """Who calls, and what they may do with the tenant."""

    tenant: IdText = Field(examples=["corner"])
    tenant_name: NameText = Field(examples=["Corner & Main"])
    member: MemberJson
    everybody: str | None = Field(
        examples=["corner/all"], description="The id of the group All; null if it is not for the caller."
    )
    may: list[str] = Field(examples=[["see"]], description="What they may do with the tenant itself.")


class ChangedPassword(Body):
    """The old password, and the new one."""

    old: TypedPassword
    new: NewPassword


@routes.get("")
def get_me(ctx: Reading) -> Me:
    """Who am I?"""
    tenant, everybody = ctx.caller.tenant, groups.all_members_group(ctx)
    ctx.need("see", tenant)
    return Me(
        tenant=tenant,
        tenant_name=ctx.view.names.get(ctx.view.resource(tenant)) or tenant,
        member=people.told(members.get(ctx, ctx.caller.member)),
        everybody=everybody if ctx.session.can_see(ctx.asker, everybody) else None,
        may=list(ctx.session.actions(ctx.asker, tenant)),
    )


@routes.put("/password", status_code=204, responses=problems(401, 403, 404, 409), openapi_extra=_SIGNED_IN)
def change_password(platform: House, request: Request, body: ChangedPassword) -> None:
    """Change one's own password.

    All other sign-ins end, and all links that nobody has used yet.
    """
    caller = caller_now(request, platform)
    old, new = body.old.get_secret_value(), body.new.get_secret_value()
    retried(lambda: authentication.change_password(platform, caller, old, new))


@routes.get("/sign-ins")
def list_my_sign_ins(ctx: Reading) -> Page[SignInJson]:
    """Where am I signed in?"""
    return Page(items=[sign_in_list.told(found) for found in sign_ins.list_of_member(ctx, ctx.caller.member)])


@routes.delete("/sign-ins")
def end_my_other_sign_ins(ctx: Writing) -> Ended:
    """Sign out everywhere else."""
    return Ended(ended=sign_ins.end_all(ctx, ctx.caller.member, but=ctx.caller.sign_in_id))


@routes.delete("/sign-ins/{sign_in}", status_code=204)
def end_my_sign_in(ctx: Writing, sign_in: SecretId) -> None:
    """Sign out on one device."""
    sign_ins.end(ctx, ctx.caller.member, sign_in)
