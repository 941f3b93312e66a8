"""Triggers: start runs by a schedule with its time zone, or after the success of other runs.

A trigger runs as the member who last saved it; access is checked when it is due, and a refusal is a failed run. Where a
model has a kind for triggers, each is also a resource of that kind, with the rights of any other resource.
"""

import json
import secrets
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace

from lakehold.catalog import kinds
from lakehold.directory.caller import Caller
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.errors import InvalidInputError, NotFoundError
from lakehold.kit.ids import quote
from lakehold.runs.run_table import load_caller
from lakehold.runs.runnable import Runnable, RunnableRegistry
from lakehold.runs.scheduler.schedule import TriggerRow, TriggerSchedule, load_parameters, load_schedule, trigger_table
from lakehold.runs.service import Runs

ACTIVATE, DEACTIVATE = "activate", "deactivate"


@dataclass(frozen=True, slots=True)
class Trigger:
    """A trigger: what it runs, when, and as whom."""

    id: str
    resource: str
    when: TriggerSchedule
    active: bool
    saved_by: str = ""
    saved_at: Moment = 0
    next_at: Moment | None = None
    last_at: Moment | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    """The parameters that its runs are started with."""
    more: bool = False
    """Whether it comes after others too, which the caller may not see."""


class Triggers:
    """The triggers of the platform."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    def save(
        self,
        ctx: RequestContext,
        resource: str,
        when: TriggerSchedule,
        *,
        uid: str | None = None,
        active: bool = True,
        parameters: Mapping[str, str] | None = None,
    ) -> Trigger:
        """Create or change a trigger. From now on it runs as the caller."""
        ctx.need_writable()
        runnable = self._runs.runnables.for_resource(ctx, resource)
        ctx.need(runnable.schedule, resource)
        for other in when.after:
            ctx.need(self._runs.runnables.for_resource(ctx, other).see, other)
        if uid is not None and self.get(ctx, uid).resource != resource:
            raise InvalidInputError("A trigger cannot be moved to another resource.", "Create another one.")
        chosen = uid or f"trigger_{secrets.token_hex(8)}"
        parent = (
            ctx.view.policy.kinds[runnable.trigger_kind].schema.parent if uid is None and runnable.trigger_kind else ""
        )
        if parent:
            name = ctx.view.names.get(ctx.view.resource(resource)) or resource
            ctx.create(runnable.trigger_kind, f"Trigger of {name}", uid=chosen, edges={parent: resource})
        self.save_unchecked(ctx, Trigger(chosen, resource, when, active, parameters=parameters or {}), ctx.caller)
        return self.get(ctx, chosen)

    def save_unchecked(self, ctx: RequestContext, trigger: Trigger, starter: Caller) -> None:
        """Save a trigger that runs as the starter. The right to it has been checked by another rule."""
        ctx.need_writable()
        runnables = self._runs.runnables
        runnable = runnables[ctx.view.kind(ctx.view.resource(trigger.resource))]
        when, parameters = trigger.when.validate(), _valid_parameters(runnable, trigger.parameters)
        if when.after:
            _refuse_cycle(ctx, runnables, trigger)
        # By number: a name may change, and an id is resolved where it is rendered.
        after = [str(ctx.view.resource(other)) for other in when.after]
        values = {
            "resource_id": ctx.view.resource(trigger.resource),
            "settings": json.dumps({**asdict(when), "after": after, "parameters": parameters}),
            "caller": json.dumps(starter.to_stored()),
            "saved_by": starter.member,
            "saved_at": ctx.at,
            "active": trigger.active,
            "heard": "{}",
            "next_at": when.next_moment(ctx.at) if trigger.active else None,
        }
        if not ctx.rows(trigger_table).update(trigger_table.c.id == trigger.id, **values):
            ctx.rows(trigger_table).insert(id=trigger.id, tenant=ctx.caller.tenant, last_at=None, **values)
        noted = {"trigger": trigger.id, "cron": when.cron, "after": [*when.after]}
        ctx.note("save trigger", trigger.resource, after=noted)

    def get(self, ctx: RequestContext, uid: str) -> Trigger:
        """Return a trigger that the caller may see."""
        row = ctx.rows(trigger_table).select(trigger_table.c.id == uid).one_or_none()
        resource = ctx.view.uids.get(row.resource_id) if row and exists(ctx, self._runs.runnables, row) else None
        if row is None or resource is None or not ctx.session.can_see(ctx.principal, resource):
            raise NotFoundError(f"There is no trigger {quote(uid)}.", "Check the ID.")
        ctx.need(self._runs.runnables.for_resource(ctx, resource).see, resource)
        return _build_trigger(ctx, row)

    def for_resource(self, ctx: RequestContext, resource: str) -> list[Trigger]:
        """Return the triggers of a resource."""
        ctx.need(self._runs.runnables.for_resource(ctx, resource).see, resource)
        c = trigger_table.c
        rows = ctx.rows(trigger_table).select(c.resource_id == ctx.view.resource(resource), order_by=(c.id,))
        return [_build_trigger(ctx, row) for row in rows if exists(ctx, self._runs.runnables, row)]

    def set_active(self, ctx: RequestContext, uid: str, *, active: bool) -> Trigger:
        """Pause a trigger, or resume it as the caller. What it waits for stays, whether or not the caller sees it."""
        ctx.need_writable()
        found = self.get(ctx, uid)
        ctx.need(self._runs.runnables.for_resource(ctx, found.resource).schedule, found.resource)
        return self._set_active(ctx, found, active=active)

    def set_all_active(self, ctx: RequestContext, resource: str, *, active: bool) -> list[Trigger]:
        """Resume all triggers of a pipeline as the caller, or pause them."""
        ctx.need_writable()
        own = ACTIVATE if active else DEACTIVATE
        known = kinds.schema_of(ctx.view, resource).actions if ctx.view.ids.get(resource) else ()
        ctx.need(own if own in known else self._runs.runnables.for_resource(ctx, resource).schedule, resource)
        there = self.for_resource(ctx, resource)
        return [each if each.active == active else self._set_active(ctx, each, active=active) for each in there]

    def _set_active(self, ctx: RequestContext, found: Trigger, *, active: bool) -> Trigger:
        values: dict[str, object] = {"active": active, "heard": "{}", "next_at": None}
        if active:
            values |= {"next_at": found.when.next_moment(ctx.at), "saved_by": ctx.caller.member, "saved_at": ctx.at}
            values["caller"] = json.dumps(ctx.caller.to_stored())
        ctx.rows(trigger_table).update(trigger_table.c.id == found.id, **values)
        ctx.note("resume trigger" if active else "pause trigger", found.resource, after={"trigger": found.id})
        return self.get(ctx, found.id)

    def delete(self, ctx: RequestContext, uid: str) -> None:
        """Delete a trigger."""
        found = self.get(ctx, uid)
        ctx.need_writable()
        ctx.need(self._runs.runnables.for_resource(ctx, found.resource).schedule, found.resource)
        self.delete_unchecked(ctx, found)
        if ctx.view.ids.get(uid) is not None:
            ctx.delete_unchecked(uid)

    def delete_unchecked(self, ctx: RequestContext, trigger: Trigger) -> None:
        """Delete the schedule of a trigger without a check, and without its resource."""
        ctx.rows(trigger_table).delete(trigger_table.c.id == trigger.id)
        ctx.note("remove trigger", trigger.resource, before={"trigger": trigger.id})

    def load_all(self, ctx: RequestContext) -> list[Trigger]:
        """Return all triggers of the tenant, for those who may export it. One that was saved with a narrowed token is
        paused here: elsewhere it would run with all rights of the token's member.
        """
        ctx.need("export", ctx.caller.tenant)
        rows = ctx.rows(trigger_table).select(order_by=(trigger_table.c.id,))
        known = [row for row in rows if exists(ctx, self._runs.runnables, row)]
        found = [(_build_trigger(ctx, row, every_end=True), load_caller(row)) for row in known]
        return [replace(each, active=each.active and caller.narrowed is None) for each, caller in found]


def exists(ctx: RequestContext, runnables: RunnableRegistry, row: TriggerRow) -> bool:
    """Return whether what the trigger runs, and the trigger's own resource if it has one, have not been deleted."""
    if ctx.view.uids.get(row.resource_id) is None:
        return False
    return not runnables[ctx.view.kind(row.resource_id)].trigger_kind or ctx.view.ids.get(row.id) is not None


