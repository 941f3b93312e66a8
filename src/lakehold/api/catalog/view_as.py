"""Seeing with another member's eyes."""

from __future__ import annotations

from pydantic import Field

from lakehold.api.catalog import shown
from lakehold.api.catalog.shown import RefJson
from lakehold.api.frame.models import Answer, Body, IdText, Time, told
from lakehold.api.frame.routes import router
from lakehold.api.frame.works import Reading, Writing
from lakehold.catalog import impersonation, resource_view

routes = router("/api/v1/view-as", "View as")


class Eyes(Body):
    """Whose."""

    member: IdText = Field(examples=["bella"])


class Viewing(Answer):
    """With whose eyes the caller looks."""

    member: RefJson | None = Field(description="Null: with their own.")
    behind: str | None = Field(examples=["adam"], description="Who really looks.")
    until: Time | None = Field(description="When it ends by itself.")


@routes.get("")
def get_view_as(ctx: Reading) -> Viewing:
    """With whose eyes does the caller look?"""
    if not ctx.caller.impersonator:
        return Viewing(member=None, behind=None, until=None)
    seen = resource_view.VisibleRefs(ctx).ref(ctx.caller.member)
    return Viewing(
        member=shown.maybe(seen), behind=ctx.caller.impersonator, until=told(impersonation.active_until(ctx))
    )


@routes.post("")
def begin_view_as(ctx: Writing, body: Eyes) -> Viewing:
    """Begin to look with another member's eyes, with this sign-in or token.

    Needs the right `view_as`; an Admin does not look with an Owner's. Nothing can be changed until it ends.
    """
    seen = impersonation.start(ctx, body.member)
    member = ctx.session.read_view(lambda view: resource_view.make_ref(view, seen.member))
    return Viewing(member=shown.ref(member), behind=seen.impersonator, until=told(ctx.at + impersonation.MAX_DURATION))


@routes.delete("", status_code=204)
def end_view_as(ctx: Writing) -> None:
    """Look with one's own eyes again."""
    impersonation.stop(ctx)
