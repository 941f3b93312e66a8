"""What may they do: with one resource, or with all of a kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from fastapi import Query
from pydantic import Field

from lakehold.access.decisions.principal import Principal
from lakehold.access.query.listing import ListedResource, to_cursor
from lakehold.api.access.asking import Asking, NamedResource
from lakehold.api.access.members import As
from lakehold.api.frame.models import Answer, IdText, Search, Word
from lakehold.api.frame.paging import Page, Paged
from lakehold.api.frame.routes import router
from lakehold.api.frame.works import Reading

routes = router("/api/v1/access/can", "Access")

Sort = Literal["name", "-name", "created", "-created"]
About = Annotated[
    IdText | None, Query(description="A member's id; without one the caller.", examples=["ana"], max_length=200)
]


class Actions(Answer):
    """Actions in the order of the model."""

    resource: IdText
    actions: list[str] = Field(examples=[["see", "read", "edit"]])


@routes.get("/actions")
def actions_on(ctx: Reading, resource: IdText, subject: About = None, at: As = None) -> Actions:
    """What may they do with this resource?"""
    asking = Asking(ctx, at)
    asker = asking.subject(subject)
    asking.see((resource,))
    return Actions(resource=resource, actions=list(asking.at.actions(asker, resource)))


@routes.get("/resources")
def resources_for(
    ctx: Reading,
    paged: Paged,
    action: Word,
    kind: Word,
    subject: About = None,
    within: Annotated[IdText | None, Query(description="A container above: a layer, a workspace.")] = None,
    search: Annotated[Search, Query(description="A part of the name, without case.")] = "",
    sort: Annotated[Sort, Query()] = "name",
    at: As = None,
) -> Page[NamedResource]:
    """With which resources of a kind may they do this?"""
    asking = Asking(ctx, at)
    asker = asking.subject(subject)
    if within is not None:
        asking.see((within,))
    listed = Listed(asking, asker, action, kind, within=within, search=search, sort=sort)
    found, following = listed.page(paged.after, paged.limit)
    return Page(items=[NamedResource(id=each.uid, name=each.name, kind=each.kind) for each in found], next=following)


class Listed:
    """What somebody may do something with, and the caller may know of. Whether there is a next page is told by what
    the caller may know of too: it must not count what is hidden.
    """

    def __init__(
        self,
        asking: Asking,
        asker: Principal,
        action: str,
        kind: str,
        *,
        within: str | None = None,
        search: str = "",
        sort: str = "name",
    ) -> None:
        self._asking, self._asker, self._action, self._kind = asking, asker, action, kind
        self._within, self._search, self._sort = within, search, sort
        # What the caller may see is a list that needs no second look.
        self._is_sight = asker == asking.work.asker and asking.at.read_view(
            lambda view: action == view.policy.kind(kind).schema.visible
        )

    def page(self, after: str | None, limit: int) -> tuple[list[ListedResource], str | None]:
        """One page, and where the next begins."""
        found: list[ListedResource] = []
        for each in self._known(after, limit):
            if len(found) == limit:
                return found, to_cursor(found[-1], self._sort)
            found.append(each)
        return found, None

    def _known(self, after: str | None, limit: int) -> Iterator[ListedResource]:
        while True:
            page = self._asking.at.list(
                self._asker,
                self._action,
                self._kind,
                within=self._within,
                search=self._search,
                sort=self._sort,
                after=after,
                limit=limit + 1,
            )
            yield from (each for each in page.items if self._is_sight or self._asking.sees(each.uid))
            if page.after is None:
                return
            after = page.after
