"""All that somebody may know of, whatever its kind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lakehold.access.facts.view import FactView
from lakehold.directory.request_context import RequestContext


def seen(ctx: RequestContext, kinds: Iterable[str] | None = None) -> Iterator[str]:
    """The ids of what the asker sees: of all kinds, or of some."""

    def uids(view: FactView) -> list[str]:
        wanted = view.policy.kinds if kinds is None else kinds
        return [view.uid(number) for kind in wanted for number in view.by_kind.get(kind) or ()]

    return (uid for uid in ctx.session.read_view(uids) if ctx.session.can_see(ctx.asker, uid))
