"""AuthZEN searches for subjects, resources and actions.

Every result, evaluated by itself, is a permit. Results are limited to what the caller may see.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Generic, TypeVar

from pydantic import Field

from lakehold.api.access.question_scope import QuestionScope
from lakehold.api.authzen import evaluations
from lakehold.api.authzen.evaluations import ActionResult, AuthzenEntity, Context, ResourceResult, SubjectResult
from lakehold.api.http.dependencies import ReadContext
from lakehold.api.http.models import ResponseModel
from lakehold.api.http.paging import DEFAULT_LIMIT, MAX_LIMIT, CursorKey, decode_cursor, encode_cursor
from lakehold.api.http.routing import make_router, problem_responses
from lakehold.kit.errors import InvalidInputError, NotFoundError
from lakehold.kit.ids import fold_name

routes = make_router("/access/v1/search", "AuthZEN")

S = TypeVar("S", bound=tuple[CursorKey, ...])
T = TypeVar("T")


class SearchPageBody(AuthzenEntity):
    """The page of results to return."""

    token: Annotated[str, Field(max_length=4_000, examples=[""])] = ""
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] | None = None


class SearchPageInfo(ResponseModel):
    """The token of the next page, and the size of this one."""

    next_token: str = Field(examples=[""], description="Empty after the last page.")
    count: int = Field(description="Number of results on this page.")


class SearchResults(ResponseModel, Generic[T]):
    """One page of results."""

    page: SearchPageInfo
    results: list[T]


class AuthzenSearch(AuthzenEntity):
    """Base class of searches."""

    context: Context = Field(default_factory=dict)
    page: SearchPageBody = Field(default_factory=SearchPageBody)


class SubjectSearch(AuthzenSearch):
    """A search for subjects that may perform an action on a resource."""

    subject: evaluations.AuthzenSubjectType
    action: evaluations.AuthzenAction
    resource: evaluations.AuthzenResource


class ResourceSearch(AuthzenSearch):
    """A search for resources on which a subject may perform an action."""

    subject: evaluations.AuthzenSubject
    action: evaluations.AuthzenAction
    resource: evaluations.AuthzenResourceType


class ActionSearch(AuthzenSearch):
    """A search for actions that a subject may perform on a resource."""

    subject: evaluations.AuthzenSubject
    resource: evaluations.AuthzenResource


class SearchCursor:
    """The position in the results of a search. A token is valid only for the search that it came from."""

    def __init__(self, search: AuthzenSearch, *shape: type[CursorKey]) -> None:
        # The same for all pages.
        self._search_key = f"{type(search).__name__} {search.model_dump_json(exclude={'page'})}"
        self._width = len(shape)
        self.limit = search.page.limit or DEFAULT_LIMIT
        self.after_key: tuple[CursorKey, ...] | None = None
        if search.page.token:
            limit, *key = decode_cursor(search.page.token, self._search_key, int, *shape)
            if search.page.limit not in {None, limit}:
                raise InvalidInputError("The limit differs from that of the page before.", "Keep it, or leave it out.")
            self.limit = min(max(int(limit), 1), MAX_LIMIT)
            self.after_key = tuple(key)

    def slice_page(self, rows: Iterable[S], show: Callable[[S], T]) -> SearchResults[T]:
        """Build the page of a complete list, in the order of the keys that its rows begin with."""
        left = [row for row in rows if self.after_key is None or row[: self._width] > self.after_key]
        last = left[self.limit - 1][: self._width] if len(left) > self.limit else None
        return self.build_page([show(row) for row in left[: self.limit]], last)

    def build_page(self, results: list[T], last: Sequence[CursorKey] | None) -> SearchResults[T]:
        """Build the page of these results, with the key that the next one begins after."""
        token = "" if last is None else encode_cursor(self._search_key, (self.limit, *last))
        return SearchResults(page=SearchPageInfo(next_token=token, count=len(results)), results=results)


@routes.post("/subject", responses=problem_responses(400))
def search_subjects(ctx: ReadContext, body: SubjectSearch) -> SearchResults[SubjectResult]:
    """Search the members who may do this with a resource.

    Needs the right `ask_about_others`.
    """
    evaluations.need_subject_type(body.subject.type)
    evaluations.need_others(ctx)
    position = SearchCursor(body, str, str)
    scope = QuestionScope(ctx)
    try:
        uid = evaluations.resolve_resource(ctx, body.resource)
    except NotFoundError:
        return position.build_page([], None)
    questions = evaluations.with_properties(ctx, body.subject, body.resource, body.context)
    known = [(fold_name(scope.name(who)), who) for who in questions.who(body.action.name, uid) if scope.is_visible(who)]
    return position.slice_page(known, lambda each: SubjectResult(id=each[1]))


@routes.post("/resource", responses=problem_responses(400))
def search_resources(ctx: ReadContext, body: ResourceSearch) -> SearchResults[ResourceResult]:
    """Search the resources of a kind with which a subject may do this."""
    position = SearchCursor(body, str)
    kind = evaluations.resolve_kind(ctx, body.resource.type)
    try:
        principal = evaluations.resolve_asker(ctx, body.subject)
    except NotFoundError:
        return position.build_page([], None)
    scope = QuestionScope(ctx)
    scope.questions = evaluations.with_properties(ctx, body.subject, body.resource, body.context)
    after = None if position.after_key is None else str(position.after_key[0])
    found = scope.allowed_page(principal, body.action.name, kind, after=after, limit=position.limit)
    results = [ResourceResult(type=body.resource.type, id=each.uid) for each in found.items]
    return position.build_page(results, None if found.after is None else (found.after,))


@routes.post("/action", responses=problem_responses(400))
def search_actions(ctx: ReadContext, body: ActionSearch) -> SearchResults[ActionResult]:
    """Search the actions that a subject may perform on a resource."""
    position = SearchCursor(body, int)
    try:
        principal, uid = evaluations.resolve_asker(ctx, body.subject), evaluations.resolve_resource(ctx, body.resource)
    except NotFoundError:
        return position.build_page([], None)
    questions = evaluations.with_properties(ctx, body.subject, body.resource, body.context)
    return position.slice_page(enumerate(questions.actions(principal, uid)), lambda each: ActionResult(name=each[1]))
