"""All that can be done with a thing of each kind, in an order in which nothing is in the way of what comes after."""

from __future__ import annotations

from lakehold.runs.run_table import STOPPED
from lakehold.runs.runnable import RunOptions
from lakehold.runs.scheduler.schedule import TriggerSchedule
from lakehold.runs.service import MANUAL_CAUSE
from tests.golden.flows.outcomes import DONE, both, came_out
from tests.golden.flows.pages import Pages
from tests.golden.flows.place import RUNS, TRIGGERS, Place
from tests.golden.flows.placing import SECRETS
from tests.golden.flows.rest import Rest
from tests.golden.flows.town import BOB, OLGA
from tests.golden.marts_world import FIRST_TOGGLE

Way = Rest | Pages
WAYS = (Rest, Pages)
EVERY_NIGHT = TriggerSchedule("0 4 * * *")
SHARED, OWNED = "configure_sharing", "manage_owners"


def storage(way: Way) -> dict[str, str]:
    """All of a storage."""
    told = {
        "see": seen(way, "storage", "warehouse"),
        "use": made(way, "data_mart", "fresh", way.makes_mart("fresh", "warehouse")),
        "copy_credentials": copied(way, "warehouse"),
        "edit": edited(way, "warehouse"),
        SHARED: shared(way, "warehouse"),
        OWNED: owned(way, "warehouse", "owner"),
        "delete": deleted(way, "warehouse"),
    }
    return spent(way.place, told)


def data_mart(way: Way) -> dict[str, str]:
    """All of a data mart."""
    told = {
        "see": seen(way, "data_mart", "orders"),
        "use": made(way, "report", "fresh", way.makes_report("fresh", "orders", "post")),
        "edit": edited(way, "orders"),
        "manage_triggers": scheduled(way, "orders"),
        SHARED: shared(way, "orders"),
        OWNED: owned(way, "orders", "technical_owner", "business_owner"),
        "delete": deleted(way, "orders"),
    }
    return spent(way.place, told)


def destination(way: Way) -> dict[str, str]:
    """All of a destination. It is restored by who may after somebody has deleted it, whoever that was."""
    told = {
        "see": seen(way, "destination", "sheet"),
        "use": made(way, "report", "fresh", way.makes_report("fresh", "mine", "sheet")),
        "copy_credentials": copied(way, "sheet"),
        "edit": edited(way, "sheet"),
        SHARED: shared(way, "sheet"),
        OWNED: owned(way, "sheet", "owner"),
        "delete": deleted(way, "sheet"),
        "restore": restored(way, "sheet"),
    }
    return spent(way.place, told)


def gone_destination(way: Way) -> dict[str, str]:
    """All of a destination that is deleted."""
    told = {
        "see": seen(way, "destination", "sheet"),
        "use": made(way, "report", "fresh", way.makes_report("fresh", "mine", "sheet")),
        "copy_credentials": copied(way, "sheet"),
        "edit": edited(way, "sheet"),
        SHARED: shared(way, "sheet"),
        OWNED: owned(way, "sheet", "owner"),
        "delete": way.deletes("sheet"),
        "restore": restored(way, "sheet"),
    }
    return spent(way.place, told)


def report(way: Way) -> dict[str, str]:
    """All of a report."""
    told = {
        "see": seen(way, "report", "weekly"),
        "edit": edited(way, "weekly"),
        "run": ran(way, "weekly"),
        OWNED: owned(way, "weekly", "owner"),
        "delete": deleted(way, "weekly"),
    }
    return spent(way.place, told)


def runs(way: Way, name: str) -> dict[str, str]:
    """All of a run that Olga has started: it is stopped by who may, or by her; then it can be deleted."""
    place = way.place
    with place.town.write() as ctx:
        run = RUNS.insert(ctx, place[name], RunOptions(), cause=MANUAL_CAUSE)
    see = way.sees_run(name, run)
    stop = came_out(way.stops(run), happened=place.state(run) == STOPPED)
    with place.town.write() as ctx:
        if stop != DONE:
            RUNS.stop(ctx, run)
    delete = came_out(way.deletes_run(run), happened=run not in {each.id for each in place.runs(name)})
    return spent(place, {"see": see, "stop": stop, "delete": delete})


