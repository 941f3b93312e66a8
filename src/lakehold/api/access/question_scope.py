"""Decides who may ask about whom, and what they may see.

About oneself everybody may ask; about others those who have the right `ask_about_others`. A resource that the caller
may not see is answered like one that does not exist, whomever the question is about.
"""

from collections.abc import Iterable
from datetime import datetime
from functools import partial

from lakehold.access.decisions.principal import Principal
from lakehold.access.query.listing import ListedResource, ListingPage, to_cursor
from lakehold.access.session import AccessQueries
from lakehold.api.http.models import NameText, RecordId, ResponseModel, Word
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import to_moment
from lakehold.kit.database import CursorPage
from lakehold.kit.errors import NotFoundError
from lakehold.kit.ids import quote


class NamedRefJson(ResponseModel):
    """The id and name of a member or resource."""

    id: RecordId
    name: NameText


class NamedResourceJson(NamedRefJson):
    """The id, name and kind of a resource."""

    kind: Word


class QuestionScope:
    """The scope of a caller's questions at one moment, now or another."""

    def __init__(self, ctx: RequestContext, at: datetime | None = None) -> None:
        self.work = ctx
        self.questions: AccessQueries = ctx.session
        if at is not None:
            # The past and the future tell of others, and cost a reading of all facts.
            need_others(ctx)
            self.questions = ctx.session.as_of(to_moment(at))

    def resolve_subject(self, given: str | None) -> Principal:
        """Return the member that the question is about: the caller, or another one if they may ask.

        A narrowed token that asks about its own member gets what the token itself may do.
        """
        if given is None or given == self.work.caller.member:
            return self.work.principal
        need_others(self.work)
        self.require_visible((given,), "member")
        return given

    def is_visible(self, uid: str) -> bool:
        """Return whether the caller may see it, now if it exists now, else at that moment."""
        exists_now = self.work.view.ids.get(uid) is not None
        try:
            return (self.work.session if exists_now else self.questions).can_see(self.work.principal, uid)
        except NotFoundError:
            return False

    def require_visible(self, uids: Iterable[str], what: str = "resource") -> None:
        """Raise NotFoundError for what the caller may not see."""
        for uid in uids:
            if not self.is_visible(uid):
                raise NotFoundError(f"There is no {what} {quote(uid)}.", "Check the ID.")

    def named_ref(self, uid: str) -> NamedRefJson:
        """Return the id and name of a resource that the caller sees."""
        return NamedRefJson(id=uid, name=self.name(uid))

    def name(self, uid: str) -> str:
        """Return the name of a resource."""
        view = self.questions.current_view()
        number = view.ids.get(uid)
        return (view.names.get(number) if number is not None else None) or uid

    def allowed_page(
        self,
        principal: Principal,
        action: str,
        kind: str,
        *,
        after: str | None,
        limit: int,
        within: str | None = None,
        search: str = "",
        sort: str = "name",
    ) -> ListingPage:
        """Return a page of the resources with which a member may do something, and that the caller may see.

        Whether there is a next page also depends on what the caller may see, so that nothing hidden is counted.
        """
        load = partial(self.questions.list, principal, action, kind, within=within, search=search, sort=sort)
        # What the caller may see is a list that needs no second look.
        all_visible = principal == self.work.principal and self.questions.read_view(
            lambda view: action == view.policy.kind(kind).schema.visible
        )
        found: list[ListedResource] = []
        while True:
            page = load(after=after, limit=limit + 1)
            found += [each for each in page.items if all_visible or self.is_visible(each.uid)]
            if len(found) > limit:
                return CursorPage(found[:limit], to_cursor(found[limit - 1], sort))
            if page.after is None:
                return CursorPage(found, None)
            after = page.after


def need_others(ctx: RequestContext) -> None:
    """Raise unless the caller may ask about others."""
    ctx.need("ask_about_others", ctx.caller.tenant)
