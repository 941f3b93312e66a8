"""Which subjects may, on which resources, and which actions.

Every result of a search, asked for by itself, is a permit. Results are what the caller may know of.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Generic, TypeVar

from pydantic import BaseModel, Field

from lakehold.api.access.abilities import Listed
from lakehold.api.access.asking import Asking
from lakehold.api.authzen import deciding
from lakehold.api.authzen.entities import (
    Action,
    Context,
    Entity,
    FoundAction,
    FoundResource,
    FoundSubject,
    Resource,
    ResourceType,
    Subject,
    SubjectType,
)
from lakehold.api.frame.models import Answer
from lakehold.api.frame.paging import DEFAULT, MOST, Key, cursor, read_cursor
from lakehold.api.frame.routes import problems, router
from lakehold.api.frame.works import Reading
from lakehold.kit.errors import InvalidInputError, NotFoundError
from lakehold.kit.ids import fold_name

routes = router("/access/v1/search", "AuthZEN")

S = TypeVar("S")
T = TypeVar("T")


class PageWanted(Entity):
    """Which part of the results."""

    token: Annotated[str, Field(max_length=4_000, examples=[""])] = ""
    limit: Annotated[int, Field(ge=1, le=MOST)] | None = None


class PageTold(Answer):
    """Where the next results begin."""

    next_token: str = Field(examples=[""], description="Empty after the last page.")
    count: int = Field(description="How many results this page has.")


class Found(Answer, Generic[T]):
    """Results, one page at a time."""

    page: PageTold
    results: list[T]


class Search(Entity):
    """What every search may bring along."""

    context: Context = Field(default_factory=dict)
    page: PageWanted = Field(default_factory=PageWanted)


class SubjectSearch(Search):
    """Who may do this with that?"""

    subject: SubjectType
    action: Action
    resource: Resource


class ResourceSearch(Search):
    """With what may they do this?"""

    subject: Subject
    action: Action
    resource: ResourceType


class ActionSearch(Search):
    """What may they do with that?"""

    subject: Subject
    resource: Resource


class Place:
    """Where in the results of a search a page begins. A token is good for the search that it came from, alone."""

    def __init__(self, search: Search, *shape: type[Key]) -> None:
        self._of = _told(search)
        wanted = search.page
        self.limit = wanted.limit or DEFAULT
        self.behind: tuple[Key, ...] | None = None
        if wanted.token:
            limit, *key = read_cursor(wanted.token, self._of, int, *shape)
            if wanted.limit is not None and wanted.limit != limit:
                raise InvalidInputError("The limit differs from that of the page before.", "Keep it, or leave it out.")
            self.limit = min(max(int(limit), 1), MOST)
            self.behind = tuple(key)

    def page(self, rows: Sequence[S], key: Callable[[S], Sequence[Key]], show: Callable[[S], T]) -> Found[T]:
        """The page of these rows, of which one more than the limit was fetched."""
        results = [show(row) for row in rows[: self.limit]]
        more = len(rows) > self.limit
        return self.told(results, key(rows[self.limit - 1]) if more else None)

    def told(self, results: list[T], last: Sequence[Key] | None) -> Found[T]:
        """The page of these results, and the key that the next one begins behind."""
        token = "" if last is None else cursor(self._of, (self.limit, *last))
        return Found(page=PageTold(next_token=token, count=len(results)), results=results)


@routes.post("/subject", responses=problems(400))
def search_subjects(ctx: Reading, body: SubjectSearch) -> Found[FoundSubject]:
    """Which members may do this with that resource?

    Needs the right `ask_about_others`.
    """
    deciding.need_subject_type(body.subject.type)
    deciding.need_others(ctx)
    place = Place(body, str, str)
    asking = Asking(ctx)
    try:
        uid = deciding.resource_of(ctx, body.resource)
    except NotFoundError:
        return place.told([], None)
    questions = deciding.given(ctx, body.subject.properties, body.resource.properties, body.context)
    known = [(fold_name(asking.name(who)), who) for who in questions.who(body.action.name, uid) if asking.sees(who)]
    left = [each for each in known if place.behind is None or each > place.behind]
    return place.page(left[: place.limit + 1], lambda each: each, lambda each: FoundSubject(id=each[1]))


@routes.post("/resource", responses=problems(400))
def search_resources(ctx: Reading, body: ResourceSearch) -> Found[FoundResource]:
    """With which resources of a kind may this subject do this?"""
    place = Place(body, str)
    kind = deciding.kind_of(ctx, body.resource.type)
    try:
        asker = deciding.asker_of(ctx, body.subject)
    except NotFoundError:
        return place.told([], None)
    asking = Asking(ctx)
    asking.at = deciding.given(ctx, body.subject.properties, body.resource.properties, body.context)
    after = None if place.behind is None else str(place.behind[0])
    found, following = Listed(asking, asker, body.action.name, kind).page(after, place.limit)
    results = [FoundResource(type=body.resource.type, id=each.uid) for each in found]
    return place.told(results, None if following is None else (following,))


@routes.post("/action", responses=problems(400))
def search_actions(ctx: Reading, body: ActionSearch) -> Found[FoundAction]:
    """Which actions may this subject do with that resource?"""
    place = Place(body, int)
    try:
        asker, uid = deciding.asker_of(ctx, body.subject), deciding.resource_of(ctx, body.resource)
    except NotFoundError:
        return place.told([], None)
    questions = deciding.given(ctx, body.subject.properties, body.resource.properties, body.context)
    actions = list(enumerate(questions.actions(asker, uid)))
    left = [each for each in actions if place.behind is None or each[0] > int(place.behind[0])]
    return place.page(left[: place.limit + 1], lambda each: (each[0],), lambda each: FoundAction(name=each[1]))


def _told(search: BaseModel) -> str:
    """The search itself, without which page of it."""
    return f"{type(search).__name__} {search.model_dump_json(exclude={'page'})}"
