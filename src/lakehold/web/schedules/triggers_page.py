"""The triggers of a pipeline: by schedule with a time zone, or after other pipelines."""

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.api.http.dependencies import FormContext, WriteContext
from lakehold.catalog.resource_view import ResourceView, VisibleRefs
from lakehold.directory.errors import HiddenError
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError, NotFoundError
from lakehold.runs.scheduler.schedule import TriggerSchedule
from lakehold.runs.scheduler.service import Trigger
from lakehold.web import pages, urls
from lakehold.web.confirmation import need_confirmation
from lakehold.web.routing import FORM_METHODS, SubmittedForm, router
from lakehold.web.runs import RUNS, TRIGGERS
from lakehold.web.runs.run_list import runnable_options
from lakehold.web.runs.runnable_page import need_runnable, runnable_frame, sees_runs
from lakehold.web.schedules import schedule_form
from lakehold.web.schedules.schedule_form import ScheduleForm, time_zones

routes = router("/resources")


@routes.api_route("/{uid:path}/triggers", methods=FORM_METHODS)
def triggers_page(request: Request, ctx: FormContext, uid: str, sent: SubmittedForm, change: str = "") -> Response:
    """Show the triggers, and the form for a new one or the one to `change`; add a trigger that runs as the caller."""
    found = need_runnable(ctx, uid)
    if request.method == "GET":
        return _page(request, ctx, found, changed=change)
    if str(sent.get("by", "cron")) == "cron":
        filled = schedule_form.parse_schedule_form(sent)
        if (errors := filled.errors()) or sent.get("do") == "times":
            return _page(request, ctx, found, timed=filled, errors=errors)
        TRIGGERS.save(ctx, uid, filled.to_schedule())
    else:
        every = str(sent.get("every", "all")) == "all"
        when = TriggerSchedule(after=tuple(map(str, sent.getlist("after"))), every=every)
        try:
            TRIGGERS.save(ctx, uid, when)
        except (InvalidInputError, HiddenError) as error:
            message = str(error) if when.after else "Select at least one pipeline."
            return _page(request, ctx, found, filled=sent, errors={"after": message})
    return pages.redirect(request, urls.resource(uid, "triggers"), "The trigger was added. It runs as you.")


@routes.post("/{uid:path}/triggers/change")
def change_schedule(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Change the schedule of a trigger. It stays paused or active, and runs as the caller from then on."""
    found, known = need_runnable(ctx, uid), _need_trigger(ctx, uid, sent)
    filled = schedule_form.parse_schedule_form(sent)
    if not known.when.cron:
        raise InvalidInputError("This trigger runs after other pipelines.", "Remove it, and add a schedule.")
    if (errors := filled.errors()) or sent.get("do") == "times":
        return _page(request, ctx, found, changed=known.id, timed=filled, errors=errors)
    TRIGGERS.save(ctx, uid, filled.to_schedule(), uid=known.id, active=known.active)
    return pages.redirect(request, urls.resource(uid, "triggers"), "The schedule was changed. It runs as you.")


@routes.post("/{uid:path}/triggers/pause")
@routes.post("/{uid:path}/triggers/resume")
def set_active(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Pause a trigger, or resume it; then it runs as the caller."""
    active = request.url.path.endswith("/resume")
    TRIGGERS.set_active(ctx, _need_trigger(ctx, uid, sent).id, active=active)
    message = "Trigger resumed. It runs as you." if active else "Trigger paused."
    return pages.redirect(request, urls.resource(uid, "triggers"), message)


@routes.post("/{uid:path}/triggers/remove")
def remove(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Remove a trigger, after a confirmation."""
    known, there = _need_trigger(ctx, uid, sent), urls.resource(uid, "triggers")
    need_confirmation(request, sent, "Remove this trigger?", "Current runs continue.", do="Remove", back=there)
    TRIGGERS.delete(ctx, known.id)
    return pages.redirect(request, there, "The trigger was removed.")


def _page(
    request: Request,
    ctx: RequestContext,
    found: ResourceView,
    *,
    filled: FormData | None = None,
    changed: str = "",
    timed: ScheduleForm | None = None,
    errors: dict[str, str] | None = None,
) -> Response:
    can_run, visible = found.kind in RUNS.runnables, VisibleRefs(ctx)
    listed = TRIGGERS.for_resource(ctx, found.uid) if sees_runs(found) else []
    # A trigger can wait for pipelines whose runs the caller may see.
    within = found.workspace.uid if found.workspace else None
    others = runnable_options(ctx, within, lambda kind: RUNS.runnables[kind].see)
    edited = (schedule_form.schedule_form_from(each.when) for each in listed if each.id == changed)
    values: dict[str, object] = {
        **runnable_frame(ctx, found, "triggers"),
        "can_run": can_run,
        "right": RUNS.runnables[found.kind].schedule if can_run else "edit",
        "triggers": [(each, visible.refs(each.when.after), visible.ref(each.saved_by)) for each in listed],
        "next_times": lambda when: schedule_form.next_times(when, ctx.at) if when.cron else [],
        "others": [each for each in others if each[0] != found.uid],
        "zones": time_zones(),
        "every_time": schedule_form.FREQUENCIES,
        "changed": changed,
        "timed": timed or next(edited, ScheduleForm("day")),
        "fresh": ScheduleForm("day"),
        "upcoming": schedule_form.next_times(timed.to_schedule(), ctx.at) if timed and not errors else [],
        "chosen": [str(each) for each in filled.getlist("after")] if filled else [],
        "every": str(filled.get("every", "all")) if filled else "all",
    }
    return pages.render_form(request, "schedules/triggers.html", values, errors)


def _need_trigger(ctx: RequestContext, uid: str, sent: FormData) -> Trigger:
    """Return the trigger that a form names; raise NotFoundError if it belongs to another pipeline."""
    found = TRIGGERS.get(ctx, str(sent.get("trigger", "")))
    if found.resource != uid:
        raise NotFoundError("There is no such trigger here.", "Reload the page.")
    return found
