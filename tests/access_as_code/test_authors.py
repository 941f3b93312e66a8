"""Authors of definitions come back with the files: a restore makes nobody answer for what others wrote."""

from __future__ import annotations

import re

import pytest

from lakehold import access_as_code, workspaces
from lakehold.access import Add, Grant, TokenPrincipal
from lakehold.access_as_code.metadata import load_metadata
from lakehold.access_as_code.plan import dump_plan, load_plan
from lakehold.access_as_code.tenant_state import EntryMetadata
from lakehold.access_as_code.tenant_writer import TenantWriter, apply_as_caller, plan_as_caller
from lakehold.catalog import resource_edit, resource_metadata, resources
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.directory import member_removal
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.kit.errors import LakeholdError
from tests.platform import ADA, ANN, BOB
from tests.runs.test_triggers import query

NARROWED = TokenPrincipal("bob", frozenset({"see", "edit", "read", "write", "create_table"}), None)
OTHER: dict[str, object] = {"sql": "SELECT 2 AS one", "table": "daily"}


@pytest.fixture
def platform(platform: Platform) -> Platform:
    """The query `daily` has Bob as its author, and somebody else of each kind for three of its parts; `gone` was last
    changed by a member who has left, and `own` by Ada.
    """
    with platform.access.write(ADA.tenant) as session:
        session.store.create("tenant.member", "Carl", uid="carl", edges={"tenant": ADA.tenant})
    for name in ("daily", "gone", "own"):
        query(platform, name)
    with platform.write(ADA) as ctx:
        for member in ("bob", "carl"):
            ctx.make(Add(Grant(member, "member", "lh")))
            ctx.make(Add(Grant(member, "editor", "bronze")))
        resources.create(ctx, "lakehouse.integration", "BI", uid="bi", edges={"lakehouse": "lh", "reads": ["orders"]})
    carl = Caller(ADA.tenant, "carl")
    edits: list[tuple[Caller, str, dict[str, object]]] = [
        (BOB, "daily", OTHER),
        (Caller(ADA.tenant, "bob", narrowed=NARROWED), "daily", {**OTHER, "mode": "append"}),
        (carl, "daily", {**OTHER, "mode": "append", "cursor": "one"}),
        (carl, "gone", {**OTHER, "table": "gone"}),
    ]
    for caller, uid, settings in edits:
        with platform.write(caller) as ctx:
            resource_edit.apply_edit(ctx, uid, ResourceEdit(settings=settings))
    with platform.write(BOB) as ctx:
        resource_edit.take_over(ctx, "bi")
    with platform.write(ADA) as ctx:
        member_removal.remove(ctx, "carl")
    return platform


def export(platform: Platform, by: Caller) -> dict[str, str]:
    with platform.read(by) as ctx:
        return access_as_code.export_tenant(ctx.session, load_metadata(ctx))


def restore(platform: Platform, files: dict[str, str]) -> Caller:
    """Apply files to an empty tenant as its Owner Ann."""
    platform.access.create_tenant("two", "Empty", workspaces.models())
    with platform.access.write("two") as session:
        session.store.create("tenant.member", "Ann", uid="ann", edges={"tenant": "two"})
        session.store.add(Grant("ann", "owner", "two"))
    declared, ann = access_as_code.parse_files(files), Caller("two", "ann")
    with platform.write(ann) as ctx:
        kept = load_plan(dump_plan(plan_as_caller(ctx, declared)))
        apply_as_caller(ctx, plan_as_caller(ctx, declared, kept=kept), declared)
    return ann


def authors(platform: Platform, by: Caller, uid: str) -> dict[str, object]:
    with platform.read(by) as ctx:
        found = resource_metadata.load_authors(ctx, uid)
        return {part: each.caller.principal for part, each in found.items()}


def test_they_come_back_with_the_parts_that_they_wrote(platform: Platform) -> None:
    files = export(platform, ADA)
    lake = files["workspaces/lake.yaml"]
    assert "authors: bob, " in lake
    assert "definition: carl, " in lake
    assert "mode: {actions: [create_table, edit, read, see, write], member: bob}" in lake
    ann = restore(platform, files)
    assert export(platform, ann) == files
    daily = authors(platform, ann, "daily")
    assert (daily[""], daily["mode"], daily["cursor"], daily["keys"]) == ("bob", NARROWED, "carl", "ada")
    assert [authors(platform, ann, uid) for uid in ("gone", "own", "bi")] == [
        {"": "carl", **dict.fromkeys(("mode", "keys", "evolution", "partitioned_by", "cursor"), "ada")},
        {"": "ada"},
        {"": "bob"},
    ]


def test_who_applies_files_that_do_not_say_it_is_the_author(platform: Platform) -> None:
    files = export(platform, ADA)
    lake = files["workspaces/lake.yaml"].replace("authors: bob, ", "")
    files["workspaces/lake.yaml"] = re.sub(r"\n +authors: .*", "", lake)
    ann = restore(platform, files)
    assert [authors(platform, ann, uid) for uid in ("daily", "gone", "bi")] == [{"": "ann"}] * 3


def test_files_change_no_author_of_what_exists(platform: Platform) -> None:
    files = export(platform, ADA)
    files["workspaces/lake.yaml"] = files["workspaces/lake.yaml"].replace("authors: bob,", "authors: ann,")
    with platform.write(ANN) as ctx:
        assert plan_as_caller(ctx, access_as_code.parse_files(files)).is_empty


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("{joins: bob}", "has no author of its own"),
        ("{definition: {actions: see}}", "`member:` is missing"),
        ("{definition: {member: bob, roles: see}}", "is not known in an author"),
        ("[bob, ann]", "single word"),
        ("", "is empty"),
    ],
)
def test_what_is_no_author_is_refused_where_it_is_written(platform: Platform, written: str, message: str) -> None:
    files = export(platform, ADA)
    files["workspaces/lake.yaml"] = files["workspaces/lake.yaml"].replace("authors: bob,", f"authors: {written},")
    with pytest.raises(LakeholdError, match=message):
        access_as_code.parse_files(files)
    with pytest.raises(LakeholdError, match="has no role, edge or attribute 'authors'"):
        access_as_code.parse_files({"a.yaml": "tenant: {name: A}\nmembers: {bob: {authors: bob}}\n"})


def test_a_table_is_no_author_and_a_narrowed_token_makes_nobody_one(platform: Platform) -> None:
    may = frozenset({"see", "create_query", "edit", "export"})
    narrowed = Caller(ADA.tenant, "ada", narrowed=TokenPrincipal("ada", may, None))
    for caller, author, said in ((ADA, "orders", "'orders' is no member"), (narrowed, "bob", "nobody else an author")):
        with platform.write(caller) as ctx:
            writer = TenantWriter(ctx)
            uid = writer.create("lakehouse.query", author, edges={"lakehouse": "lh", "into": "bronze"})
            writer.save_metadata({uid: EntryMetadata(authors={"definition": author})})
            assert any(said in str(each) for each in writer.refusals), writer.refusals
