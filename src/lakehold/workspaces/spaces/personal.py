"""The personal data space of a member: made on first use, exactly one for each.

It needs no right to create spaces. One that a member got from somebody else (`docs/decisions/0026`) is not counted.
"""

import secrets
from collections.abc import Mapping

from lakehold.access import Draft
from lakehold.access.facts.names import NameTakenError
from lakehold.access.facts.view import FactView, role_names
from lakehold.catalog import resource_metadata
from lakehold.directory.act_for import need_unrestricted
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError
from lakehold.kit.ids import quote
from lakehold.workspaces.spaces.settings import SPACE_KIND

PERSONAL = "personal"
_MAX_NAME = 150


def find(ctx: RequestContext) -> str | None:
    """Return the personal space that the caller has made; None before its first use."""
    owned = ctx.session.read_view(lambda view: _personal_spaces(view, ctx.caller.member))
    made_by = {number: each.created_by for number, each in resource_metadata.load_many(ctx, owned).items()}
    own = (number for number in sorted(owned) if made_by.get(number, "") in {"", ctx.caller.member})
    return next(map(ctx.view.uid, own), None)


def ensure(ctx: RequestContext) -> tuple[str, bool]:
    """Return the caller's personal space, and whether it was made just now.

    Writers of a tenant come one after the other, so that of two requests at once the second one finds it.
    """
    ctx.need_writable()
    need_unrestricted(ctx, "open a personal data space")
    found = find(ctx)
    if found is not None:
        return found, False
    draft = Draft(SPACE_KIND, {"tenant": ctx.caller.tenant}, {PERSONAL: True})
    uid = _create(ctx, draft)
    resource_metadata.create(ctx, uid, description="Personal. Nobody else can be added.")
    return uid, True


def refuse_second(ctx: RequestContext, attributes: Mapping[str, str | bool]) -> None:
    """Refuse a new space that would be the second personal one of the caller."""
    if attributes.get(PERSONAL) not in {True, "true"}:
        return
    found = find(ctx)
    if found is not None:
        name = ctx.view.names.get(ctx.view.resource(found)) or found
        raise ConflictError(
            f"You have a personal data space already: {quote(name)}.",
            "Use it, or create one that is not personal.",
            field=PERSONAL,
        )


def _personal_spaces(view: FactView, member: str) -> list[int]:
    held, owner = view.grants_by_subject.get(view.member(member)) or {}, view.policy.kind(SPACE_KIND).schema.creator
    return [
        place
        for place, mask in held.items()
        if view.kind(place) == SPACE_KIND
        and owner in role_names(mask)
        and view.attributes[PERSONAL].get(place) == "true"
    ]


def _create(ctx: RequestContext, draft: Draft) -> str:
    """Create the space, under a similar name if its own is taken."""
    me = ctx.caller.member
    name = f"Personal space of {ctx.view.names.get(ctx.view.member(me)) or me}"[:_MAX_NAME]
    try:
        return ctx.create_unchecked(draft, name, creator=me)
    except NameTakenError as taken:
        return ctx.create_unchecked(draft, taken.free or f"Personal space {secrets.token_hex(4)}", creator=me)
