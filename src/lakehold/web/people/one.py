"""A member's page."""

from __future__ import annotations

from fastapi import Request, Response

from lakehold.api.frame.works import Reading
from lakehold.catalog import grants, kinds, sharing
from lakehold.catalog.grants import Held
from lakehold.catalog.shapes import Eyes
from lakehold.directory import members, sign_ins, tokens
from lakehold.directory.members import Member
from lakehold.directory.standing import MANAGE
from lakehold.directory.work import Work
from lakehold.web import addresses, pages
from lakehold.web.actions import Action
from lakehold.web.navigation import Crumb
from lakehold.web.people.acting import Keeper
from lakehold.web.routes import router

routes = router("/people")


@routes.get("/{uid:path}")
def member_page(request: Request, work: Reading, uid: str) -> Response:
    """Who they are, what they hold, and what they can reach."""
    member = members.one(work, uid)
    keeper = Keeper(work)
    values: dict[str, object] = {
        "crumbs": trail(work, member),
        "member": member,
        "mine": uid == work.caller.member,
        "keeper": keeper,
        "edit": keeper.edit(member),
        "roles": keeper.roles(uid),
        "more": keeper.on_page(member),
        "groups": Eyes(work).refs(member.groups),
        "join": keeper.needs("Add to a group", addresses.member(uid, "groups"), "plus", "manage_groups", dialog=True),
        "may_ask": may_ask(work, uid),
        "ask": Action(
            "See what they can reach",
            why_not=f"You need the right to ask about others in {keeper.name}.",
            request=addresses.request(work.caller.tenant, sharing.ASK),
        ),
        "held": _held(work, member.uid) if may_ask(work, uid) else None,
        **_kept(work, member),
    }
    return pages.page(request, "people/member.html", values)


def may_ask(work: Work, uid: str) -> bool:
    """Whether the caller may know what they can reach: about oneself everybody may."""
    return uid == work.caller.member or sharing.may_ask_about_others(work)


def trail(work: Work, member: Member, here: str = "") -> list[Crumb]:
    """The way to a member's page, or to a part of it."""
    tenant = work.view.names.get(work.view.resource(work.caller.tenant)) or ""
    crumbs = [Crumb(tenant, "/"), Crumb("People", "/people"), Crumb(member.name, addresses.member(member.uid))]
    return [*crumbs, Crumb(here)] if here else crumbs


def _held(work: Work, uid: str) -> list[Held]:
    """The roles that they hold in workspaces themself."""
    roots = {root.id for root in kinds.roots(work.view.policy)}
    return grants.held_by(work, uid, among=roots)


def _kept(work: Work, member: Member) -> dict[str, object]:
    """What is for themself, and for those who keep members: sign-ins, and the tokens of a service account."""
    whole = work.caller.narrowed is None
    keeps = work.session.check(work.asker, MANAGE, work.caller.tenant)
    told = whole and (keeps or member.uid == work.caller.member)
    return {
        "sign_ins": sign_ins.of(work, member.uid) if told and not member.service else None,
        "tokens": tokens.of(work, member.uid) if told and keeps and member.service else None,
        "may_group": work.session.check(work.asker, "manage_groups", work.caller.tenant),
    }
