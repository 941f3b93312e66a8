"""The actions that the caller may take on a member, or the reason why not."""

from dataclasses import replace
from functools import cache

from lakehold.directory.act_for import MANAGE, MANAGE_OWNERS
from lakehold.directory.members import Member
from lakehold.directory.request_context import RequestContext
from lakehold.web import urls
from lakehold.web.components import PageAction

_LINKS = {
    "sign_in": ("Create sign-in link", "link", (("purpose", "sign_in"),)),
    "password": ("Create password link", "key-round", (("purpose", "password"),)),
    "reset": (
        "Create password link and revoke API tokens",
        "key-round",
        (("purpose", "password"), ("revoke_tokens", "1")),
    ),
}


class MemberActions:
    """Builds the actions on members. The caller's rights are read once for a page, not once for each row."""

    def __init__(self, ctx: RequestContext) -> None:
        self.me = ctx.caller.member
        self.tenant = ctx.caller.tenant
        self.name = ctx.view.names.get(ctx.view.resource(self.tenant)) or self.tenant
        self.may = frozenset(ctx.session.actions(ctx.principal, self.tenant))
        self._check = ctx.session.check
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
        links = [] if member.service else [self.create_link(member, purpose) for purpose in _LINKS]
        return [*links, self.view_as(member), self.remove(member)]

    def edit(self, member: Member) -> PageAction:
        """Return the action that edits name and e-mail address."""
        action = PageAction("Edit", urls.member(member.uid, "edit"), icon="pencil", dialog=True)
        return self.offer(action, MANAGE, "" if member.uid == self.me else None)

    def change_roles(self, uid: str) -> PageAction:
        """Return the action that changes tenant and security roles."""
        action = PageAction("Change roles", urls.member(uid, "roles"), icon="shield")
        return self.offer(action, "set_tenant_role", "" if "set_security_role" in self.may else None)

    def create_link(self, member: Member, purpose: str) -> PageAction:
        """Return the action that creates a link; refused for a member with a role that the caller cannot give."""
        label, icon, values = _LINKS[purpose]
        action = PageAction(label, urls.member(member.uid, "links"), "post", icon, values)
        if not self.keeps:
            return self.offer(action, MANAGE)
        if above := next((role for role in member.roles if not self._may_give(role)), ""):
            return self.offer(action, MANAGE, f"They are {self._titles[above].title}, a role you cannot grant.")
        return self.offer(action, MANAGE, "No e-mail address. Add one first." if member.email is None else "")

    def view_as(self, member: Member) -> PageAction:
        """Return the action that impersonates the member."""
        action = PageAction("View as", "/view-as", "post", "eye", (("member", member.uid),))
        if member.uid == self.me:
            return self.offer(action, "view_as", "This is you.")
        is_above = "view_as" in self.may and self._is_above(member)
        return self.offer(action, "view_as", "Only an Owner can view as an Owner." if is_above else None)

    def remove(self, member: Member) -> PageAction:
        """Return the action that removes the member."""
        here = urls.member(member.uid, "remove")
        if member.uid == self.me:
            return self.offer(PageAction("Leave", here, icon="log-out", danger=True), MANAGE, "")
        is_above = self.keeps and self._is_above(member)
        action = PageAction("Remove", here, icon="trash-2", danger=True)
        return self.offer(action, MANAGE, "Only an Owner can remove an Owner." if is_above else None)

    def _is_above(self, member: Member) -> bool:
        """Whether the member manages Owners, and the caller does not."""
        return MANAGE_OWNERS not in self.may and self._check(member.uid, MANAGE_OWNERS, self.tenant)

    def offer(self, action: PageAction, right: str, why_not: str | None = None) -> PageAction:
        """Return an action that needs a right on the tenant: without it, with the reason and where to request it.
        `why_not` is another reason why it cannot be done; empty if it can without the right.
        """
        if right in self.may:
            return replace(action, why_not=why_not or "")
        missing = f"You need permission to {right.replace('_', ' ')} in {self.name}."
        request = urls.request(self.tenant, right)
        return replace(action, why_not=missing if why_not is None else why_not, request=request)
