"""The actions that the caller may take on a member, or the reason why not."""

from __future__ import annotations

from functools import cache

from lakehold.directory.act_for import MANAGE
from lakehold.directory.members import OWNER, Member
from lakehold.directory.request_context import RequestContext
from lakehold.web import urls
from lakehold.web.components import PageAction


class MemberActions:
    """Builds the actions on members. The caller's rights are read once for a page, not once for each row."""

    def __init__(self, ctx: RequestContext) -> None:
        self.me = ctx.caller.member
        self.tenant = ctx.caller.tenant
        self.name = ctx.view.names.get(ctx.view.resource(self.tenant)) or self.tenant
        self.may = frozenset(ctx.session.actions(ctx.principal, self.tenant))
        self._titles = ctx.view.policy.kind("tenant.tenant").schema.roles
        self._may_give = cache(lambda role: ctx.session.check(ctx.principal, "give", self.tenant, role=role))

    @property
    def keeps(self) -> bool:
        """Whether the caller may manage members of the tenant."""
        return MANAGE in self.may

    def row_actions(self, member: Member) -> list[PageAction]:
        """Return the actions on a member in a list."""
        page = PageAction("Open", urls.member(member.uid), icon="arrow-right")
        return [page, self.edit(member), self.change_roles(member.uid), self.view_as(member), self.remove(member)]

    def page_actions(self, member: Member) -> list[PageAction]:
        """Return the further actions on a member's page."""
        links = [] if member.service else [self.create_link(member, "sign_in"), self.create_link(member, "password")]
        return [*links, self.view_as(member), self.remove(member)]

    def edit(self, member: Member) -> PageAction:
        """Return the action that edits name and e-mail address."""
        why_not = "" if member.uid == self.me else self._missing_right(MANAGE)
        return self._action("Edit", urls.member(member.uid, "edit"), "pencil", why_not, MANAGE, dialog=True)

    def change_roles(self, uid: str) -> PageAction:
        """Return the action that changes tenant and security roles."""
        needed = "set_tenant_role"
        why_not = "" if "set_security_role" in self.may else self._missing_right(needed)
        return self._action("Change roles", urls.member(uid, "roles"), "shield", why_not, needed)

    def create_link(self, member: Member, purpose: str) -> PageAction:
        """Return the action that creates a sign-in or password link."""
        label, icon = {"sign_in": ("Create sign-in link", "link")}.get(purpose, ("Create password link", "key-round"))
        why_not = self._link_refusal(member)
        if not why_not and member.email is None:
            why_not = "No e-mail address. Add one first."
        ask, fields = self._request_url(MANAGE), (("purpose", purpose),)
        return PageAction(label, urls.member(member.uid, "links"), "post", icon, fields, why_not=why_not, request=ask)

    def view_as(self, member: Member) -> PageAction:
        """Return the action that impersonates the member."""
        why_not = self._missing_right("view_as")
        if member.uid == self.me:
            why_not = "This is you."
        elif not why_not and OWNER in member.roles and "manage_owners" not in self.may:
            why_not = "Only an Owner can view as an Owner."
        ask, fields = self._request_url("view_as"), (("member", member.uid),)
        return PageAction("View as", "/view-as", "post", "eye", fields, why_not=why_not, request=ask)

    def remove(self, member: Member) -> PageAction:
        """Return the action that removes the member."""
        mine = member.uid == self.me
        why_not = "" if mine else self._missing_right(MANAGE)
        if not why_not and not mine and OWNER in member.roles and "manage_owners" not in self.may:
            why_not = "Only an Owner can remove an Owner."
        label, icon = ("Leave", "log-out") if mine else ("Remove", "trash-2")
        return self._action(label, urls.member(member.uid, "remove"), icon, why_not, MANAGE, danger=True)

    def action_for_right(self, label: str, href: str, icon: str, right: str, *, dialog: bool = False) -> PageAction:
        """Return an action that needs a right on the tenant."""
        return self._action(label, href, icon, self._missing_right(right), right, dialog=dialog)

    def _action(
        self, label: str, href: str, icon: str, why_not: str, right: str, *, dialog: bool = False, danger: bool = False
    ) -> PageAction:
        ask = self._request_url(right)
        return PageAction(label, href, icon=icon, dialog=dialog, danger=danger, why_not=why_not, request=ask)

    def _request_url(self, right: str) -> str:
        return "" if right in self.may else urls.request(self.tenant, right)

    def _missing_right(self, right: str) -> str:
        return "" if right in self.may else f"You need permission to {right.replace('_', ' ')} in {self.name}."

    def _link_refusal(self, member: Member) -> str:
        """Return why the caller may not create a link. Nobody may for a member with roles that they could not give."""
        if not self.keeps:
            return self._missing_right(MANAGE)
        above = next((role for role in member.roles if not self._may_give(role)), "")
        return f"They are {self._titles[above].title}, a role you cannot grant." if above else ""
