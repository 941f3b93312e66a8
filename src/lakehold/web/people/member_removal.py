"""Removing a member, with a preview of what they own and who receives it."""

from __future__ import annotations

from fastapi import Request, Response

from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.directory import member_removal, members
from lakehold.directory.errors import HiddenError
from lakehold.directory.member_removal import RemovalResult
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError
from lakehold.web import pages, urls
from lakehold.web.confirmation import confirm
from lakehold.web.cookies import Flash
from lakehold.web.labels import format_count
from lakehold.web.people import member_picker
from lakehold.web.people.member_page import member_breadcrumbs
from lakehold.web.routing import SubmittedForm, router

routes = router("/people")

HAND_OVER, LEAVE = "hand_over", "leave"


@routes.get("/{uid:path}/remove")
def remove_member_form(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Show the form with what happens to the member's resources."""
    return _removal_form(request, ctx, uid, find=request.query_params.get("find", ""))


@routes.post("/{uid:path}/remove")
def remove_member(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Remove the member after confirmation."""
    what, receiver = str(sent.get("what", LEAVE)), str(sent.get("receiver", ""))
    if what == HAND_OVER and not receiver:
        return _removal_form(request, ctx, uid, what=what, error="Select a new owner.")
    mine = uid == ctx.caller.member
    name = members.get(ctx, uid).name
    question = "Leave for good?" if mine else f"Remove {name}?"
    text = "Their sessions, tokens and links are revoked. Nothing that they own is deleted."
    back = urls.member(uid, "remove")
    if confirmation := confirm(request, sent, question, text, do="Leave" if mine else "Remove", back=back):
        return confirmation
    try:
        removed = member_removal.remove(ctx, uid, receiver=receiver if what == HAND_OVER else None)
    except (ConflictError, InvalidInputError, HiddenError, NotFoundError) as error:
        return _removal_form(request, ctx, uid, what=what, receiver=receiver, error=str(error))
    if mine:
        return pages.redirect(request, "/sign-in")
    return pages.redirect(request, "/people", Flash(_removal_message(removed)))


def _removal_message(removed: RemovalResult) -> str:
    parts = [f"{removed.name} was removed."]
    if removed.moved:
        parts.append(f"{format_count(len(removed.moved), 'ownership')} transferred.")
    if removed.left:
        parts.append(f"{format_count(len(removed.left), 'thing')} left without an owner.")
    return " ".join(parts)


def _removal_form(
    request: Request,
    ctx: RequestContext,
    uid: str,
    *,
    find: str = "",
    what: str = "",
    receiver: str = "",
    error: str = "",
) -> Response:
    preview = member_removal.preview(ctx, uid)
    member = members.get(ctx, uid)
    mine = uid == ctx.caller.member
    values: dict[str, object] = {
        "crumbs": member_breadcrumbs(ctx, member, "Leave" if mine else "Remove"),
        "member": member,
        "mine": mine,
        "preview": preview,
        "what": what or (HAND_OVER if preview.owns or preview.more else LEAVE),
        "receiver": receiver,
        "picked": member_picker.member_choices(ctx, find, but={uid}, chosen=receiver),
        "error": error,
    }
    return pages.render(request, "people/remove.html", values, status=422 if error else 200)
