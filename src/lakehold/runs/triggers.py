"""What starts runs by itself: a schedule with its time zone, or the success of others.

A trigger runs as whoever last saved it. What they may no longer do when it is due is refused, and the run says so.
Where a model has a kind for triggers, each is a resource of that kind too: who may see or manage it is asked and listed
like everything else.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

import sqlalchemy as sa

from lakehold.catalog import kinds
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.errors import InvalidInputError, NotFoundError
from lakehold.kit.ids import quote
from lakehold.runs.runnable import Runnable, Runnables
from lakehold.runs.runs import Runs
from lakehold.runs.trigger_table import TriggerRow, at, parameters_of, trigger_table, when_of
from lakehold.runs.when import When

ACTIVATE, DEACTIVATE = "activate", "deactivate"


@dataclass(frozen=True, slots=True)
class Trigger:
    """When what is run, and as whom."""

    id: str
    resource: str
    when: When
    active: bool
    saved_by: str
    saved_at: Moment
    next_at: Moment | None
    last_at: Moment | None
    parameters: Mapping[str, str] = field(default_factory=dict)
    """What its runs do instead of all."""
    more: bool = False
    """Whether it comes after others too, which the caller may not see."""


class Triggers:
    """The triggers of an installation."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    def save(
        self,
        ctx: RequestContext,
        resource: str,
        when: When,
        *,
        uid: str | None = None,
        active: bool = True,
        parameters: Mapping[str, str] | None = None,
    ) -> Trigger:
        """Make one, or change it. It runs as the caller from now on."""
        ctx.need_writable()
        runnable = self._runs.runnables.of(ctx, resource)
        ctx.need(runnable.schedule, resource)
        checked, asked = when.checked(), _known(runnable, parameters or {})
        for other in checked.after:
            ctx.need(self._runs.runnables.of(ctx, other).see, other)
        _refuse_round(ctx, self._runs.runnables, resource, checked, uid)
        if uid is not None and self.get(ctx, uid).resource != resource:
            raise InvalidInputError("A trigger stays with what it runs.", "Make another one.")
        told = {
            "settings": json.dumps({**_plain(ctx, checked), "parameters": asked}),
            "caller": json.dumps(ctx.caller.to_stored()),
            "saved_by": ctx.caller.member,
            "saved_at": ctx.at,
            "active": active,
            "heard": "{}",
            "next_at": checked.due(ctx.at) if active else None,
        }
        chosen = uid or f"trigger_{secrets.token_hex(8)}"
        if uid is None:
            self._make(ctx, runnable, resource, chosen, told)
        else:
            self._write(ctx, chosen, told)
        ctx.note("save trigger", resource, after={"trigger": chosen, "cron": checked.cron, "after": [*checked.after]})
        return self.get(ctx, chosen)

    def get(self, ctx: RequestContext, uid: str) -> Trigger:
        """One that the caller may see."""
        query = sa.select(trigger_table).where(*at({"tenant_id": ctx.session.tenant, "id": uid}))
        row = ctx.session.transaction.connection.execute(query).one_or_none()
        resource = None if row is None else ctx.view.uids.get(row.resource_id)
        if (
            row is None
            or resource is None
            or not ctx.session.can_see(ctx.asker, resource)
            or not is_there(ctx, self._runs.runnables, row)
        ):
            raise NotFoundError(f"There is no trigger {quote(uid)}.", "Look the id up in a list.")
        ctx.need(self._runs.runnables.of(ctx, resource).see, resource)
        return _told(ctx, row)

    def of(self, ctx: RequestContext, resource: str) -> list[Trigger]:
        """Those of one resource."""
        ctx.need(self._runs.runnables.of(ctx, resource).see, resource)
        c = trigger_table.c
        mine = sa.and_(c.tenant_id == ctx.session.tenant, c.resource_id == ctx.view.resource(resource))
        rows = ctx.session.transaction.connection.execute(sa.select(trigger_table).where(mine).order_by(c.id))
        return [_told(ctx, row) for row in rows if is_there(ctx, self._runs.runnables, row)]

    def switch(self, ctx: RequestContext, uid: str, *, active: bool) -> Trigger:
        """Let it pause, or go on as the caller. What it comes after stays, whether or not they see it."""
        ctx.need_writable()
        found = self.get(ctx, uid)
        ctx.need(self._runs.runnables.of(ctx, found.resource).schedule, found.resource)
        return self._switched(ctx, found, active=active)

    def activate(self, ctx: RequestContext, resource: str, *, active: bool) -> list[Trigger]:
        """Let all triggers of a pipeline go on as the caller, or pause."""
        ctx.need_writable()
        own = ACTIVATE if active else DEACTIVATE
        known = kinds.schema_of(ctx.view, resource).actions if ctx.view.ids.get(resource) else ()
        ctx.need(own if own in known else self._runs.runnables.of(ctx, resource).schedule, resource)
        there = self.of(ctx, resource)
        return [each if each.active == active else self._switched(ctx, each, active=active) for each in there]

    def _switched(self, ctx: RequestContext, found: Trigger, *, active: bool) -> Trigger:
        told: dict[str, object] = {"active": active, "heard": "{}", "next_at": None}
        if active:
            told |= {"next_at": found.when.due(ctx.at), "saved_by": ctx.caller.member, "saved_at": ctx.at}
            told["caller"] = json.dumps(ctx.caller.to_stored())
        self._write(ctx, found.id, told)
        ctx.note("resume trigger" if active else "pause trigger", found.resource, after={"trigger": found.id})
        return self.get(ctx, found.id)

    def remove(self, ctx: RequestContext, uid: str) -> None:
        """End it."""
        found = self.get(ctx, uid)
        ctx.need_writable()
        ctx.need(self._runs.runnables.of(ctx, found.resource).schedule, found.resource)
        gone = trigger_table.delete().where(*at({"tenant_id": ctx.session.tenant, "id": uid}))
        ctx.session.transaction.connection.execute(gone)
        if ctx.view.ids.get(uid) is not None:
            ctx.delete_unchecked(uid)
        ctx.note("remove trigger", found.resource, before={"trigger": uid})

    def _make(
        self, ctx: RequestContext, runnable: Runnable, resource: str, uid: str, told: Mapping[str, object]
    ) -> None:
        made = {"tenant": ctx.caller.tenant, "resource_id": ctx.view.resource(resource), "last_at": None}
        here = {"tenant_id": ctx.session.tenant, "id": uid}
        ctx.session.transaction.connection.execute(trigger_table.insert().values(**here, **made, **told))
        if runnable.trigger_kind:
            parent = ctx.view.policy.kinds[runnable.trigger_kind].schema.parent
            assert parent is not None  # noqa: S101 - it lies in what it runs
            name = ctx.view.names.get(ctx.view.resource(resource)) or resource
            ctx.create(runnable.trigger_kind, f"Trigger of {name}", uid=uid, edges={parent: resource})

    def _write(self, ctx: RequestContext, uid: str, told: Mapping[str, object]) -> None:
        mine = at({"tenant_id": ctx.session.tenant, "id": uid})
        ctx.session.transaction.connection.execute(trigger_table.update().where(*mine).values(**told))


