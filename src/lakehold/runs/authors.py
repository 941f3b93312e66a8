"""The authors of what a run executes, and their rights.

A run needs the rights of the caller who started it and of the authors of its definition, so that nobody reads with
somebody else's rights by changing what that person's schedule runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from lakehold.access.facts.descriptions import describe_resource, humanize
from lakehold.catalog import resource_metadata
from lakehold.directory.caller import Caller
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.directory.request_context import RequestContext

if TYPE_CHECKING:
    from lakehold.runs.runnable import DefinitionPart

_TAKE_OVER = "Whoever may edit it and read what it reads can take the definition over."


def load_authors(ctx: RequestContext, definition: Sequence[DefinitionPart]) -> tuple[Caller, ...]:
    """Return the authors of what a step executes.

    These are the author of the first part, which says what is read, and of each other part that was changed after that:
    before, its author took the part as it was.
    """
    found = [resource_metadata.load_author(ctx, *part) for part in definition]
    first = found[0] if found else None
    counted = [each for each in found if each and (first is None or each.at >= first.at)]
    return tuple({each.caller.principal: each.caller for each in counted if each.caller.member}.values())


def describe_author(ctx: RequestContext, author: Caller, uid: str) -> str:
    """Return the subject of a sentence about the author of a definition."""
    number = ctx.view.ids.get(author.member)
    name = (ctx.view.names.get(number) if number is not None else None) or author.member
    own = resource_metadata.load_author(ctx, uid)
    # Which part is not said: whoever reads this may not see it.
    what = "the definition" if own is None or own.caller.principal == author.principal else "a part of the definition"
    return f"{name}, who last changed {what} of {describe_resource(ctx.view, uid)},"


def need_authors(
    ctx: RequestContext, authors: Iterable[Caller], uid: str, need: Callable[[RequestContext], object]
) -> None:
    """Refuse unless each author of a definition has the rights that `need` asks for, as the caller has."""
    for author in (each for each in authors if each.principal != ctx.principal):
        who = describe_author(ctx, author, uid)
        if ctx.view.ids.get(author.member) is None:
            raise DeniedError(f"{who} is no longer a member.", _TAKE_OVER, action="run", resource=uid)
        try:
            need(RequestContext(ctx.session, author, ctx.keys))
        except (DeniedError, HiddenError) as error:
            raise _refusal(ctx, who, error, uid, _TAKE_OVER) from error


def describe_refusal(ctx: RequestContext, error: DeniedError | HiddenError, uid: str) -> DeniedError | HiddenError:
    """Return the refusal of a run of a resource as all who see the run may read it."""
    if error.resource == uid:
        return error
    number = ctx.view.ids.get(ctx.caller.member)
    name = (ctx.view.names.get(number) if number is not None else None) or ctx.caller.member
    return _refusal(ctx, f"{name}, who started it,", error, uid, "Whoever may use it can start the run.")


def _refusal(ctx: RequestContext, who: str, error: DeniedError | HiddenError, uid: str, hint: str) -> DeniedError:
    """Return a refusal that does not name the needed resource, which its readers may not see."""
    needed = ctx.view.ids.get(error.resource)
    kind = ctx.view.policy.kinds[ctx.view.kind(needed)].schema.title.lower() if needed else "resource"
    message = f"{who} may not {humanize(error.action)} a {kind} that it needs."
    return DeniedError(message, hint, action=error.action, resource=uid)
