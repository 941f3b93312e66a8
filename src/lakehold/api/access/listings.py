"""Endpoints that list who may do something, and what somebody may do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from fastapi import Query
from pydantic import Field

from lakehold.access.decisions.principal import Principal
from lakehold.access.query.listing import ListedResource, to_cursor
from lakehold.api.access.question_scope import NamedRefJson, NamedResourceJson, QuestionScope, need_others
from lakehold.api.http.dependencies import ReadContext
from lakehold.api.http.models import IdText, ResponseModel, SearchText, Time, Word
from lakehold.api.http.paging import PageParams, PageResponse
from lakehold.api.http.routing import make_router
from lakehold.kit.ids import fold_name

who_routes = make_router("/api/v1/access/who", "Access")

AsOf = Annotated[
    Time | None, Query(description="Ask as of this moment instead of now.", examples=["2031-05-04T10:30:00Z"])
]


@who_routes.get("")
def who_may(
    ctx: ReadContext, paged: PageParams, action: Word, resource: IdText, at: AsOf = None
) -> PageResponse[NamedRefJson]:
    """List the members who may do this, by name.

    Needs the right `ask_about_others`.
    """
    need_others(ctx)
    scope = QuestionScope(ctx, at)
    scope.require_visible((resource,))
    known = [scope.named_ref(uid) for uid in scope.questions.who(action, resource) if scope.is_visible(uid)]
    of = f"who {action} {resource} {at}"
    behind = paged.start_key(of, str, str)
    left = known if behind is None else [member for member in known if _sort_key(member) > behind]
    return paged.build_page(of, left[: paged.limit + 1], _sort_key, lambda member: member)


def _sort_key(member: NamedRefJson) -> tuple[str, str]:
    return fold_name(member.name), member.id


routes = make_router("/api/v1/access/can", "Access")

Sort = Literal["name", "-name", "created", "-created"]
SubjectParam = Annotated[
    IdText | None, Query(description="A member's id; without one the caller.", examples=["ana"], max_length=200)
]


class AllowedActionsJson(ResponseModel):
    """Allowed actions, in the order of the model."""

    resource: IdText
    actions: list[str] = Field(examples=[["see", "read", "edit"]])


@routes.get("/actions")
def actions_on(ctx: ReadContext, resource: IdText, subject: SubjectParam = None, at: AsOf = None) -> AllowedActionsJson:
    """List what a member may do with a resource."""
    scope = QuestionScope(ctx, at)
    principal = scope.resolve_subject(subject)
    scope.require_visible((resource,))
    return AllowedActionsJson(resource=resource, actions=list(scope.questions.actions(principal, resource)))


@routes.get("/resources")
def resources_for(
    ctx: ReadContext,
    paged: PageParams,
    action: Word,
    kind: Word,
    subject: SubjectParam = None,
    within: Annotated[IdText | None, Query(description="A container above: a layer, a workspace.")] = None,
    search: Annotated[SearchText, Query(description="A part of the name, without case.")] = "",
    sort: Annotated[Sort, Query()] = "name",
    at: AsOf = None,
) -> PageResponse[NamedResourceJson]:
    """List the resources of a kind with which a member may do this."""
    scope = QuestionScope(ctx, at)
    principal = scope.resolve_subject(subject)
    if within is not None:
        scope.require_visible((within,))
    listed = AllowedResourcePages(scope, principal, action, kind, within=within, search=search, sort=sort)
    found, next_cursor = listed.page(paged.after, paged.limit)
    return PageResponse(
        items=[NamedResourceJson(id=each.uid, name=each.name, kind=each.kind) for each in found], next=next_cursor
    )


class AllowedResourcePages:
    """Pages of the resources with which a member may do something, and that the caller may see.

    Whether there is a next page also depends on what the caller may see, so that nothing hidden is counted.
    """

    def __init__(
        self,
        scope: QuestionScope,
        principal: Principal,
        action: str,
        kind: str,
        *,
        within: str | None = None,
        search: str = "",
        sort: str = "name",
    ) -> None:
        self._scope, self._asker, self._action, self._kind = scope, principal, action, kind
        self._within, self._search, self._sort = within, search, sort
        # What the caller may see is a list that needs no second look.
        self._lists_visible = principal == scope.work.principal and scope.questions.read_view(
            lambda view: action == view.policy.kind(kind).schema.visible
        )

    def page(self, after: str | None, limit: int) -> tuple[list[ListedResource], str | None]:
        """Return one page, and the cursor of the next."""
        found: list[ListedResource] = []
        for each in self._visible_items(after, limit):
            if len(found) == limit:
                return found, to_cursor(found[-1], self._sort)
            found.append(each)
        return found, None

    def _visible_items(self, after: str | None, limit: int) -> Iterator[ListedResource]:
        while True:
            page = self._scope.questions.list(
                self._asker,
                self._action,
                self._kind,
                within=self._within,
                search=self._search,
                sort=self._sort,
                after=after,
                limit=limit + 1,
            )
            yield from (each for each in page.items if self._lists_visible or self._scope.is_visible(each.uid))
            if page.after is None:
                return
            after = page.after
