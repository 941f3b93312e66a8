"""The tenant's network policy: who sets it, what is refused when it is saved, and what is listed as refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from lakehold.access import TokenPrincipal
from lakehold.catalog import credentials, network_policy, resource_edit, resource_metadata, resources
from lakehold.catalog.network_policy_impact import find_refused
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.catalog.resource_metadata import VersionConflictError
from lakehold.demo import company
from lakehold.directory.errors import DeniedError
from lakehold.kit.errors import ForbiddenError, InvalidInputError
from lakehold.kit.network_policy import ALLOW_ALL, SCHEMA, NetworkPolicyError
from tests.demo_company import DemoPlatform, as_member

HTTPS = "https:" + "//"
HOOK = {"to": "webhook", "address": f"{HTTPS}hooks.example.org/in"}
MAIL = {"to": "mail", "receivers": ["ana@example.org"], "subject": "x"}
POSTGRES = "jdbc:postgresql://db.example.org:5432/x"
ONLY_US = {"destination_hosts": ["*.example.org"], "mail_domains": ["example.org"], "source_hosts": ["*.example.org"]}


def set_policy(corner: DemoPlatform, policy: Mapping[str, object], by: str = "adam") -> None:
    with corner.write(as_member(by)) as ctx:
        network_policy.save(ctx, SCHEMA.parse(policy))


def create(corner: DemoPlatform, kind: str, settings: Mapping[str, object], name: str = "New", by: str = "tara") -> str:
    with corner.write(as_member(by)) as ctx:
        edges = {"lakehouse": "lake_house", "into": "raw"} if kind.startswith("lakehouse") else {"project": "sales"}
        return resources.create(ctx, kind, name, edges=edges, settings=settings)


def test_without_a_policy_everything_may_be_reached(corner: DemoPlatform) -> None:
    with corner.read(as_member("adam")) as ctx:
        assert network_policy.get(ctx) == ALLOW_ALL
        assert find_refused(ctx, ALLOW_ALL) == []
    assert create(corner, "marts.destination", {**HOOK, "address": f"{HTTPS}anywhere.attacker.example/"})


@pytest.mark.parametrize(
    ("kind", "settings", "field"),
    [
        ("marts.destination", {**HOOK, "address": f"{HTTPS}hooks.attacker.example/in"}, "address"),
        ("marts.destination", {**HOOK, "address": f"{HTTPS}evil-example.org/in"}, "address"),
        ("marts.destination", {**HOOK, "address": f"{HTTPS}example.org/in"}, "address"),
        ("marts.destination", {**HOOK, "address": f"{HTTPS}a.example.org@attacker.example/"}, "address"),
        ("marts.destination", {**HOOK, "address": f"{HTTPS}a.example.org\n.attacker.example/"}, "address"),
        ("marts.destination", {**HOOK, "address": "https://{{ host }}.example.org/"}, "address"),
        ("marts.destination", {**HOOK, "address": "not a url"}, "address"),
        ("marts.destination", {**MAIL, "receivers": ["ana@example.org", "bob@attacker.example"]}, "receivers.1"),
        ("marts.destination", {**MAIL, "receivers": ["bob@attacker.example, ana@example.org"]}, "receivers.0"),
        ("marts.destination", {**MAIL, "receivers": ["Ana <ana@example.org>"]}, "receivers.0"),
        ("marts.destination", {**MAIL, "receivers": ["ana@example.org <bob@attacker.example>"]}, "receivers.0"),
        ("marts.destination", {**MAIL, "receivers": ['"a@attacker.example"@example.org']}, "receivers.0"),
        ("marts.destination", {**MAIL, "receivers": ["a%attacker.example@example.org"]}, "receivers.0"),
        ("marts.destination", {**MAIL, "receivers": ["attacker.example!a@example.org"]}, "receivers.0"),
        (
            "marts.destination",
            {**MAIL, "receivers": ["=?utf-8?q?a=40attacker.example=2C?=@example.org"]},
            "receivers.0",
        ),
        ("marts.destination", {**MAIL, "receivers": ["ana@example.org\nBcc: bob@attacker.example"]}, "receivers.0"),
        ("marts.destination", {**MAIL, "receivers": ["ana@mail.example.org"]}, "receivers.0"),
        ("marts.destination", {**MAIL, "receivers": ["ana@{domain}"]}, "receivers.0"),
        ("marts.destination", {"to": "database", "address": POSTGRES.replace("org", "com"), "table": "t"}, "address"),
        (
            "marts.destination",
            {"to": "database", "address": POSTGRES.replace(":5432", ",evil:1"), "table": "t"},
            "address",
        ),
        ("marts.storage", {"kind": "database", "address": POSTGRES.replace("org", "com")}, "address"),
        ("lakehouse.source", {"connector": "database", "address": POSTGRES.replace("org", "com")}, "address"),
        (
            "lakehouse.source",
            {"connector": "api", "address": f"{HTTPS}1.1", "endpoints": [{"name": "a", "path": "a"}]},
            "address",
        ),
    ],
)
def test_what_leads_elsewhere_is_refused_at_its_field(
    corner: DemoPlatform, kind: str, settings: Mapping[str, object], field: str
) -> None:
    set_policy(corner, ONLY_US)
    with pytest.raises(NetworkPolicyError) as refused:
        create(corner, kind, settings, by="olga")
    assert refused.value.field == field
    assert "attacker" not in str(refused.value)


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("marts.destination", HOOK),
        ("marts.destination", {**HOOK, "address": f"{HTTPS}A.B.EXAMPLE.org.:8443/in"}),
        ("marts.destination", {**MAIL, "receivers": ["ana@Example.ORG", "ana+news@example.org"]}),
        ("marts.destination", {"to": "database", "address": POSTGRES, "table": "t"}),
        ("marts.destination", {"to": "live"}),
        ("marts.storage", {"kind": "database", "address": POSTGRES}),
        ("lakehouse.source", {"connector": "database", "address": POSTGRES}),
    ],
)
def test_what_is_listed_is_saved(corner: DemoPlatform, kind: str, settings: Mapping[str, object]) -> None:
    set_policy(corner, ONLY_US)
    assert create(corner, kind, settings, by="olga")


def test_hosts_that_are_read_from_have_a_list_of_their_own(corner: DemoPlatform) -> None:
    set_policy(corner, {"destination_hosts": []})
    assert create(corner, "lakehouse.source", {"connector": "database", "address": POSTGRES}, by="olga")
    # Copies of data marts are written into a storage.
    with pytest.raises(NetworkPolicyError):
        create(corner, "marts.storage", {"kind": "database", "address": POSTGRES}, by="olga")
    set_policy(corner, {"source_hosts": []})
    assert create(corner, "marts.destination", HOOK)
    with pytest.raises(NetworkPolicyError):
        create(corner, "marts.storage", {"kind": "database", "address": POSTGRES}, by="olga")


def test_an_edit_and_a_webhook_for_failures_are_checked_too(corner: DemoPlatform) -> None:
    set_policy(corner, ONLY_US)
    uid = create(corner, "marts.destination", HOOK)
    for target, settings, field in (
        (uid, {**HOOK, "address": f"{HTTPS}attacker.example/"}, "address"),
        ("sales", {"failure_webhook": f"{HTTPS}attacker.example/"}, "failure_webhook"),
        ("daily_sales", {"by": "sql", "sql": "SELECT 1", "failure_webhook": f"{HTTPS}10.1/"}, "failure_webhook"),
    ):
        with corner.write(as_member("olga")) as ctx, pytest.raises(NetworkPolicyError) as refused:
            resource_edit.apply_edit(ctx, target, ResourceEdit(settings=settings))
        assert refused.value.field == field
    with corner.write(as_member("olga")) as ctx:
        resource_edit.apply_edit(ctx, "sales", ResourceEdit(settings={"failure_webhook": f"{HTTPS}a.example.org/"}))


def test_an_address_that_is_a_secret_is_checked_when_it_is_set(corner: DemoPlatform) -> None:
    uid = create(corner, "marts.destination", {"to": "chat"})
    old = create(corner, "marts.destination", {"to": "chat"}, "Old chat")
    with corner.write(as_member("tara")) as ctx:
        credentials.save(ctx, old, {"address": f"{HTTPS}chat.attacker.example/t0ken"})
    set_policy(corner, ONLY_US)
    with corner.write(as_member("tara")) as ctx:
        with pytest.raises(NetworkPolicyError) as refused:
            credentials.save(ctx, uid, {"address": f"{HTTPS}chat.attacker.example/t0ken"})
        assert refused.value.field == "address"
        credentials.save(ctx, uid, {"address": f"{HTTPS}chat.example.org/t0ken"})
        # What leads nowhere is no concern of the policy, and what is there can be deleted.
        credentials.save(ctx, old, {"secret": "x"})
        (problem,) = resources.get(ctx, old).settings_problems
        assert isinstance(problem, NetworkPolicyError)
        assert not resources.get(ctx, uid).settings_problems
        credentials.save(ctx, old, {"address": None})
        assert not resources.get(ctx, old).settings_problems


def test_what_a_new_policy_refuses_stays_readable_and_is_listed_with_what_is_wrong(corner: DemoPlatform) -> None:
    hook = create(corner, "marts.destination", {**HOOK, "address": f"{HTTPS}Hooks.Attacker.example/in"}, "Hook")
    two = ["a@attacker.example", "b@attacker.example", "c@example.org"]
    mail = create(corner, "marts.destination", {**MAIL, "receivers": two}, "Mail")
    chat = create(corner, "marts.destination", {"to": "chat"}, "Channel")
    with corner.write(as_member("tara")) as ctx:
        credentials.save(ctx, chat, {"address": f"{HTTPS}chat.attacker.example/t0ken"})
        resource_edit.apply_edit(
            ctx, "daily_sales", ResourceEdit(settings={"failure_webhook": f"{HTTPS}x.attacker.example/"})
        )
    policy = SCHEMA.parse(ONLY_US)
    with corner.read(as_member("adam")) as ctx:
        found = find_refused(ctx, policy)
    assert [(each.resource.uid, each.list, each.field, each.host) for each in found] == [
        (chat, "destination_hosts", "address", "chat.attacker.example"),
        ("daily_sales", "destination_hosts", "failure_webhook", "x.attacker.example"),
        (hook, "destination_hosts", "address", "hooks.attacker.example"),
        (mail, "mail_domains", "receivers", "attacker.example"),
    ]
    assert found[0].workspace is not None
    assert found[0].workspace.uid == "sales"
    set_policy(corner, ONLY_US)
    with corner.write(as_member("tara")) as ctx:
        stored = resources.get(ctx, hook)
        assert stored.settings is not None
        assert stored.settings["address"] == f"{HTTPS}Hooks.Attacker.example/in"
        assert ["network policy" in each.message for each in stored.settings_problems] == [True]
        listed = {each.uid: each.settings_problems for each in resources.find(ctx, among=["marts.destination"]).items}
        assert [len(listed[each]) for each in (hook, mail, chat)] == [1, 2, 1]
        # It can be renamed, and is refused as it is when its settings are saved.
        resource_edit.apply_edit(ctx, hook, ResourceEdit(name="Other hook"))
        with pytest.raises(NetworkPolicyError):
            resource_edit.apply_edit(ctx, hook, ResourceEdit(settings={**stored.settings, "batch": 7}))


def test_owners_and_admins_set_it_and_nobody_else_sees_it(corner: DemoPlatform) -> None:
    for member in ("tara", "nils", "mona"):
        with pytest.raises(DeniedError, match=r"[Ss]ettings"), corner.write(as_member(member)) as ctx:
            network_policy.save(ctx, SCHEMA.parse(ONLY_US))
        with pytest.raises(DeniedError), corner.read(as_member(member)) as ctx:
            find_refused(ctx, SCHEMA.parse(ONLY_US))
    narrowed = replace(as_member("olga"), narrowed=TokenPrincipal("olga", actions=frozenset({"see", "see_settings"})))
    with corner.read(narrowed) as ctx:
        assert network_policy.get(ctx) == ALLOW_ALL
    with pytest.raises(ForbiddenError, match="narrowed token"), corner.write(narrowed) as ctx:
        network_policy.save(ctx, SCHEMA.parse(ONLY_US))
    viewing = replace(as_member("adam"), impersonator="olga")
    with pytest.raises(ForbiddenError, match="only reads"), corner.write(viewing) as ctx:
        network_policy.save(ctx, SCHEMA.parse(ONLY_US))
    set_policy(corner, ONLY_US, by="olga")
    set_policy(corner, {}, by="adam")
    with corner.read(as_member("adam")) as ctx:
        assert network_policy.get(ctx) == ALLOW_ALL
        assert resource_metadata.load(ctx, company.TENANT).settings == {}


def test_a_change_is_audited_with_what_was_before(corner: DemoPlatform) -> None:
    set_policy(corner, {"mail_domains": ["a.example"]})
    set_policy(corner, {"mail_domains": ["a.example"]})
    set_policy(corner, {"mail_domains": ["b.example"], "source_hosts": []}, by="olga")
    entries = [each.entry for each in corner.log() if each.entry.action == "set network policy"]
    assert [(each.member, each.resource, each.before, each.after) for each in entries] == [
        ("olga", company.TENANT, {"mail_domains": ["a.example"]}, {"mail_domains": ["b.example"], "source_hosts": []}),
        ("adam", company.TENANT, {}, {"mail_domains": ["a.example"]}),
    ]


def test_of_two_who_save_at_once_the_second_is_told(corner: DemoPlatform) -> None:
    with corner.read(as_member("adam")) as ctx:
        version = network_policy.version(ctx)
    set_policy(corner, ONLY_US, by="olga")
    with pytest.raises(VersionConflictError), corner.write(as_member("adam")) as ctx:
        network_policy.save(ctx, ALLOW_ALL, expect_version=version)


def test_files_set_it_and_no_other_setting_of_the_tenant(corner: DemoPlatform) -> None:
    with corner.write(as_member("olga")) as ctx:
        network_policy.save_tenant_settings(ctx, {"network_policy": ONLY_US})
        assert network_policy.get(ctx) == SCHEMA.parse(ONLY_US)
        for wrong, field in (
            ({"netwrk_policy": ONLY_US}, "netwrk_policy"),
            ({"network_policy": ["x"]}, ""),
            ({"network_policy": {"mail_domains": ["*"]}}, "mail_domains.0"),
        ):
            with pytest.raises(InvalidInputError) as refused:
                network_policy.save_tenant_settings(ctx, wrong)
            assert refused.value.field == field
        network_policy.save_tenant_settings(ctx, {})
        assert network_policy.get(ctx) == ALLOW_ALL
