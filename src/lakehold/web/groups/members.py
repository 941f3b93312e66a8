"""Letting people into a group and out of it, with what that gives and takes shown first."""

from __future__ import annotations

from urllib.parse import urlencode

from fastapi import Request, Response

from lakehold.access import Add, Edge, Remove
from lakehold.access.model.policy import MEMBER_OF
from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.directory import groups, members
from lakehold.directory.groups import Group
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.errors import InvalidInputError, NotFoundError
from lakehold.web import date_fields, pages, urls
from lakehold.web.confirmation import ConfirmationPrompt, confirm_effects, preview_effects
from lakehold.web.cookies import Flash
from lakehold.web.groups.one import trail
from lakehold.web.people import picking
from lakehold.web.routing import SubmittedForm, router

routes = router("/groups")


@routes.get("/{uid:path}/add")
def add_form(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Whom, and until when."""
    groups.need_edit(ctx, uid)
    asked = request.query_params
    filled = {name: asked.get(name, "") for name in ("member", "until", "from")}
    return _form(request, ctx, groups.get(ctx, uid), filled, find=asked.get("find", ""))


@routes.post("/{uid:path}/add")
def add(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Show what they win, then let them in."""
    groups.need_edit(ctx, uid)
    group = groups.get(ctx, uid)
    filled = {name: str(sent.get(name, "")) for name in ("member", "until", "from")}
    try:
        until, member = date_fields.parse_end_of_day(ctx, filled["until"]), members.get(ctx, filled["member"])
    except (InvalidInputError, NotFoundError) as error:
        return _form(request, ctx, group, filled, error=error)
    fact = Edge(MEMBER_OF, member.uid, uid)
    asking = ConfirmationPrompt(
        f"Add {member.name} to {group.name}?",
        _for(until, filled["until"]),
        do="Add",
        back=f"{urls.group(uid, 'add')}?{urlencode(filled)}",
    )
    if question := confirm_effects(request, sent, asking, lambda: preview_effects(ctx, [Add(fact)])):
        return question
    groups.add(ctx, uid, member.uid, until=until)
    undo = f"{urls.group(uid, 'undo')}?{urlencode({'member': member.uid, 'do': 'remove'})}"
    return pages.redirect(request, _back(uid, filled), Flash(f"{member.name} is in {group.name}.", undo=undo))


@routes.post("/{uid:path}/remove")
def remove(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Show what they lose, then let them go."""
    groups.need_edit(ctx, uid)
    group, member = groups.get(ctx, uid), members.get(ctx, str(sent.get("member", "")))
    back = _back(uid, {"member": member.uid, "from": str(sent.get("from", ""))})
    fact = Edge(MEMBER_OF, member.uid, uid)
    asking = ConfirmationPrompt(f"Remove {member.name} from {group.name}?", do="Remove", back=back, danger=True)
    if question := confirm_effects(request, sent, asking, lambda: preview_effects(ctx, [Remove(fact)])):
        return question
    groups.remove(ctx, uid, member.uid)
    undo = f"{urls.group(uid, 'undo')}?{urlencode({'member': member.uid, 'do': 'add'})}"
    return pages.redirect(request, back, Flash(f"{member.name} is no longer in {group.name}.", undo=undo))


@routes.post("/{uid:path}/undo")
def undo(request: Request, ctx: WriteContext, uid: str, member: str = "", do: str = "") -> Response:
    """Take the last step back."""
    if do == "add":
        groups.add(ctx, uid, member)
    else:
        groups.remove(ctx, uid, member)
    return pages.redirect(request, urls.group(uid), Flash("Taken back."))


def _back(uid: str, filled: dict[str, str]) -> str:
    """To where they came from: the member's page, or the group's."""
    return urls.member(filled["member"]) if filled["from"] == "member" else urls.group(uid)


def _for(until: Moment | None, day: str) -> str:
    return f"Until the end of {day}." if until is not None else ""


def _form(
    request: Request,
    ctx: RequestContext,
    group: Group,
    filled: dict[str, str],
    *,
    find: str = "",
    error: Exception | None = None,
) -> Response:
    chosen = filled["member"]
    wrong = "until" if isinstance(error, InvalidInputError) and filled["until"] else "member"
    values: dict[str, object] = {
        "crumbs": trail(ctx, group, "Add somebody"),
        "group": group,
        "filled": filled,
        "picked": picking.people(ctx, find, but=set(group.members), chosen=chosen),
        "errors": {wrong: str(error)} if error else {},
        "today": date_fields.today(ctx),
    }
    return pages.render(request, "groups/add.html", values, status=422 if error else 200)
