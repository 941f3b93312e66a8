"""check, explain, who, can, audit: the same answers and exit codes on both ways."""

from __future__ import annotations

import json
from pathlib import Path

import sqlalchemy as sa

from lakehold.access import Add, Grant
from lakehold.directory.platform import Platform
from lakehold.ledger.audit import audit_table
from tests.cli.command_runner import CommandRunner
from tests.platform import ADA, BOB


def give(platform: Platform, *grants: Grant) -> None:
    with platform.write(ADA) as ctx:
        for grant in grants:
            ctx.make(Add(grant))


def test_check_says_yes_or_no_and_so_does_its_exit_code(way: CommandRunner) -> None:
    give(way.platform, Grant("bob", "viewer", "orders"))
    yes, no = way("check", "bob", "read", "orders"), way("check", "bob", "edit", "orders")
    assert (yes.code, yes.out) == (0, "yes\n")
    assert (no.code, no.out) == (1, "no\n")
    assert way("check", "me", "edit", "orders").code == 0
    assert way("check", "me", "edit", "orders", "--json").json == {"allowed": True}


def test_what_is_not_there_not_allowed_or_not_a_word(way: CommandRunner) -> None:
    assert way("check", "ada", "edit", "nothing").code == 3
    assert way("check", "nobody", "edit", "orders").code == 3
    assert way("check", "ada", "edit", "orders", by="bob").code == 4
    assert way("check", "ada", "fly", "orders").code == 2
    assert way("check", "ada").code == 2
    refused = way("check", "ada", "edit", "orders", "--json", by="bob")
    assert json.loads(refused.err)["code"] == "forbidden"
    assert refused.out == ""


def test_check_at_another_time(way: CommandRunner) -> None:
    assert way("check", "ann", "see", "acme", "--at", "2001-01-01T00:00:00Z").code == 3
    assert way("check", "ann", "see", "acme", "--at", "2101-01-01T00:00:00Z").code == 0
    assert way("check", "ann", "see", "acme", "--at", "noon").code == 2


def test_explain_names_what_is_missing_and_who_can_give_it(way: CommandRunner) -> None:
    give(way.platform, Grant("bob", "viewer", "orders"))
    said = way("explain", "bob", "edit", "orders")
    assert said.code == 0
    assert "bob may not edit orders" in said.out
    assert "Editor on table Orders" in said.out
    assert "Ada" in said.out
    assert "bob may read orders" in way("explain", "bob", "read", "orders").out
    assert not way.json("explain", "bob", "edit", "orders")["allowed"]


def test_who(way: CommandRunner) -> None:
    give(way.platform, Grant("bob", "viewer", "orders"))
    assert [found["id"] for found in way.json("who", "read", "orders")] == ["ada", "ann", "bob"]
    assert "bob" in way("who", "read", "orders").out
    assert way("who", "read", "orders", by="bob").code == 4


def test_can(way: CommandRunner) -> None:
    give(way.platform, Grant("bob", "viewer", "orders"))
    assert way("can", "bob", "--resource", "orders").out == "see, read, see_runs\n"
    assert [found["id"] for found in way.json("can", "me", "--kind", "lakehouse.table", by="bob")] == ["orders"]
    assert way("can", "bob", "--kind", "lakehouse.table", "--action", "edit").out == "Nothing.\n"
    assert way("can", "bob").code == 2


def test_the_audit_log_is_listed_exported_and_verified(way: CommandRunner, tmp_path: Path) -> None:
    give(way.platform, Grant("bob", "viewer", "orders"))
    (line,) = way.json("audit", "list", "--action", "grant")
    assert (line["member"], line["resource"]) == ("ada", "orders")
    assert "grant" in way("audit", "list").out
    file = tmp_path / "audit.jsonl"
    assert way("audit", "export", str(file), "--action", "grant").code == 0
    assert [json.loads(text)["n"] for text in file.read_text().splitlines()] == [line["n"]]
    assert json.loads(way("audit", "export", "--action", "grant").out)["n"] == line["n"]
    assert way("audit", "list", by="bob").code == 4
    assert way("audit", "verify").code == 0
    with way.platform.database.write() as transaction:
        transaction.connection.execute(sa.update(audit_table).values(action="nothing at all"))
    broken = way("audit", "verify")
    assert broken.code == 1
    assert "broken" in broken.out


def test_reads_are_listed_and_heads_are_kept_elsewhere(way: CommandRunner, tmp_path: Path) -> None:
    way.platform.record_read(BOB, "preview", "orders")
    way.platform.reads.flush()
    (line,) = way.json("audit", "list", "--reads")
    assert (line["member"], line["action"], line["resource"]) == ("bob", "preview", "orders")
    file = tmp_path / "head.json"
    assert way("audit", "head", str(file)).code == 0
    kept = {each["log"]: each["entries"] for each in json.loads(file.read_text())["items"]}
    assert kept["reads"] == 1
    assert way("audit", "verify", "--kept", str(file)).code == 0
    with way.platform.database.write() as transaction:
        for name in ("audit_read", "audit_read_seal"):
            transaction.connection.execute(sa.text(f"DELETE FROM {name}"))
    broken = way("audit", "verify", "--kept", str(file))
    assert broken.code == 1
    assert "reads: broken" in broken.out


def test_what_is_done_here_is_written_down_as_done_from_here(way: CommandRunner) -> None:
    assert way("audit", "list", by="bob").code == 4
    (denied,) = way.json("audit", "list", "--outcome", "denied")
    assert denied["address"] == ("127.0.0.1" if way.address else "local")
