"""A member's page."""

from __future__ import annotations

from fastapi import Request, Response

from lakehold.api.http.dependencies import ReadContext
from lakehold.catalog import change_preview, grants, kinds
from lakehold.catalog.grants import GrantedRole
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory import members, sign_ins, tokens
from lakehold.directory.act_for import MANAGE
from lakehold.directory.members import Member
from lakehold.directory.request_context import RequestContext
from lakehold.web import pages, urls
from lakehold.web.components import PageAction
from lakehold.web.navigation import Breadcrumb
from lakehold.web.people.acting import Keeper
from lakehold.web.routing import router

routes = router("/people")


@routes.get("/{uid:path}")
def member_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Who they are, what they hold, and what they can reach."""
    member = members.get(ctx, uid)
    keeper = Keeper(ctx)
    values: dict[str, object] = {
        "crumbs": trail(ctx, member),
        "member": member,
        "mine": uid == ctx.caller.member,
        "keeper": keeper,
        "edit": keeper.edit(member),
        "roles": keeper.roles(uid),
        "more": keeper.on_page(member),
        "groups": VisibleRefs(ctx).refs(member.groups),
        "join": keeper.needs("Add to a group", urls.member(uid, "groups"), "plus", "manage_groups", dialog=True),
        "may_ask": may_ask(ctx, uid),
        "ask": PageAction(
            "See what they can reach",
            why_not=f"You need the right to ask about others in {keeper.name}.",
            request=urls.request(ctx.caller.tenant, change_preview.ASK),
        ),
        "held": _held(ctx, member.uid) if may_ask(ctx, uid) else None,
        **_kept(ctx, member),
    }
    return pages.render(request, "people/member.html", values)


def may_ask(ctx: RequestContext, uid: str) -> bool:
    """Whether the caller may know what they can reach: about oneself everybody may."""
    return uid == ctx.caller.member or change_preview.may_ask_about_others(ctx)


def trail(ctx: RequestContext, member: Member, here: str = "") -> list[Breadcrumb]:
    """The way to a member's page, or to a part of it."""
    tenant = ctx.view.names.get(ctx.view.resource(ctx.caller.tenant)) or ""
    crumbs = [
        Breadcrumb(tenant, "/"),
        Breadcrumb("People", "/people"),
        Breadcrumb(member.name, urls.member(member.uid)),
    ]
    return [*crumbs, Breadcrumb(here)] if here else crumbs


def _held(ctx: RequestContext, uid: str) -> list[GrantedRole]:
    """The roles that they hold in workspaces themself."""
    roots = {root.id for root in kinds.workspace_kinds(ctx.view.policy)}
    return grants.list_held_by(ctx, uid, among=roots)


def _kept(ctx: RequestContext, member: Member) -> dict[str, object]:
    """What is for themself, and for those who keep members: sign-ins, and the tokens of a service account."""
    whole = ctx.caller.narrowed is None
    keeps = ctx.session.check(ctx.asker, MANAGE, ctx.caller.tenant)
    told = whole and (keeps or member.uid == ctx.caller.member)
    return {
        "sign_ins": sign_ins.list_of_member(ctx, member.uid) if told and not member.service else None,
        "tokens": tokens.list_of_member(ctx, member.uid) if told and keeps and member.service else None,
        "may_group": ctx.session.check(ctx.asker, "manage_groups", ctx.caller.tenant),
    }
