"""What the company needs so that every page has something to show. All words are plain: no name of anything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lakehold import workspaces
from lakehold.access.facts.view import View
from lakehold.catalog import campaigns, editing, requests
from lakehold.catalog.editing import Edit
from lakehold.demo import company
from lakehold.demo.lakehouse import LAYERS
from lakehold.directory import invites, service_accounts, tokens
from lakehold.directory.caller import Caller
from lakehold.directory.installation import Installation
from lakehold.pipeline import reading
from lakehold.pipeline.volumes import Volume
from lakehold.runs import book, jobs
from lakehold.runs.runnable import Wanted
from lakehold.runs.runs import Runs
from lakehold.workspaces.lakehouse import volumes
from tests.api.crawling.words import Tenant, Words

_RUN = ("make_orders", "store_history", "till_source")
ASKED = (("nils", "see", "orders"), ("bella", "edit", "daily_sales"), ("erik", "edit", "sales_by_day"))
DELIVERED = "archive_files"
"""A destination of files, to which something was delivered."""
REVIEWED = (("olga", "lake_house"), ("olga", "sales"), ("petra", "landing"))


@dataclass(frozen=True, slots=True)
class LivedIn:
    """What is known beside what may be seen."""

    mailed: str
    """The address in the mail of who was invited."""
    told: Mapping[str, frozenset[str]]
    """By the name of a visitor: what they named themself, or were told in a mail."""


def as_it_is(house: Installation) -> Tenant:
    """The demo company under its own names."""
    with house.access.read(company.TENANT) as session:
        names = session.asking(lambda view: {view.uid(each): view.names.get(each) or "" for each in all_of(view)})
    return Tenant(company.TENANT, Words(seed=0), {uid: uid for uid in names}, names)


def all_of(view: View) -> list[int]:
    """Everything that a tenant has, whatever its kind."""
    return [each for kind in view.policy.kinds for each in view.of_kind.get(kind) or ()]


def furnish(house: Installation, here: Tenant, invited: str) -> LivedIn:
    """Requests, invites, tokens, reviews, runs, files."""

    def by(demo: str) -> Caller:
        return Caller(here.uid, here.id(demo))

    for demo, action, uid in ASKED:
        with house.write(by(demo)) as work:
            requests.ask(work, action, here.id(uid), reason="For a report")
    for demo in ("tara", "nils"):
        with house.write(by(demo)) as work:
            tokens.make(work, "A script")
    for demo, workspace in REVIEWED:
        with house.write(by(demo)) as work:
            campaigns.start(work, here.id(workspace), "Spring")
    with house.write(by("olga")) as work:
        made = invites.make(work, house.settings, invited)
        service_accounts.create(work, "A robot")
        jobs.start(work, "review", {"format": "csv", "inside": here.id("sales")})
        job = jobs.start(work, "review", {"format": "csv", "inside": here.id("lake_house")})
        folder = book.folder(house.settings.data, work.session.tenant)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "done.csv").write_text("member,resource\n", encoding="utf-8")
        ended = {"state": book.DONE, "progress": 100, "result": "done.csv", "ended_at": work.at}
        book.move(work.session.transaction, job.id, ended)
    _run(house, by("olga"), here)
    _put_files(house, by("olga"), here)
    _deliver(house, by("olga"), here.id(DELIVERED))
    told = {
        # They know the ids by which they asked, and no names.
        **{demo: frozenset({here.id(uid)}) for demo, _, uid in ASKED},
        # Whoever is invited is told by whom, and where to.
        "nobody": frozenset({here.names[here.uid], here.names[here.id("olga")]}),
    }
    return LivedIn(made.link.removeprefix(house.settings.base), told)


def _run(house: Installation, caller: Caller, here: Tenant) -> None:
    """Runs that wait for a worker, each after the one before it."""
    runs, cause = Runs(workspaces.runnables()), "by hand"
    with house.write(caller) as work:
        for demo in _RUN:
            cause = f"after {runs.write(work, here.id(demo), Wanted(), cause=cause)}"


def _put_files(house: Installation, caller: Caller, here: Tenant) -> None:
    """A file in a folder of each volume."""
    for layer in LAYERS:
        with house.write(caller) as work:
            there = volumes.expected(work, house.settings, here.id(f"{layer}_files"), "2031/rows.csv")
        with there.arriving() as rough, house.write(caller) as work:
            volumes.arrived(work, house.settings, here.id(f"{layer}_files"), "2031/rows.csv", rough)


def _deliver(house: Installation, caller: Caller, uid: str) -> None:
    with house.write(caller) as work:
        editing.edit(work, uid, Edit(settings={"to": "files", "kind": "csv"}))
        volume = Volume(house.settings, reading.place_of(work, uid))
    with volume.arriving() as rough:
        rough.write(b"day,amount\n")
        volume.place(rough, "rows.csv", replace=True)
