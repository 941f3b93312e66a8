"""What the company needs so that every page has something to show. All words are plain: no name of anything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lakehold.catalog import campaigns, requests
from lakehold.directory import invites, service_accounts, tokens
from lakehold.directory.caller import Caller
from lakehold.directory.installation import Installation
from lakehold.runs import book, jobs
from tests.api.crawling.words import Tenant

ASKED = (("nils", "see", "orders"), ("bella", "edit", "daily_sales"), ("erik", "edit", "sales_by_day"))
REVIEWED = (("olga", "lake_house"), ("olga", "sales"), ("petra", "landing"))


@dataclass(frozen=True, slots=True)
class LivedIn:
    """What is known beside what may be seen."""

    mailed: str
    """The address in the mail of who was invited."""
    told: Mapping[str, frozenset[str]]
    """By the name of a visitor: what they named themself, or were told in a mail."""


def furnish(house: Installation, here: Tenant, invited: str) -> LivedIn:
    """Requests, invites, tokens, reviews."""

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
    told = {
        # They know the ids by which they asked, and no names.
        **{demo: frozenset({here.id(uid)}) for demo, _, uid in ASKED},
        # Whoever is invited is told by whom, and where to.
        "nobody": frozenset({here.names[here.uid], here.names[here.id("olga")]}),
    }
    return LivedIn(made.link.removeprefix(house.settings.base), told)
