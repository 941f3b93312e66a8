"""Every action on a resource of each kind, in an order in which no action prevents a later one."""

from __future__ import annotations

from lakehold.runs.run_table import STOPPED
from lakehold.runs.runnable import RunOptions
from lakehold.runs.scheduler.schedule import TriggerSchedule
from lakehold.runs.service import MANUAL_CAUSE
from tests.golden.flows.acme import BOB, OLGA
from tests.golden.flows.outcomes import DONE, combined_outcome, confirmed_outcome
from tests.golden.flows.pages import Pages
from tests.golden.flows.project import RUNS, TRIGGERS, FlowProject
from tests.golden.flows.project_setup import SECRETS
from tests.golden.flows.rest import Rest
from tests.golden.marts_world import FIRST_TOGGLE

Way = Rest | Pages
WAYS = (Rest, Pages)
EVERY_NIGHT = TriggerSchedule("0 4 * * *")
SHARED, OWNED = "configure_sharing", "manage_owners"


def storage(way: Way) -> dict[str, str]:
    """Try every action on a storage."""
    outcomes = {
        "see": see_resource(way, "storage", "warehouse"),
        "use": create_dependent(way, "data_mart", "fresh", way.makes_mart("fresh", "warehouse")),
        "copy_credentials": copy_credentials(way, "warehouse"),
        "edit": edit_resource(way, "warehouse"),
        SHARED: share_resource(way, "warehouse"),
        OWNED: change_owner(way, "warehouse", "owner"),
        "delete": delete_resource(way, "warehouse"),
    }
    return mark_used(way.place, outcomes)


def data_mart(way: Way) -> dict[str, str]:
    """Try every action on a data mart."""
    outcomes = {
        "see": see_resource(way, "data_mart", "orders"),
        "use": create_dependent(way, "report", "fresh", way.makes_report("fresh", "orders", "post")),
        "edit": edit_resource(way, "orders"),
        "manage_triggers": create_trigger(way, "orders"),
        SHARED: share_resource(way, "orders"),
        OWNED: change_owner(way, "orders", "technical_owner", "business_owner"),
        "delete": delete_resource(way, "orders"),
    }
    return mark_used(way.place, outcomes)


def destination(way: Way) -> dict[str, str]:
    """Try every action on a destination. It is restored after somebody has deleted it."""
    outcomes = {
        "see": see_resource(way, "destination", "sheet"),
        "use": create_dependent(way, "report", "fresh", way.makes_report("fresh", "mine", "sheet")),
        "copy_credentials": copy_credentials(way, "sheet"),
        "edit": edit_resource(way, "sheet"),
        SHARED: share_resource(way, "sheet"),
        OWNED: change_owner(way, "sheet", "owner"),
        "delete": delete_resource(way, "sheet"),
        "restore": restore_resource(way, "sheet"),
    }
    return mark_used(way.place, outcomes)


def gone_destination(way: Way) -> dict[str, str]:
    """Try every action on a deleted destination."""
    outcomes = {
        "see": see_resource(way, "destination", "sheet"),
        "use": create_dependent(way, "report", "fresh", way.makes_report("fresh", "mine", "sheet")),
        "copy_credentials": copy_credentials(way, "sheet"),
        "edit": edit_resource(way, "sheet"),
        SHARED: share_resource(way, "sheet"),
        OWNED: change_owner(way, "sheet", "owner"),
        "delete": way.deletes("sheet"),
        "restore": restore_resource(way, "sheet"),
    }
    return mark_used(way.place, outcomes)


def report(way: Way) -> dict[str, str]:
    """Try every action on a report."""
    outcomes = {
        "see": see_resource(way, "report", "weekly"),
        "edit": edit_resource(way, "weekly"),
        "run": run_resource(way, "weekly"),
        OWNED: change_owner(way, "weekly", "owner"),
        "delete": delete_resource(way, "weekly"),
    }
    return mark_used(way.place, outcomes)


def runs(way: Way, name: str) -> dict[str, str]:
    """Try every action on a run that Olga has started. It is stopped before it is deleted."""
    place = way.place
    with place.acme.write() as ctx:
        run = RUNS.insert(ctx, place[name], RunOptions(), cause=MANUAL_CAUSE)
    see = way.sees_run(name, run)
    stop = confirmed_outcome(way.stops(run), happened=place.state(run) == STOPPED)
    with place.acme.write() as ctx:
        if stop != DONE:
            RUNS.stop(ctx, run)
    delete = confirmed_outcome(way.deletes_run(run), happened=run not in {each.id for each in place.runs(name)})
    return mark_used(place, {"see": see, "stop": stop, "delete": delete})


