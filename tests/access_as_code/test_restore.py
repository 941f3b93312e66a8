"""A whole tenant through the command: exported, applied to an empty tenant by its Owner, and exported again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lakehold import workspaces
from lakehold.access import Add, Attribute, Edge, Grant, Remove, TokenPrincipal
from lakehold.access_as_code.metadata import load_metadata
from lakehold.access_as_code.tenant_state import EntryMetadata
from lakehold.access_as_code.tenant_writer import TenantWriter
from lakehold.catalog import credentials, network_policy, resource_metadata, resources
from lakehold.cli import app, demo
from lakehold.demo import company, web_shop
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.kit.errors import ForbiddenError, InvalidInputError
from lakehold.kit.network_policy import SCHEMA, NetworkPolicyError
from lakehold.ledger.audit import AuditFilter
from lakehold.runs.scheduler.schedule import TriggerSchedule
from lakehold.runs.scheduler.service import Triggers
from lakehold.runs.service import Runs
from lakehold.workspaces.marts.notifications import receivers
from lakehold.workspaces.marts.notifications.preferences import NotificationChannel
from lakehold.workspaces.marts.notifications.receivers import Subscription

HTTPS = "https:" + "//"
TRIGGERS = Triggers(Runs(workspaces.runnables()))


@pytest.fixture(scope="module")
def corner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    """The company of `lakehold demo`, all of it."""
    folder = tmp_path_factory.mktemp("corner") / "demo"
    demo.create(folder)
    platform = Platform(demo.demo_settings(folder))
    with platform.write(company.caller("olga")) as ctx:
        credentials.save(ctx, "report_files", {"password": "geheim"})
        # It refuses what is there, and comes back all the same.
        network_policy.save(ctx, SCHEMA.parse({"destination_hosts": ["*.example.org"], "mail_domains": []}))
        TRIGGERS.set_active(ctx, TRIGGERS.for_resource(ctx, "sales_file")[0].id, active=False)
    yield platform
    platform.close()


def create_empty(platform: Platform, tenant: str, owner: str) -> None:
    platform.access.create_tenant(tenant, "Empty", workspaces.models())
    with platform.access.write(tenant) as session:
        session.store.create("tenant.member", owner.title(), uid=owner, edges={"tenant": tenant})
        session.store.add(Grant(owner, "owner", tenant))


def run(platform: Platform, tenant: str, *words: str, by: str = "olga", typed: str = "") -> tuple[int, str]:
    env = {"LAKEHOLD_DATA": str(platform.settings.data), "LAKEHOLD_DATABASE": platform.settings.database_url}
    done = CliRunner().invoke(app, [*words, "--local", "--as", by, "--tenant", tenant], env=env, input=typed)
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.output


def export(platform: Platform, tenant: str, folder: Path, by: str = "olga") -> dict[str, str]:
    assert run(platform, tenant, "export", str(folder), by=by)[0] == 0
    return {file.relative_to(folder).as_posix(): file.read_text() for file in folder.rglob("*") if file.is_file()}


def edit(folder: Path, name: str, old: str, new: str) -> None:
    text = (folder / name).read_text()
    assert text.count(old) == 1, (name, old)
    (folder / name).write_text(text.replace(old, new))


def test_an_owner_restores_the_whole_demo_company(corner: Platform, tmp_path: Path) -> None:
    there = export(corner, company.TENANT, tmp_path / "there")
    assert "geheim" not in "".join(there.values())
    create_empty(corner, "one", "olga")
    code, text = run(corner, "one", "plan", str(tmp_path / "there"))
    assert code == 1, text
    assert "This cannot be applied" not in text
    assert "WARNING" not in text
    code, text = run(corner, "one", "apply", str(tmp_path / "there"), "--yes")
    assert code == 0, text
    assert "Credentials to enter again:\n  report_files: password\n" in text
    assert export(corner, "one", tmp_path / "back") == there
    code, text = run(corner, "one", "plan", str(tmp_path / "there"))
    assert code == 0, text
    assert "Credentials to enter again:\n  report_files: password\n" in text
    with corner.write(Caller("one", "olga")) as ctx:
        (nightly,) = TRIGGERS.for_resource(ctx, "orders_source")
        berlin = TriggerSchedule("0 4 * * *", "Europe/Berlin")
        assert (nightly.when, nightly.active, nightly.saved_by) == (berlin, True, "erik")
        assert nightly.next_at is not None
        (paused,) = TRIGGERS.for_resource(ctx, "sales_file")
        assert (paused.when.after, paused.active) == (("make_sales_by_day",), False)
        author = resource_metadata.load_author(ctx, "make_sales_by_day")
        assert author is not None
        assert author.caller.member == "erik"
        published = [resource_metadata.load(ctx, uid).settings["published"] for uid in web_shop._CONTENT["data_marts"]]
        assert published == [True] * len(published)
        boris = receivers.find_receiver(ctx, "sales", "boris")
        assert boris is not None
        assert boris.channels[NotificationChannel.FAILED_RUNS] == Subscription(on=False, chosen=True)
        assert receivers.project_channels(ctx, "sales")[NotificationChannel.SUCCEEDED_RUNS]
        assert credentials.load_for_use(ctx, "report_files") == {}
        credentials.save(ctx, "report_files", {"password": "neu"})
    assert "Credentials" not in run(corner, "one", "plan", str(tmp_path / "there"))[1]


def test_files_change_the_network_policy_and_are_held_to_it(corner: Platform, tmp_path: Path) -> None:
    export(corner, company.TENANT, tmp_path)
    edit(tmp_path, "tenant.yaml", '["*.example.org"]', '["hooks.example.com"]')
    hook = {"to": "webhook", "address": f"{HTTPS}hooks.example.com/in"}
    with corner.write(company.caller("tara")) as ctx, pytest.raises(NetworkPolicyError):
        resources.create(ctx, "marts.destination", "Hook", edges={"project": "sales"}, settings=hook)
    code, text = run(corner, company.TENANT, "apply", str(tmp_path), "--yes")
    assert code == 0, text
    with corner.write(company.caller("tara")) as ctx:
        assert network_policy.load(ctx).destination_hosts == ("hooks.example.com",)
    edit(tmp_path, "tenant.yaml", "hooks.example.com", f"{HTTPS}hooks.example.com")
    code, text = run(corner, company.TENANT, "apply", str(tmp_path), "--yes")
    assert (code, "is not a host" in text) == (2, True)
    edit(tmp_path, "tenant.yaml", f"{HTTPS}hooks.example.com", "*.example.org")
    assert run(corner, company.TENANT, "apply", str(tmp_path), "--yes")[0] == 0


def test_files_change_notifications(corner: Platform, tmp_path: Path) -> None:
    before, file = export(corner, company.TENANT, tmp_path), "workspaces/sales-marts.yaml"

    def apply(old: str, new: str, by: str = "olga") -> tuple[int, str]:
        edit(tmp_path, file, old, new)
        done = run(corner, company.TENANT, "apply", str(tmp_path), "--yes", by=by)
        edit(tmp_path, file, new, old)
        return done

    for wrong, code, message in (
        ("members: {nils: {failed_runs: false", 2, "'sales': 'nils' is not in the project."),
        ("members: {boris: {broken: false", 2, "'sales': There is no channel 'broken'."),
        ("people: {boris: {failed_runs: false", 2, "'sales': 'people' is not known in notifications."),
        ("members: {boris: yes, bella: {failed_runs: false", 2, "The channels are a mapping of names"),
    ):
        done, text = apply("members: {boris: {failed_runs: false", wrong)
        assert (done, message in text) == (code, True), text
    code, text = apply("boris: {failed_runs: false", "tim: {failed_runs: true}, boris: {failed_runs: false")
    assert code == 0, text
    with corner.read(company.caller("olga")) as ctx:
        (entry,) = (each.entry for each in ctx.audit.page(AuditFilter(resource="sales"), limit=1))
        found = {uid: receivers.find_receiver(ctx, "sales", uid) for uid in ("bella", "boris", "tim")}
    assert (entry.member, entry.action) == ("olga", "set notifications")
    chosen = [name for name, each in found.items() if each and any(way.chosen for way in each.channels.values())]
    assert chosen == ["boris", "tim"]
    assert run(corner, company.TENANT, "apply", str(tmp_path), "--yes")[0] == 0
    assert export(corner, company.TENANT, tmp_path / "after") == before


def test_the_applier_is_told_what_they_lose(corner: Platform, tmp_path: Path) -> None:
    there = export(corner, company.TENANT, tmp_path / "there")
    create_empty(corner, "two", "max")
    folder = str(tmp_path / "there")
    _, text = run(corner, "two", "plan", folder, by="max")
    assert "WARNING: by applying this, you lose:\n  membership in this tenant\n" in text
    assert "manage_owners" in text.partition("WARNING")[2].splitlines()[2]
    code, text = run(corner, "two", "apply", folder, "--yes", by="max")
    assert (code, "you would lose" in text, "--accept-loss" in text) == (5, True, True)
    code, text = run(corner, "two", "apply", folder, by="max", typed="n\n")
    assert (code, "Is that intended?" in text) == (1, True)
    code, text = run(corner, "two", "apply", folder, "--yes", "--accept-loss", by="max")
    assert code == 0, text
    assert export(corner, "two", tmp_path / "back") == there


def test_an_owner_without_end_always_remains(corner: Platform, tmp_path: Path) -> None:
    export(corner, company.TENANT, tmp_path)
    edit(tmp_path, "tenant.yaml", "owner: olga", "owner: {who: olga, until: 2999-01-01}")
    code, text = run(corner, company.TENANT, "apply", str(tmp_path), "--yes", "--accept-loss")
    assert (code, "is the last Owner" in text) == (5, True)


def test_all_missing_rights_are_named_at_once(corner: Platform, tmp_path: Path) -> None:
    """What exists already is changed with the right of its model, which also an Owner may lack."""
    with corner.access.write(company.TENANT) as session:
        session.store.add(Attribute("serving", "personal", "true"))
    there = export(corner, company.TENANT, tmp_path / "there")
    edit(tmp_path / "there", "workspaces/serving.yaml", "viewer: nils", "viewer: ana")
    edit(tmp_path / "there", "workspaces/sources.yaml", "To the till server.", "New")
    _, text = run(corner, company.TENANT, "plan", str(tmp_path / "there"))
    refusals = text.partition("This cannot be applied:\n")[2]
    assert "Sales cockpit, which you do not see. Can be changed by Bella, Business User." in refusals
    assert "Owner on data connection Till link for member Olga, Owner. Can be given by Dana" in refusals
    code, refused = run(corner, company.TENANT, "apply", str(tmp_path / "there"), "--yes")
    assert (code, "Sales cockpit" in refused, "Till link" in refused) == (4, True, True)
    assert export(corner, company.TENANT, tmp_path / "after") == there


def test_what_files_do_not_name_is_kept(corner: Platform, tmp_path: Path) -> None:
    before = export(corner, company.TENANT, tmp_path / "before")
    (tmp_path / "more.yaml").write_text("members: {nils: {}}\ngroups: {guests: {members: nils}}\n")
    assert run(corner, company.TENANT, "plan", str(tmp_path / "more.yaml"))[0] == 2
    code, text = run(corner, company.TENANT, "apply", str(tmp_path / "more.yaml"), "--keep", "--yes")
    assert code == 0, text
    after = export(corner, company.TENANT, tmp_path / "after")
    assert "  guests: {members: nils}\n" in after["people.yaml"]
    assert {**after, "people.yaml": after["people.yaml"].replace("  guests: {members: nils}\n", "")} == before


def test_a_trigger_has_a_schedule(corner: Platform, tmp_path: Path) -> None:
    with (
        corner.write(company.caller("olga")) as ctx,
        pytest.raises(InvalidInputError, match="is created with its schedule"),
    ):
        resources.create(ctx, "marts.data_mart_trigger", "Shell", edges={"data_mart": "daily_sales"})
    text = "workspaces: {shell: {kind: marts.data_mart_trigger, data_mart: daily_sales}}\n"
    export(corner, company.TENANT, tmp_path)
    (tmp_path / "shell.yaml").write_text(text)
    code, said = run(corner, company.TENANT, "apply", str(tmp_path), "--yes")
    assert (code, "The trigger 'shell' has no schedule." in said) == (2, True)
    (tmp_path / "shell.yaml").write_text(text.replace("daily_sales}", "daily_sales, schedule: {cron: 0 5 * * *}}"))
    code, said = run(corner, company.TENANT, "apply", str(tmp_path), "--yes")
    assert code == 0, said
    with corner.read(company.caller("olga")) as ctx:
        (made,) = TRIGGERS.for_resource(ctx, "daily_sales")
    assert (made.id, made.when.cron, made.saved_by, made.active) == ("shell", "0 5 * * *", "olga", True)


def test_a_schedule_of_a_narrowed_token_comes_back_paused(corner: Platform) -> None:
    token = Caller(
        company.TENANT, "olga", narrowed=TokenPrincipal("olga", frozenset({"see", "edit", "activate"}), None)
    )
    with corner.write(company.caller("olga")) as ctx:
        saved = TRIGGERS.save(ctx, "make_sales_by_day", TriggerSchedule("0 1 * * *"))
        TRIGGERS.save_unchecked(ctx, saved, token)
        schedule = load_metadata(ctx)["make_sales_by_day"].schedules[saved.id]
    assert schedule == {"cron": "0 1 * * *", "starter": "olga", "enabled": False}


def test_who_applies_edges_and_switches_is_their_author(corner: Platform) -> None:
    """Also of what has no metadata yet; what is created has its author as a whole."""
    with corner.write(company.caller("olga")) as ctx:
        writer = TenantWriter(ctx)
        writer.make(Add(Attribute("web_clicks_stream", "enabled", "false")))
        writer.make(Add(Edge("reads", "make_sales_by_day", "tills")))
        writer.make(Remove(Edge("reads", "make_sales_by_day", "tills")))
        assert not writer.refusals
        assert {*resource_metadata.load_authors(ctx, "web_clicks_stream")} >= {"enabled"}
        authors = [
            resource_metadata.load_author(ctx, *part)
            for part in (("web_clicks_stream", "enabled"), ("make_sales_by_day",))
        ]
        assert [each.caller.member for each in authors if each] == ["olga", "olga"]


def test_a_narrowed_token_makes_nobody_else_a_starter(corner: Platform) -> None:
    narrowed = TokenPrincipal("olga", frozenset({"see", "export", "edit", "trigger", "see_runs"}), None)
    caller = Caller(company.TENANT, "olga", narrowed=narrowed)
    entry = EntryMetadata(schedules={"nightly": {"cron": "0 1 * * *", "starter": "erik"}})
    with corner.write(caller) as ctx:
        writer = TenantWriter(ctx)
        writer.save_schedules({"make_sales_by_day": entry})
        assert any("may not let others start runs" in str(each) for each in writer.refusals)


def test_a_narrowed_token_changes_no_notifications(corner: Platform) -> None:
    caller = Caller(company.TENANT, "olga", narrowed=TokenPrincipal("olga", frozenset({"see", "export"}), None))
    with corner.write(caller) as ctx:
        entry, savepoint = load_metadata(ctx)["sales"], ctx.session.transaction.connection.begin_nested()
        writer = TenantWriter(ctx)
        writer.save_metadata({"sales": entry})
        assert not writer.refusals
        writer.save_metadata({"sales": replace(entry, settings={})})
        assert [isinstance(each, ForbiddenError) for each in writer.refusals] == [True]
        savepoint.rollback()
