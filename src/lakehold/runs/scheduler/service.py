"""Triggers: start runs by a schedule with its time zone, or after the success of other runs.

A trigger runs as the member who last saved it; access is checked when it is due, and a refusal is a failed run.
Where a model has a kind for triggers, each is also a resource of that kind, with the rights of any other
resource.
"""

import json
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from lakehold.catalog import kinds
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.errors import InvalidInputError, NotFoundError
from lakehold.kit.ids import quote
from lakehold.runs.runnable import Runnable, RunnableRegistry
from lakehold.runs.scheduler.schedule import (
    TriggerRow,
    TriggerSchedule,
    load_parameters,
    load_schedule,
    trigger_table,
)
from lakehold.runs.service import Runs

ACTIVATE, DEACTIVATE = "activate", "deactivate"


@dataclass(frozen=True, slots=True)
class Trigger:
    """A trigger: what it runs, when, and as whom."""

    id: str
    resource: str
    when: TriggerSchedule
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
        checked, checked_parameters = when.validate(), _valid_parameters(runnable, parameters or {})
        for other in checked.after:
            ctx.need(self._runs.runnables.for_resource(ctx, other).see, other)
        _refuse_cycle(ctx, self._runs.runnables, resource, checked, uid)
        if uid is not None and self.get(ctx, uid).resource != resource:
            raise InvalidInputError("A trigger cannot be moved to another resource.", "Create another one.")
        # By number: a name may change, and an id is resolved where it is rendered.
        after = [str(ctx.view.resource(other)) for other in checked.after]
        values = {
            "settings": json.dumps({**asdict(checked), "after": after, "parameters": checked_parameters}),
            "caller": json.dumps(ctx.caller.to_stored()),
            "saved_by": ctx.caller.member,
            "saved_at": ctx.at,
            "active": active,
            "heard": "{}",
            "next_at": checked.next_moment(ctx.at) if active else None,
        }
        chosen = uid or f"trigger_{secrets.token_hex(8)}"
        if uid is None:
            self._insert(ctx, runnable, resource, chosen, values)
        else:
            ctx.rows(trigger_table).update(trigger_table.c.id == chosen, **values)
        ctx.note("save trigger", resource, after={"trigger": chosen, "cron": checked.cron, "after": [*checked.after]})
        return self.get(ctx, chosen)

    def get(self, ctx: RequestContext, uid: str) -> Trigger:
        """Return a trigger that the caller may see."""
        row = ctx.rows(trigger_table).select(trigger_table.c.id == uid).one_or_none()
        resource = None if row is None else ctx.view.uids.get(row.resource_id)
        if (
            row is None
            or resource is None
            or not ctx.session.can_see(ctx.principal, resource)
            or not exists(ctx, self._runs.runnables, row)
        ):
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
        ctx.rows(trigger_table).delete(trigger_table.c.id == uid)
        if ctx.view.ids.get(uid) is not None:
            ctx.delete_unchecked(uid)
        ctx.note("remove trigger", found.resource, before={"trigger": uid})

    def _insert(
        self, ctx: RequestContext, runnable: Runnable, resource: str, uid: str, values: Mapping[str, object]
    ) -> None:
        made = {"tenant": ctx.caller.tenant, "resource_id": ctx.view.resource(resource), "last_at": None}
        ctx.rows(trigger_table).insert(id=uid, **made, **values)
        if runnable.trigger_kind:
            parent = ctx.view.policy.kinds[runnable.trigger_kind].schema.parent
            assert parent is not None  # noqa: S101 - it lies in what it runs
            name = ctx.view.names.get(ctx.view.resource(resource)) or resource
            ctx.create(runnable.trigger_kind, f"Trigger of {name}", uid=uid, edges={parent: resource})


def exists(ctx: RequestContext, runnables: RunnableRegistry, row: TriggerRow) -> bool:
    """Return whether the resource of the trigger, if it has one, has not been deleted."""
    kind = ctx.view.kind(row.resource_id)
    return not runnables[kind].trigger_kind or ctx.view.ids.get(row.id) is not None


def _valid_parameters(runnable: Runnable, parameters: Mapping[str, str]) -> dict[str, str]:
    for name, value in parameters.items():
        among = runnable.choices.get(name, ())
        if value not in among:
            what = f"{name} cannot be {quote(value)}" if among else f"there is no parameter {quote(name)}"
            raise InvalidInputError(
                f"Invalid parameters: {what}.", f"Use {', '.join(among or runnable.choices) or 'none'}."
            )
    return dict(parameters)


def _refuse_cycle(
    ctx: RequestContext, runnables: RunnableRegistry, resource: str, when: TriggerSchedule, uid: str | None
) -> None:
    """Refuse a trigger that would wait for itself, directly or through others."""
    if not when.after:
        return
    rows = ctx.rows(trigger_table).select(trigger_table.c.id != (uid or ""))
    after: dict[int, set[int]] = {}
    for row in rows:
        if ctx.view.uids.get(row.resource_id) is not None and exists(ctx, runnables, row):
            after.setdefault(row.resource_id, set()).update(map(int, load_schedule(row).after))
    waiting, before = {ctx.view.resource(other) for other in when.after}, set[int]()
    while waiting:
        before |= waiting
        waiting = {earlier for each in waiting for earlier in after.get(each, ())} - before
    if ctx.view.resource(resource) in before:
        raise InvalidInputError("The trigger would wait for itself.", "Choose other pipelines.")


def _build_trigger(ctx: RequestContext, row: TriggerRow) -> Trigger:
    when = load_schedule(row)
    uids = [uid for number in when.after if (uid := ctx.view.uids.get(int(number))) is not None]
    seen = tuple(uid for uid in uids if ctx.session.can_see(ctx.principal, uid))
    return Trigger(
        resource=ctx.view.uid(row.resource_id),
        when=TriggerSchedule(when.cron, when.zone, seen, when.every),
        parameters=load_parameters(row),
        more=len(seen) < len(uids),
        **{name: getattr(row, name) for name in ("id", "active", "saved_by", "saved_at", "next_at", "last_at")},
    )