def triggers(way: Way, name: str) -> dict[str, str]:
    """All of the triggers of a thing: one that Olga has made is seen, changed and removed, and another is made."""
    place = way.place
    with place.town.write() as ctx:
        known = TRIGGERS.save(ctx, place[name], EVERY_NIGHT).id

    def is_at(cron: str) -> bool:
        return cron in {each.when.cron for each in place.triggers(name)}

    see = way.sees_trigger(name, known)
    change = came_out(way.reschedules(name, known), happened=not is_at(EVERY_NIGHT.cron))
    remove = came_out(way.unschedules(name, known), happened=known not in {each.id for each in place.triggers(name)})
    return spent(place, {"see": see, "manage": both(scheduled(way, name), change, remove)})


def scheduled(way: Way, name: str) -> str:
    """A trigger is made. It is taken away again, so that it is in nobody's way."""
    before = {each.id for each in way.place.triggers(name)}
    said = way.schedules(name)
    new = {each.id for each in way.place.triggers(name)} - before
    way.place.unschedule(new)
    return came_out(said, happened=len(new) == 1)


def spent(place: Place, told: dict[str, str]) -> dict[str, str]:
    """What came out. Where more than use was done, the place is not what it was, and no other row's."""
    place.town.spent |= any(said == DONE for action, said in told.items() if action not in {"see", "use"})
    return told


def seen(way: Way, kind: str, name: str) -> str:
    """In the list of its kind, and opened."""
    listed, said = way.lists(kind, name), way.opens(name)
    return said if listed == (said == DONE) else f"{said}, {'' if listed else 'not '}in the list"


def made(way: Way, kind: str, name: str, said: str) -> str:
    """Something that makes use of it. It is taken away again, so that it is in nobody's way."""
    happened = name in way.place.inside(kind)
    if happened:
        way.place.clear(kind, name)
    return came_out(said, happened=happened)


def copied(way: Way, name: str) -> str:
    """Its secrets, all of them."""
    said, secrets = way.copies(name)
    return came_out(said, happened=secrets == SECRETS)


def edited(way: Way, name: str) -> str:
    """Described in other words."""
    said = way.edits(name, "In other words.")
    return came_out(said, happened=way.place.found(name).description == "In other words.")


def shared(way: Way, name: str) -> str:
    """Both toggles are switched, and its context is taken away; then all is put back."""
    before = how_shared(way.place, name)
    other = {toggle: not on for toggle, on in before.items()}
    said = way.shares(name, other, [])
    now, contexts = how_shared(way.place, name), way.place.found(name).edges["contexts"]
    if (now, bool(contexts)) == (before, True):
        return came_out(said, happened=False)
    way.place.set(name, **before)
    way.place.label(name, "north")
    return came_out(said, happened=(now, bool(contexts)) == (other, False))


def how_shared(place: Place, name: str) -> dict[str, bool]:
    """Both toggles of a thing."""
    found = place.found(name).attributes
    return {toggle: found[toggle] == "true" for toggle in (FIRST_TOGGLE[name], "shared_for_maintenance")}


def owned(way: Way, name: str, given: str, taken: str = "") -> str:
    """Bob owns it too, and Olga, who did before, no longer does: in the same role, or in another."""

    def holders(role: str) -> set[str]:
        return {each.uid for each in way.place.found(name).owners[role]}

    more, less = given, taken or given
    gives = came_out(way.gives(name, more, BOB), happened=BOB in holders(more))
    takes = came_out(way.takes(name, less, OLGA), happened=OLGA not in holders(less))
    return both(gives, takes)


def ran(way: Way, name: str) -> str:
    """Now."""
    return came_out(way.runs(name), happened=bool(way.place.runs(name)))


def deleted(way: Way, name: str) -> str:
    """Gone, or as good as gone."""
    said = way.deletes(name)
    return came_out(said, happened=way.place.is_gone(name))


def restored(way: Way, name: str) -> str:
    """Back again, once it is deleted by whomever."""
    if not way.place.is_gone(name):
        way.place.set(name, deleted=True)
    way.place.town.spent = True
    return came_out(way.restores(name), happened=not way.place.is_gone(name))
