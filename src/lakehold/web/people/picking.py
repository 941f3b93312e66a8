"""Choosing a member or a group in a form. Where there are many, a search narrows them down first."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from lakehold.access.facts.view import ALL_MEMBERS
from lakehold.access.model.policy import MEMBER
from lakehold.catalog.resource_view import make_ref
from lakehold.directory import groups
from lakehold.directory.request_context import RequestContext
from lakehold.kit.ids import fold_name

MOST = 200
_MOST_PAGES = 10
"""Where nearly all are to be left out, the rest is found by a search."""


@dataclass(frozen=True, slots=True)
class Picked:
    """Whom there is to choose from."""

    options: list[tuple[str, str]]
    more: bool
    """Whether there are more than are shown."""
    find: str = ""

    @property
    def searches(self) -> bool:
        """Whether a search is of use."""
        return self.more or bool(self.find)


def people(ctx: RequestContext, find: str = "", *, but: Collection[str] = (), chosen: str = "") -> Picked:
    """Members by name, without some. Who is chosen already is there in any case."""
    options: list[tuple[str, str]] = []
    after: str | None = None
    for _ in range(_MOST_PAGES):
        found = ctx.session.list(ctx.asker, "see", MEMBER, search=find, after=after, limit=MOST)
        options += [(item.uid, item.name) for item in found.items if item.uid not in but]
        after = found.after
        if after is None or len(options) >= MOST:
            break
    more = after is not None or len(options) > MOST
    return Picked(_with(ctx, options[:MOST], chosen), more, find)


def people_and_groups(ctx: RequestContext, find: str = "", *, but: Collection[str] = (), chosen: str = "") -> Picked:
    """Groups first, All among them, then members."""
    made = groups.page(ctx, search=find, limit=MOST)
    known = [(item.uid, f"{item.name} (group)") for item in made.items if item.uid not in but]
    everybody = groups.all_members_group(ctx)
    told = ctx.session.read_view(lambda view: make_ref(view, everybody))
    if everybody not in but and fold_name(find) in fold_name(told.name):
        known.insert(0, (everybody, f"{told.name} (everybody)"))
    members = people(ctx, find, but=but)
    options = _with(ctx, [*known, *members.options], chosen)
    return Picked(options, made.after is not None or members.more, find)


def is_group(ctx: RequestContext, uid: str) -> bool:
    """Whether it is a group, not a member."""
    kind = ctx.view.kind(ctx.view.resource(uid))
    return kind == ALL_MEMBERS or kind != MEMBER


def _with(ctx: RequestContext, options: list[tuple[str, str]], chosen: str) -> list[tuple[str, str]]:
    if not chosen or chosen in dict(options) or ctx.view.ids.get(chosen) is None:
        return options
    if not ctx.session.can_see(ctx.asker, chosen):
        return options
    return [(chosen, ctx.session.read_view(lambda view: make_ref(view, chosen)).name), *options]
