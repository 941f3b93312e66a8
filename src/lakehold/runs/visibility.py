"""The resources that a caller may see, over all kinds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lakehold.access.facts.view import FactView
from lakehold.directory.request_context import RequestContext


def visible_resources(ctx: RequestContext, kinds: Iterable[str] | None = None) -> Iterator[str]:
    """Yield the ids of the resources that the caller sees: of all kinds, or of some."""

    def uids(view: FactView) -> list[str]:
        selected_kinds = view.policy.kinds if kinds is None else kinds
        return [view.uid(number) for kind in selected_kinds for number in view.by_kind.get(kind) or ()]

    return (uid for uid in ctx.session.read_view(uids) if ctx.session.can_see(ctx.principal, uid))
