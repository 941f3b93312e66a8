"""What would a change do: who would win and lose what, without making it."""

from __future__ import annotations

from itertools import islice
from typing import Annotated

from pydantic import Field

from lakehold.access import Adopt
from lakehold.access.decisions.what_if import AccessEffects
from lakehold.access.facts.records import mentioned_ids
from lakehold.api.access.asking import Asking, need_others
from lakehold.api.access.facts import ChangeJson, change_of
from lakehold.api.frame.models import Answer, Body, IdText, Word
from lakehold.api.frame.paging import Page, Paged
from lakehold.api.frame.routes import router
from lakehold.api.frame.works import Reading
from lakehold.directory.request_context import RequestContext

routes = router("/api/v1/access/what-if", "Access")

_MOST = 200


class Changes(Body):
    """Changes that are tried together, in order."""

    changes: Annotated[list[ChangeJson], Field(min_length=1, max_length=_MOST)]


class EffectGroup(Answer):
    """All that is won, or lost, of one action on one kind."""

    kind: str = Field(examples=["lakehouse.table"])
    action: Word
    gained: bool
    members: int = Field(description="How many members win or lose it on one resource at least.")
    resources: int = Field(description="On how many resources.")
    pairs: int = Field(description="How many members on how many resources, counted one by one.")


class EffectGroups(Answer):
    """What the changes would do, counted."""

    groups: list[EffectGroup]


class EffectRow(Answer):
    """One member wins or loses one action on one resource."""

    member: IdText
    action: Word
    resource: IdText
    gained: bool


@routes.post("")
def what_if(ctx: Reading, body: Changes) -> EffectGroups:
    """What would these changes do?

    Counts by kind and action, of resources that the caller may see. Needs the right `ask_about_others`.
    """
    return EffectGroups(groups=told(effects_of(ctx, body)))


@routes.post("/rows")
def what_if_rows(ctx: Reading, paged: Paged, body: Changes) -> Page[EffectRow]:
    """Who exactly would win and lose what by these changes?

    The lines behind the counts, one page at a time.
    """
    of = f"what-if {ctx.session.seq} {body.model_dump_json()}"
    begin = paged.start(of, int)
    skipped = 0 if begin is None else int(begin[0])
    rows = list(islice(effects_of(ctx, body).rows(), skipped, skipped + paged.limit + 1))
    return paged.page(
        of,
        list(enumerate(rows, start=skipped + 1)),
        lambda numbered: (numbered[0],),
        lambda numbered: EffectRow(
            member=numbered[1].member,
            action=numbered[1].action,
            resource=numbered[1].resource,
            gained=numbered[1].gained,
        ),
    )


def effects_of(ctx: RequestContext, body: Changes) -> AccessEffects:
    """What the changes would do, as far as the caller may know."""
    need_others(ctx)
    asking = Asking(ctx)
    changes = [change_of(change) for change in body.changes]
    for change in changes:
        if isinstance(change, Adopt):
            ctx.need("manage_models", ctx.caller.tenant)
        else:
            asking.see(mentioned_ids(change.fact))
    return ctx.session.what_if(changes).restrict(asking.sees)


def told(effects: AccessEffects) -> list[EffectGroup]:
    """The counts."""
    return [
        EffectGroup(
            kind=group.kind,
            action=group.action,
            gained=group.gained,
            members=group.members,
            resources=group.resources,
            pairs=group.pairs,
        )
        for group in effects.groups
    ]
