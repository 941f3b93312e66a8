"""What the caller may do with a member, or why not."""

from __future__ import annotations

from lakehold.directory.act_for import MANAGE
from lakehold.directory.members import OWNER, Member
from lakehold.directory.request_context import RequestContext
from lakehold.web import urls
from lakehold.web.components import PageAction


class Keeper:
    """The caller among the members; what they may do is asked once for a page, not once for each row."""

    def __init__(self, ctx: RequestContext) -> None:
        self.me = ctx.caller.member
        self.tenant = ctx.caller.tenant
        self.name = ctx.view.names.get(ctx.view.resource(self.tenant)) or self.tenant
        self.may = frozenset(ctx.session.actions(ctx.asker, self.tenant))
        self._ctx = ctx
        self._gives: dict[str, bool] = {}

    @property
    def keeps(self) -> bool:
        """Whether they keep the tenant's members."""
        return MANAGE in self.may

    def in_row(self, member: Member) -> list[PageAction]:
        """What there is to do with a member in a list."""
        page = PageAction("Open", urls.member(member.uid), icon="arrow-right")
        return [page, self.edit(member), self.roles(member.uid), self.view_as(member), self.remove(member)]

    def on_page(self, member: Member) -> list[PageAction]:
        """What more there is to do on their page."""
        links = [] if member.service else [self.link(member, "sign_in"), self.link(member, "password")]
        return [*links, self.view_as(member), self.remove(member)]

    def edit(self, member: Member) -> PageAction:
        """Name and e-mail address."""
        why_not = "" if self.keeps or member.uid == self.me else self._lacks(MANAGE)
        return self._action("Edit", urls.member(member.uid, "edit"), "pencil", why_not, MANAGE, dialog=True)

    def roles(self, uid: str) -> PageAction:
        """Tenant and security roles."""
        needed = "set_tenant_role"
        why_not = "" if {needed, "set_security_role"} & self.may else self._lacks(needed)
        return self._action("Change roles", urls.member(uid, "roles"), "shield", why_not, needed)

    def link(self, member: Member, purpose: str) -> PageAction:
        """A link that lets them in."""
        label = "Make a sign-in link" if purpose == "sign_in" else "Make a password link"
        why_not = self._not_over(member)
        if not why_not and member.email is None:
            why_not = "They have no e-mail address yet. Edit them first."
        return PageAction(
            label,
            urls.member(member.uid, "links"),
            "post",
            "link" if purpose == "sign_in" else "key-round",
            (("purpose", purpose),),
            why_not=why_not,
            request="" if self.keeps else urls.request(self.tenant, MANAGE),
        )

    def view_as(self, member: Member) -> PageAction:
        """See with their eyes."""
        why_not = "" if "view_as" in self.may else self._lacks("view_as")
        if member.uid == self.me:
            why_not = "You see with your own eyes already."
        elif not why_not and OWNER in member.roles and "manage_owners" not in self.may:
            why_not = "Only an Owner sees with an Owner's eyes."
        asked = urls.request(self.tenant, "view_as") if "view_as" not in self.may else ""
        return PageAction(
            "View as", "/view-as", "post", "eye", (("member", member.uid),), why_not=why_not, request=asked
        )

    def remove(self, member: Member) -> PageAction:
        """Let them go."""
        mine = member.uid == self.me
        why_not = "" if self.keeps or mine else self._lacks(MANAGE)
        if not why_not and not mine and OWNER in member.roles and "manage_owners" not in self.may:
            why_not = "Only an Owner removes an Owner."
        label, there = "Leave" if mine else "Remove", urls.member(member.uid, "remove")
        return self._action(label, there, "log-out" if mine else "trash-2", why_not, MANAGE, danger=True)

    def needs(self, label: str, href: str, icon: str, right: str, *, dialog: bool = False) -> PageAction:
        """Something that needs a right on the tenant."""
        why_not = "" if right in self.may else self._lacks(right)
        return self._action(label, href, icon, why_not, right, dialog=dialog)

    def _action(
        self,
        label: str,
        href: str,
        icon: str,
        why_not: str,
        right: str,
        *,
        dialog: bool = False,
        danger: bool = False,
    ) -> PageAction:
        asked = urls.request(self.tenant, right) if right not in self.may else ""
        return PageAction(label, href, icon=icon, dialog=dialog, danger=danger, why_not=why_not, request=asked)

    def _lacks(self, right: str) -> str:
        return f"You need the right to {right.replace('_', ' ')} in {self.name}."

    def _not_over(self, member: Member) -> str:
        """Nobody makes a link for who may do more than they could give."""
        if not self.keeps:
            return self._lacks(MANAGE)
        above = next((role for role in member.roles if not self._may_give(role)), "")
        title = self._ctx.view.policy.role("tenant.tenant", above).title if above else ""
        return f"They are {title}, which you could not give." if above else ""

    def _may_give(self, role: str) -> bool:
        if role not in self._gives:
            self._gives[role] = self._ctx.session.check(self._ctx.asker, "give", self.tenant, role=role)
        return self._gives[role]
