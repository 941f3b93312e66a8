"""The choice of a member or group in a form. Where there are many, a search narrows them down."""

from collections.abc import Collection
from dataclasses import dataclass

from lakehold.access.model.policy import MEMBER
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory import groups
from lakehold.directory.request_context import RequestContext
from lakehold.kit.ids import fold_name

MAX_OPTIONS = 200
_MAX_PAGES = 10
"""Where nearly all are to be left out, the rest is found by a search."""


@dataclass(frozen=True, slots=True)
class PrincipalChoices:
    """Options to choose a member or group from."""

    options: list[tuple[str, str]]
    more: bool
    """Whether there are more than are shown."""
    find: str = ""

    @property
    def searches(self) -> bool:
        """Whether to offer a search."""
        return self.more or bool(self.find)


def member_choices(
    ctx: RequestContext, find: str = "", *, but: Collection[str] = (), chosen: str = ""
) -> PrincipalChoices:
    """Return members by name, some excluded. The chosen one is always included."""
    options: list[tuple[str, str]] = []
    after: str | None = None
    for _ in range(_MAX_PAGES):
        found = ctx.session.list(ctx.principal, "see", MEMBER, search=find, after=after, limit=MAX_OPTIONS)
        options += [(item.uid, item.name) for item in found.items if item.uid not in but]
        after = found.after
        if after is None or len(options) >= MAX_OPTIONS:
            break
    more = after is not None or len(options) > MAX_OPTIONS
    return PrincipalChoices(_with_chosen(ctx, options[:MAX_OPTIONS], chosen), more, find)


def principal_choices(
    ctx: RequestContext, find: str = "", *, but: Collection[str] = (), chosen: str = ""
) -> PrincipalChoices:
    """Return groups (including All) and then members as options."""
    found_groups = groups.page(ctx, search=find, limit=MAX_OPTIONS)
    group_options = [(item.uid, f"{item.name} (group)") for item in found_groups.items if item.uid not in but]
    everybody = VisibleRefs(ctx).ref(groups.all_members_group(ctx))
    if everybody and everybody.uid not in but and fold_name(find) in fold_name(everybody.name):
        group_options.insert(0, (everybody.uid, f"{everybody.name} (everybody)"))
    members = member_choices(ctx, find, but=but)
    options = _with_chosen(ctx, [*group_options, *members.options], chosen)
    return PrincipalChoices(options, found_groups.after is not None or members.more, find)


def _with_chosen(ctx: RequestContext, options: list[tuple[str, str]], chosen: str) -> list[tuple[str, str]]:
    kept = VisibleRefs(ctx).ref(chosen) if chosen not in dict(options) else None
    return [(kept.uid, kept.name), *options] if kept else options
