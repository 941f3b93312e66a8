"""Endpoints of impersonation ("View as")."""

from __future__ import annotations

from pydantic import Field

from lakehold.api.catalog.schemas import RefJson
from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.api.http.models import IdText, RequestModel, ResponseModel, Time, to_optional_datetime
from lakehold.api.http.routing import make_router
from lakehold.catalog import impersonation, resource_view

routes = make_router("/api/v1/view-as", "View as")


class ViewAsBody(RequestModel):
    """The member to view as."""

    member: IdText = Field(examples=["bella"])


class ViewAsState(ResponseModel):
    """Whom the caller views as."""

    member: RefJson | None = Field(description="Null: with their own.")
    behind: str | None = Field(examples=["adam"], description="Who really looks.")
    until: Time | None = Field(description="When it ends by itself.")


@routes.get("")
def get_view_as(ctx: ReadContext) -> ViewAsState:
    """Get whom the caller views as."""
    if not ctx.caller.impersonator:
        return ViewAsState(member=None, behind=None, until=None)
    seen = resource_view.VisibleRefs(ctx).ref(ctx.caller.member)
    return ViewAsState(
        member=None if seen is None else RefJson.model_validate(seen),
        behind=ctx.caller.impersonator,
        until=to_optional_datetime(impersonation.active_until(ctx)),
    )


@routes.post("")
def begin_view_as(ctx: WriteContext, body: ViewAsBody) -> ViewAsState:
    """Begin to view as another member, with this sign-in or token.

    Needs the right `view_as`; an Admin may not view as an Owner. Nothing can be changed until it ends.
    """
    seen = impersonation.start(ctx, body.member)
    member = ctx.session.read_view(lambda view: resource_view.make_ref(view, seen.member))
    return ViewAsState(
        member=RefJson.model_validate(member),
        behind=seen.impersonator,
        until=to_optional_datetime(ctx.at + impersonation.MAX_DURATION),
    )


@routes.delete("", status_code=204)
def end_view_as(ctx: WriteContext) -> None:
    """Stop viewing as another member."""
    impersonation.stop(ctx)