def triggers(way: Way, name: str) -> dict[str, str]:
    """Try every action on the triggers of a resource."""
    place = way.place
    with place.acme.write() as ctx:
        known = TRIGGERS.save(ctx, place[name], EVERY_NIGHT).id

    def is_at(cron: str) -> bool:
        return cron in {each.when.cron for each in place.triggers(name)}

    see = way.sees_trigger(name, known)
    change = confirmed_outcome(way.reschedules(name, known), happened=not is_at(EVERY_NIGHT.cron))
    remove = confirmed_outcome(
        way.unschedules(name, known), happened=known not in {each.id for each in place.triggers(name)}
    )
    return mark_used(place, {"see": see, "manage": combined_outcome(create_trigger(way, name), change, remove)})


def create_trigger(way: Way, name: str) -> str:
    """Create a trigger, and remove it again."""
    before = {each.id for each in way.place.triggers(name)}
    said = way.schedules(name)
    new = {each.id for each in way.place.triggers(name)} - before
    way.place.unschedule(new)
    return confirmed_outcome(said, happened=len(new) == 1)


def mark_used(place: FlowProject, outcomes: dict[str, str]) -> dict[str, str]:
    """Return the outcomes, and mark the project as used if one of them changed it."""
    place.acme.is_used |= any(said == DONE for action, said in outcomes.items() if action not in {"see", "use"})
    return outcomes


def see_resource(way: Way, kind: str, name: str) -> str:
    """Find the resource in the list of its kind, and open it."""
    listed, said = way.lists(kind, name), way.opens(name)
    return said if listed == (said == DONE) else f"{said}, {'' if listed else 'not '}in the list"


def create_dependent(way: Way, kind: str, name: str, said: str) -> str:
    """Create a resource that uses it, and remove it again."""
    happened = name in way.place.inside(kind)
    if happened:
        way.place.clear(kind, name)
    return confirmed_outcome(said, happened=happened)


def copy_credentials(way: Way, name: str) -> str:
    """Copy its credentials."""
    said, secrets = way.copies(name)
    return confirmed_outcome(said, happened=secrets == SECRETS)


def edit_resource(way: Way, name: str) -> str:
    """Change its description."""
    said = way.edits(name, "In other words.")
    return confirmed_outcome(said, happened=way.place.load(name).description == "In other words.")


def share_resource(way: Way, name: str) -> str:
    """Switch both toggles and remove its context, then restore them."""
    before = sharing_toggles(way.place, name)
    other = {toggle: not on for toggle, on in before.items()}
    said = way.shares(name, other, [])
    now, contexts = sharing_toggles(way.place, name), way.place.load(name).edges["contexts"]
    if (now, bool(contexts)) == (before, True):
        return confirmed_outcome(said, happened=False)
    way.place.set(name, **before)
    way.place.label(name, "north")
    return confirmed_outcome(said, happened=(now, bool(contexts)) == (other, False))


def sharing_toggles(place: FlowProject, name: str) -> dict[str, bool]:
    """Return both sharing toggles of a resource."""
    found = place.load(name).attributes
    return {toggle: found[toggle] == "true" for toggle in (FIRST_TOGGLE[name], "shared_for_maintenance")}


def change_owner(way: Way, name: str, given: str, taken: str = "") -> str:
    """Make Bob an owner and remove Olga, in the same role or in another."""

    def holders(role: str) -> set[str]:
        return {each.uid for each in way.place.load(name).owners[role]}

    more, less = given, taken or given
    gives = confirmed_outcome(way.gives(name, more, BOB), happened=BOB in holders(more))
    takes = confirmed_outcome(way.takes(name, less, OLGA), happened=OLGA not in holders(less))
    return combined_outcome(gives, takes)


def run_resource(way: Way, name: str) -> str:
    """Run it now."""
    return confirmed_outcome(way.runs(name), happened=bool(way.place.runs(name)))


def delete_resource(way: Way, name: str) -> str:
    """Delete it."""
    said = way.deletes(name)
    return confirmed_outcome(said, happened=way.place.is_gone(name))


def restore_resource(way: Way, name: str) -> str:
    """Restore it after somebody has deleted it."""
    if not way.place.is_gone(name):
        way.place.set(name, deleted=True)
    way.place.acme.is_used = True
    return confirmed_outcome(way.restores(name), happened=not way.place.is_gone(name))
