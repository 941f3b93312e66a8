"""Who is in a workspace: add, change, remove, each with its effect shown before it is saved."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlencode

from fastapi import Request, Response

from lakehold.access.model.policy import MEMBER
from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.catalog import change_preview, kinds, ownership, workspaces
from lakehold.catalog.resource_view import ResourceRef, make_ref
from lakehold.catalog.workspaces import WorkspaceMembership
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import FOREVER
from lakehold.kit.ids import fold_name
from lakehold.web import addresses, pages
from lakehold.web.actions import Action
from lakehold.web.effects import Asking, Choice, ask_first, preview
from lakehold.web.flashes import Flash
from lakehold.web.invites import offers
from lakehold.web.listing import Column, Filter, Listing
from lakehold.web.navigation import Crumb
from lakehold.web.routes import Sent, router
from lakehold.web.words import counted, plural, spoken
from lakehold.web.workspaces import inherited, membership, tabs
from lakehold.web.workspaces.membership import Filled, LabelField

routes = router("/workspaces")

RECEIVER = "receiver"
_WHO = Filter("who", "Who", (("member", "Members"), ("group", "Groups")))


@routes.get("/{uid:path}/members")
def members_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """The list: all for who keeps its members, for others themself and its owners."""
    found = workspaces.members(ctx, uid)
    space, schema = space_of(ctx, uid), kinds.schema_of(ctx.view, uid)
    roles = Filter("role", "Role", tuple((name, role.title) for name, role in schema.roles.items()))
    listing = Listing.of(request, sorts=("name",), filters=(roles, _WHO))
    listing = replace(listing, path=addresses.workspace(uid, "members"))
    rows = [member for member in found if _fits(member, listing)]
    rows.sort(key=lambda member: fold_name(member.subject.name), reverse=listing.descending)
    keeps = change_preview.gives_roles_on(ctx, uid)
    labels = membership.label_fields(ctx, uid)
    values: dict[str, object] = {
        "crumbs": trail(ctx, space, "Members"),
        **tabs.shown(uid, space.kind, tabs.MEMBERS),
        "space": space,
        "listing": listing,
        "columns": [Column("Who", "name"), Column("Roles"), *_value_columns(ctx, uid)],
        "rows": [
            (n, member, _told(ctx, member, labels), _actions(uid, member, keeps))
            for n, member in enumerate(listing.part(rows))
        ],
        "total": len(rows),
        "keeps": keeps,
        "sees_all": keeps or change_preview.may_ask_about_others(ctx),
        "add": _add_action(uid, keeps=keeps),
        "inherited": inherited.lines(ctx, uid),
        "may_invite": bool(offers.roles_in(ctx, uid)),
    }
    return pages.page(request, "workspaces/members.html", values)


@routes.post("/{uid:path}/members/remove")
def remove_member(request: Request, ctx: WriteContext, uid: str, sent: Sent) -> Response:
    """Show what they lose, then take them out."""
    changes = workspaces.plan_removal(ctx, uid, str(sent.get("subject", "")))
    member = member_of(ctx, uid, str(sent["subject"]))
    back = addresses.workspace(uid, "members")
    text = "What they hold on single things in it stays, and counts again should they come back."
    choice = _hand_over(ctx, uid, member)
    asking = Asking(f"Remove {member.subject.name}?", text, do="Remove", back=back, danger=True, choice=choice)
    if question := ask_first(request, sent, asking, lambda: preview(ctx, changes)):
        return question
    receiver = str(sent.get(RECEIVER, ""))
    if receiver:
        return _handed_over(request, ctx, uid, member, receiver)
    workspaces.remove_member(ctx, uid, member.subject.uid)
    endless = all(role.until >= FOREVER for role in member.roles)
    pairs = [("subject", member.subject.uid), *(("role", role.name) for role in member.roles)]
    pairs += [(membership.VALUE + name, value) for name, value in member.attributes.items()]
    undo = f"{addresses.workspace(uid, 'members/undo')}?{urlencode(pairs)}" if endless else ""
    return pages.go(request, back, Flash(f"{member.subject.name} was removed.", undo=undo))


def _hand_over(ctx: RequestContext, uid: str, member: WorkspaceMembership) -> Choice | None:
    """Who could get what they own in it; nothing to choose where they own nothing."""
    owns = ownership.owned_in_workspace(ctx, uid, member.subject.uid)
    if not owns:
        return None
    others = [each.subject for each in workspaces.members(ctx, uid) if each.subject.kind == MEMBER]
    options = [(each.uid, each.name) for each in others if each.uid != member.subject.uid]
    hint = f"They own {counted(len(owns), 'thing')} here. Nothing is deleted."
    return Choice(RECEIVER, "Hand over what they own", [("", "To nobody: it waits for them"), *options], hint)


def _handed_over(
    request: Request, ctx: RequestContext, uid: str, member: WorkspaceMembership, receiver: str
) -> Response:
    """Take them out when somebody else owns what was theirs. That is not undone by a button."""
    moved, left = ownership.transfer_all(ctx, uid, member.subject.uid, receiver)
    workspaces.remove_member(ctx, uid, member.subject.uid)
    words = [f"{member.subject.name} was removed.", f"{counted(len(moved), 'thing')} handed over."]
    words += [f"{counted(len(left), 'thing')} left with them, which you may not give away."] if left else []
    return pages.go(request, addresses.workspace(uid, "members"), Flash(" ".join(words)))


@routes.post("/{uid:path}/members/undo")
def undo(request: Request, ctx: WriteContext, uid: str) -> Response:
    """Let them have again what they had."""
    filled = Filled.of(request.query_params)
    values: dict[str, str | bool] = dict(filled.values)
    workspaces.set_member(ctx, uid, filled.subject, roles=filled.roles, attributes=values)
    return pages.go(request, addresses.workspace(uid, "members"), Flash("Taken back."))


def trail(ctx: RequestContext, space: ResourceRef, here: str) -> list[Crumb]:
    """The way to a part of a workspace."""
    tenant = ctx.view.names.get(ctx.view.resource(ctx.caller.tenant)) or ""
    return [
        Crumb(tenant, "/"),
        Crumb("Workspaces", "/workspaces"),
        Crumb(space.name, addresses.workspace(space.uid)),
        Crumb(here),
    ]


def space_of(ctx: RequestContext, uid: str) -> ResourceRef:
    """A workspace by name."""
    workspaces.need_workspace(ctx, uid)
    return ctx.session.read_view(lambda view: make_ref(view, uid))


def member_of(ctx: RequestContext, uid: str, subject: str) -> WorkspaceMembership:
    """What a member or group has in the workspace; nothing, if they are not in it yet."""
    ctx.need_visible(subject, "grant")
    found = next((member for member in workspaces.members(ctx, uid) if member.subject.uid == subject), None)
    return found or WorkspaceMembership(ctx.session.read_view(lambda view: make_ref(view, subject)), [], {})


def _fits(member: WorkspaceMembership, listing: Listing) -> bool:
    who = "member" if member.subject.kind == MEMBER else "group"
    role = listing.chosen["role"]
    return (
        fold_name(listing.search) in fold_name(member.subject.name)
        and listing.chosen["who"] in {"", who}
        and (not role or role in {held.name for held in member.roles})
    )


def _value_columns(ctx: RequestContext, uid: str) -> list[Column]:
    kept = [spoken(name) for name in kinds.schema_of(ctx.view, uid).membership]
    kept += [plural(kind.title) for kind in membership.label_kinds(ctx, uid)[:1]]
    return [Column(title, wide=True) for title in kept]


def _told(ctx: RequestContext, member: WorkspaceMembership, labels: list[LabelField]) -> list[str]:
    """What belongs to the membership, and the labels that they hold, as the columns have them."""
    if member.subject.kind != MEMBER:
        return []
    held = membership.held_labels(ctx, member) if labels else set()
    names = [label.name for label in labels if label.value in held]
    return [*(spoken(value) for value in member.attributes.values()), *([", ".join(names) or "–"] if labels else [])]


def _actions(uid: str, member: WorkspaceMembership, keeps: bool) -> list[Action]:  # noqa: FBT001 - read at the one place
    who = urlencode({"subject": member.subject.uid})
    page = Action("Open", addresses.of(member.subject.uid, member.subject.kind), icon="arrow-right")
    if not keeps:
        return [page]
    change = Action("Change", f"{addresses.workspace(uid, 'members/change')}?{who}", icon="pencil")
    fields = (("subject", member.subject.uid),)
    end = Action("Remove", addresses.workspace(uid, "members/remove"), "post", "trash-2", fields, danger=True)
    return [page, change, end]


def _add_action(uid: str, *, keeps: bool) -> Action:
    if keeps:
        return Action("Add", addresses.workspace(uid, "members/add"), icon="user-plus")
    return Action(
        "Add",
        why_not="You give no role here.",
        request=addresses.request(uid, ""),
        why=addresses.resource(uid, "access"),
    )
