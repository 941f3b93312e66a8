"""Sample data with which every page has something to show. All texts are plain words, and no names of resources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lakehold import workspaces
from lakehold.access.facts.view import FactView
from lakehold.catalog import campaigns, requests, resource_edit
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.demo import company
from lakehold.directory import invites, members, tokens
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.lake import readable_tables
from lakehold.lake.volumes import Volume
from lakehold.runs.cause import CauseKind, RunCause
from lakehold.runs.jobs import service, table
from lakehold.runs.runnable import RunOptions
from lakehold.runs.service import MANUAL_CAUSE, Runs
from lakehold.workspaces.lakehouse import volumes
from tests.api.crawler.words import Tenant, Words

_RUN = ("make_orders", "store_history", "till_source")
ACCESS_REQUESTS = (("nils", "see", "orders"), ("bella", "edit", "daily_sales"), ("erik", "edit", "sales_by_day"))
DELIVERED, ROBOT = "archive_files", "A robot"
"""A destination of files, to which something was delivered."""
REVIEWED = (("olga", "lake_house"), ("olga", "sales"), ("petra", "landing"))


@dataclass(frozen=True, slots=True)
class SampleData:
    """Texts that visitors know besides what they may see."""

    mailed_address: str
    """The address in the mail of who was invited."""
    known_words: Mapping[str, frozenset[str]]
    """By the name of a visitor: what they named themself, or were told in a mail."""


def demo_tenant(platform: Platform) -> Tenant:
    """Return the demo company under its own names."""
    with platform.access.read(company.TENANT) as session:
        names = session.read_view(
            lambda view: {view.uid(each): view.names.get(each) or "" for each in all_resources(view)}
        )
    return Tenant(company.TENANT, Words(seed=0), {uid: uid for uid in names}, names)


def all_resources(view: FactView) -> list[int]:
    """Return every resource of a tenant."""
    return [each for kind in view.policy.kinds for each in view.by_kind.get(kind) or ()]


def create_sample_data(platform: Platform, here: Tenant, invited: str) -> SampleData:
    """Create requests, invites, tokens, reviews, runs and files."""

    def by(demo: str) -> Caller:
        return Caller(here.uid, here.id(demo))

    for demo, action, uid in ACCESS_REQUESTS:
        with platform.write(by(demo)) as ctx:
            requests.create(ctx, action, here.id(uid), reason="For a report")
    for demo in ("tara", "nils"):
        with platform.write(by(demo)) as ctx:
            tokens.create(ctx, "A script")
    for demo, workspace in REVIEWED:
        with platform.write(by(demo)) as ctx:
            campaigns.start(ctx, here.id(workspace), "Spring")
    with platform.write(by("olga")) as ctx:
        made = invites.create(ctx, platform.settings, invited)
        members.create_service_account(ctx, ROBOT)
        service.start_job(ctx, "review", {"format": "csv", "inside": here.id("sales")})
        job = service.start_job(ctx, "review", {"format": "csv", "inside": here.id("lake_house")})
        folder = table.results_folder(platform.settings.data, ctx.session.tenant)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "done.csv").write_text("member,resource\n", encoding="utf-8")
        ended = {"state": table.DONE, "progress": 100, "result": "done.csv", "ended_at": ctx.at}
        table.update_job(ctx.session.transaction, job.id, ended)
    platform.record_read(by("olga"), "preview", here.id("orders"))
    platform.reads.flush()
    _run(platform, by("olga"), here)
    _put_files(platform, by("olga"), here)
    _deliver(platform, by("olga"), here.id(DELIVERED))
    known_words = {
        # They know the ids by which they asked, and no names.
        **{demo: frozenset({here.id(uid)}) for demo, _, uid in ACCESS_REQUESTS},
        # Whoever is invited is told by whom, and where to.
        "nobody": frozenset({here.names[here.uid], here.names[here.id("olga")]}),
    }
    return SampleData(made.link.removeprefix(platform.settings.base_url), known_words)


def _run(platform: Platform, caller: Caller, here: Tenant) -> None:
    """Runs that wait for a worker, each after the one before it."""
    runs, cause = Runs(workspaces.runnables()), MANUAL_CAUSE
    with platform.write(caller) as ctx:
        for demo in _RUN:
            run = runs.insert(ctx, here.id(demo), RunOptions(), cause=cause)
            cause = RunCause(CauseKind.DEPENDENCY, run)


def _put_files(platform: Platform, caller: Caller, here: Tenant) -> None:
    """A file in a folder of each volume."""
    for layer in ("raw", "clean", "shaped", "private"):
        with platform.write(caller) as ctx:
            there = volumes.FILES.check_upload(ctx, platform.settings, here.id(f"{layer}_files"), "2031/rows.csv")
        with there.open_partial() as rough, platform.write(caller) as ctx:
            volumes.FILES.store_upload(ctx, platform.settings, here.id(f"{layer}_files"), "2031/rows.csv", rough)


def _deliver(platform: Platform, caller: Caller, uid: str) -> None:
    with platform.write(caller) as ctx:
        resource_edit.apply_edit(ctx, uid, ResourceEdit(settings={"to": "files", "kind": "csv"}))
        volume = Volume(platform.settings, readable_tables.identifier_of(ctx, uid))
    with volume.open_partial() as rough:
        rough.write(b"day,amount\n")
        volume.publish(rough, "rows.csv", replace=True)
