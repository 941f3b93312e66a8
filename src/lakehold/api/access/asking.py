"""Who may ask about whom, and what they may be told.

About oneself everybody may ask; about others those who `ask_about_others`. A resource that the caller may not see
answers like one that does not exist, whomever the question is about.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from lakehold.access.decisions.principal import Principal
from lakehold.access.session import AccessQueries
from lakehold.api.frame.models import Answer, IdText, NameText, Word
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import to_moment
from lakehold.kit.errors import NotFoundError
from lakehold.kit.ids import quote


class Named(Answer):
    """Somebody or something by id and name."""

    id: IdText
    name: NameText


class NamedResource(Named):
    """A resource by id, name and kind."""

    kind: Word


class Asking:
    """A caller's questions at one moment: now, or another that they name."""

    def __init__(self, ctx: RequestContext, at: datetime | None = None) -> None:
        self.work = ctx
        self.at: AccessQueries = ctx.session
        if at is not None:
            # The past and the future tell of others, and cost a reading of all facts.
            need_others(ctx)
            self.at = ctx.session.as_of(to_moment(at))

    def subject(self, given: str | None) -> Principal:
        """Whom the question is about: the caller, or somebody else if they may ask. A narrowed token that asks about
        its own member is told what it may do itself.
        """
        if given is None or given == self.work.caller.member:
            return self.work.asker
        need_others(self.work)
        self.see((given,), "member")
        return given

    def sees(self, uid: str) -> bool:
        """Whether the caller may know of it: now if it is there now, at that moment if it is not."""
        asker, now = self.work.asker, self.work.session
        if now is self.at or self.work.view.ids.get(uid) is not None:
            return now.can_see(asker, uid)
        try:
            return self.at.can_see(asker, uid)
        except NotFoundError:
            return False

    def see(self, uids: Iterable[str], what: str = "resource") -> None:
        """Refuse to speak of what the caller may not know of."""
        for uid in uids:
            try:
                known = self.sees(uid)
            except NotFoundError:
                known = False
            if not known:
                raise NotFoundError(f"There is no {what} {quote(uid)}.", "Look the id up in a list.")

    def named(self, uid: str) -> Named:
        """A resource that the caller sees, by name."""
        return Named(id=uid, name=self.name(uid))

    def name(self, uid: str) -> str:
        """What it is called."""
        view = self.at.current_view()
        number = view.ids.get(uid)
        return (view.names.get(number) if number is not None else None) or uid


def need_others(ctx: RequestContext) -> None:
    """Refuse whoever may not ask about others."""
    ctx.need("ask_about_others", ctx.caller.tenant)
