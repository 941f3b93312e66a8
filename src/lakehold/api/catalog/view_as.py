"""Seeing with another member's eyes."""

from __future__ import annotations

from pydantic import Field

from lakehold.api.catalog import shown
from lakehold.api.catalog.shown import RefJson
from lakehold.api.frame.models import Answer, Body, IdText, Time, told
from lakehold.api.frame.routes import router
from lakehold.api.frame.works import Reading, Writing
from lakehold.catalog import shapes, viewing

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
def get_view_as(work: Reading) -> Viewing:
    """With whose eyes does the caller look?"""
    if not work.caller.behind:
        return Viewing(member=None, behind=None, until=None)
    seen = shapes.Eyes(work).ref(work.caller.member)
    return Viewing(member=shown.maybe(seen), behind=work.caller.behind, until=told(viewing.until(work)))


@routes.post("")
def begin_view_as(work: Writing, body: Eyes) -> Viewing:
    """Begin to look with another member's eyes, with this sign-in or token.

    Needs the right `view_as`; an Admin does not look with an Owner's. Nothing can be changed until it ends.
    """
    seen = viewing.begin(work, body.member)
    member = work.session.asking(lambda view: shapes.ref(view, seen.member))
    return Viewing(member=shown.ref(member), behind=seen.behind, until=told(work.at + viewing.LASTS))


@routes.delete("", status_code=204)
def end_view_as(work: Writing) -> None:
    """Look with one's own eyes again."""
    viewing.end(work)