def _valid_parameters(runnable: Runnable, parameters: Mapping[str, str]) -> dict[str, str]:
    for name, value in parameters.items():
        among = runnable.choices.get(name, ())
        if value not in among:
            what = f"{name} cannot be {quote(value)}" if among else f"there is no parameter {quote(name)}"
            hint = f"Use {', '.join(among or runnable.choices) or 'none'}."
            raise InvalidInputError(f"Invalid parameters: {what}.", hint)
    return dict(parameters)


def _refuse_cycle(ctx: RequestContext, runnables: RunnableRegistry, trigger: Trigger) -> None:
    """Refuse a trigger that would wait for itself, directly or through others."""
    after: defaultdict[int, set[int]] = defaultdict(set)
    for row in ctx.rows(trigger_table).select(trigger_table.c.id != trigger.id):
        if exists(ctx, runnables, row):
            after[row.resource_id].update(map(int, load_schedule(row).after))
    waiting, before = {ctx.view.resource(other) for other in trigger.when.after}, set[int]()
    while waiting:
        before |= waiting
        waiting = {earlier for each in waiting for earlier in after[each]} - before
    if ctx.view.resource(trigger.resource) in before:
        raise InvalidInputError("The trigger would wait for itself.", "Choose other pipelines.")


def _build_trigger(ctx: RequestContext, row: TriggerRow, *, every_end: bool = False) -> Trigger:
    when = load_schedule(row)
    uids = [uid for number in when.after if (uid := ctx.view.uids.get(int(number))) is not None]
    seen = tuple(uid for uid in uids if every_end or ctx.session.can_see(ctx.principal, uid))
    return Trigger(
        resource=ctx.view.uid(row.resource_id),
        when=TriggerSchedule(when.cron, when.zone, seen, when.every),
        parameters=load_parameters(row),
        more=len(seen) < len(uids),
        **{name: getattr(row, name) for name in ("id", "active", "saved_by", "saved_at", "next_at", "last_at")},
    )