def is_there(ctx: RequestContext, runnables: Runnables, row: TriggerRow) -> bool:
    """Whether it has not been ended as the resource that it is too."""
    kind = ctx.view.kind(row.resource_id)
    return not runnables[kind].trigger_kind or ctx.view.ids.get(row.id) is not None


def _known(runnable: Runnable, parameters: Mapping[str, str]) -> dict[str, str]:
    for name, value in parameters.items():
        among = runnable.choices.get(name, ())
        if value not in among:
            what = f"{name} cannot be {quote(value)}" if among else f"there is no parameter {quote(name)}"
            raise InvalidInputError(
                f"Of what it runs, {what}.", f"Use {', '.join(among or runnable.choices) or 'none'}."
            )
    return dict(parameters)


def _refuse_round(ctx: RequestContext, runnables: Runnables, resource: str, when: When, uid: str | None) -> None:
    """What comes after itself, by way of others or not, would run again and again."""
    if not when.after:
        return
    c = trigger_table.c
    rows = ctx.session.transaction.connection.execute(
        sa.select(trigger_table).where(c.tenant_id == ctx.session.tenant, c.id != (uid or ""))
    )
    after: dict[int, set[int]] = {}
    for row in rows:
        if ctx.view.uids.get(row.resource_id) is not None and is_there(ctx, runnables, row):
            after.setdefault(row.resource_id, set()).update(map(int, when_of(row).after))
    waiting, before = {ctx.view.resource(other) for other in when.after}, set[int]()
    while waiting:
        before |= waiting
        waiting = {earlier for each in waiting for earlier in after.get(each, ())} - before
    if ctx.view.resource(resource) in before:
        raise InvalidInputError("It would come after itself, and never end.", "Let it come after others.")


def _plain(ctx: RequestContext, when: When) -> dict[str, object]:
    # By number: a name may change, and an id is looked up anew where it is shown.
    after = [str(ctx.view.resource(uid)) for uid in when.after]
    return {"cron": when.cron, "zone": when.zone, "after": after, "every": when.every}


def _told(ctx: RequestContext, row: TriggerRow) -> Trigger:
    when = when_of(row)
    uids = [uid for number in when.after if (uid := ctx.view.uids.get(int(number))) is not None]
    seen = tuple(uid for uid in uids if ctx.session.can_see(ctx.asker, uid))
    shown_when = When(when.cron, when.zone, seen, when.every)
    resource = ctx.view.uid(row.resource_id)
    moments = (row.saved_at, row.next_at, row.last_at)
    return Trigger(
        row.id, resource, shown_when, row.active, row.saved_by, *moments, parameters_of(row), len(seen) < len(uids)
    )
