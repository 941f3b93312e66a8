"""What the command palette finds beside places: resources and people whom the member may see."""

from __future__ import annotations

from collections.abc import Iterator

from fastapi import Request

from lakehold.access.model.policy import MEMBER
from lakehold.catalog import resources
from lakehold.directory.request_context import RequestContext
from lakehold.web import addresses
from lakehold.web.around import looking
from lakehold.web.finding import Found
from lakehold.web.icons import icon_of


def finder(request: Request, text: str, most: int) -> list[Found]:
    """By a part of the name: more things than people, so that neither hides the other."""
    text = text.strip()
    if not text:
        return []
    return looking(request, lambda ctx: [*_things(ctx, text, most // 2), *_people(ctx, text, most // 4)], [])


def _things(ctx: RequestContext, text: str, most: int) -> Iterator[Found]:
    for item in resources.find(ctx, text, limit=most).items:
        title = ctx.view.policy.kind(item.kind).schema.title
        where = f"{title} in {item.parent.name}" if item.parent else title
        yield Found(item.name, addresses.of(item.uid, item.kind), icon_of(item.kind), where, "Resources")


def _people(ctx: RequestContext, text: str, most: int) -> Iterator[Found]:
    for found in ctx.session.list(ctx.asker, "see", MEMBER, search=text, limit=most).items:
        yield Found(found.name, addresses.member(found.uid), "user", "Member", "People")
