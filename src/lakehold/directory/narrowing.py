"""What a token may be narrowed to: actions that there are, and resources that its maker may see."""

from __future__ import annotations

from collections.abc import Collection

from lakehold.access.model.errors import did_you_mean
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote

MOST = 100


def to_actions(ctx: RequestContext, actions: Collection[str] | None) -> tuple[str, ...] | None:
    """The actions, if every one is an action of some kind. None: not narrowed by them."""
    if actions is None:
        return None
    known = {action for kind in ctx.view.policy.kinds.values() for action in kind.schema.actions} | {"create"}
    for action in _several(actions, "actions"):
        if action not in known:
            raise InvalidInputError(f"No kind has an action {quote(str(action))}.", did_you_mean(str(action), known))
    return tuple(sorted(set(actions)))


def to_resources(ctx: RequestContext, resources: Collection[str] | None) -> tuple[str, ...] | None:
    """The resources, if the caller may know of every one. None: not narrowed by them."""
    if resources is None:
        return None
    for resource in _several(resources, "resources"):
        ctx.see(resource, "make tokens")
    return tuple(sorted(set(resources)))


def _several(given: Collection[str], what: str) -> Collection[str]:
    if isinstance(given, str) or not 1 <= len(given) <= MOST:
        raise InvalidInputError(
            f"A token is narrowed to 1 to {MOST} {what}.", "Leave them out for a token that is not narrowed by them."
        )
    return given
