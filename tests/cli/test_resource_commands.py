"""workspace, resource, grant, revoke, grants, request: on both ways."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command_runner import CommandRunner


def test_workspaces(way: CommandRunner) -> None:
    assert way("workspace", "new", "marts", "Sales", "--id", "sales").out == "sales\n"
    assert [found["id"] for found in way.json("workspace", "list", "--model", "marts")] == ["sales"]
    assert "Sales" in way("workspace", "list").out
    role = ("--role", "technical_user")
    assert way("workspace", "set", "sales", "bob", *role, "--value", "scope=selected_contexts").code == 0
    output = way("workspace", "members", "sales").out
    assert "Technical User" in output
    assert "selected_contexts" in output
    assert way("workspace", "remove", "sales", "bob").code == 0
    assert "bob" not in way("workspace", "members", "sales").out
    assert way("workspace", "remove", "sales", "bob").code == 3
    assert way("workspace", "new", "moon", "Moon").code == 2
    assert way("workspace", "new", "marts", "Mine", by="bob").code == 4
    assert way("workspace", "set", "sales", "bob", "--value", "scope").code == 2


def test_resources(way: CommandRunner) -> None:
    made = ("resource", "new", "lakehouse.table", "Customers", "--id", "customers", "--edge", "layer=bronze")
    assert way(*made).out == "customers\n"
    assert way(*made).code == 5
    found = way.json("resource", "list", "--kind", "lakehouse.table")
    assert [each["id"] for each in found] == ["customers", "orders"]
    assert [each["id"] for each in way.json("resource", "list", "--search", "custom")] == ["customers"]
    assert way("resource", "rename", "customers", "Clients").out == "customers is Clients now.\n"
    assert "Clients" in way("resource", "show", "customers").out
    assert way("resource", "delete", "customers").code == 0
    assert way("resource", "show", "customers").code == 3
    assert way("resource", "restore", "customers").code == 3
    assert way("resource", "show", "orders", by="bob").code == 3
    assert way("resource", "new", "lakehouse.table", "X", "--edge", "bronze").code == 2


def test_grants(way: CommandRunner) -> None:
    assert way("check", "bob", "read", "orders").code == 1
    preview = way("grant", "bob", "viewer", "orders", "--preview")
    assert "gain" in preview.out
    assert way("check", "bob", "read", "orders").code == 1
    assert way("grant", "bob", "viewer", "orders").out == "bob is viewer on orders.\n"
    assert way("check", "bob", "read", "orders").code == 0
    assert [held["role"] for held in way.json("grants", "--on", "orders")] == ["viewer"]
    assert [held["resource"]["id"] for held in way.json("grants", "--of", "bob")] == ["orders"]
    assert "lose" in way("revoke", "bob", "viewer", "orders", "--preview").out
    assert way("revoke", "bob", "viewer", "orders").code == 0
    assert way("check", "bob", "read", "orders").code == 1
    assert way("revoke", "bob", "viewer", "orders").code == 3
    assert way("grant", "bob", "king", "orders").code == 2
    assert way("grants").code == 2


def test_a_grant_for_a_time(way: CommandRunner) -> None:
    moments = ("--since", "2099-01-01T00:00:00Z", "--until", "2100-01-01T00:00:00Z")
    assert way("grant", "bob", "viewer", "orders", *moments).code == 0
    assert way("check", "bob", "read", "orders").code == 1
    assert way("check", "bob", "read", "orders", "--at", "2099-06-01T00:00:00Z").code == 0
    assert way("check", "bob", "read", "orders", "--at", "2100-06-01T00:00:00Z").code == 1
    assert way("grant", "bob", "viewer", "orders", "--until", "2001-01-01T00:00:00Z").code in {2, 5}


def test_requests(way: CommandRunner) -> None:
    assert way("grant", "bob", "viewer", "orders").code == 0
    first = way("request", "new", "edit", "orders", "--reason", "To tidy up", by="bob").out.strip()
    assert "To tidy up" in way("request", "list", by="bob").out
    assert [found["id"] for found in way.json("request", "list", "--waiting")] == [first]
    assert way("request", "refuse", first, "Not now").out == "refused\n"
    second = way("request", "new", "edit", "orders", by="bob").out.strip()
    assert way("request", "approve", second, "--until", "2099-01-01T00:00:00Z").out == "approved\n"
    assert way("check", "bob", "edit", "orders").code == 0
    third = way("request", "new", "edit", "bronze", by="bob").out.strip()
    assert way("request", "withdraw", third, by="bob").out == "withdrawn\n"
    assert way("request", "approve", "nothing").code == 3


def settings_of(way: CommandRunner, uid: str) -> object:
    return way.json("resource", "show", uid)["settings"]


def test_settings_of_a_new_resource(way: CommandRunner, tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text('{"keys": ["id"], "track": ["total"]}', encoding="utf-8")
    made = ("resource", "new", "lakehouse.history", "--edge", "lakehouse=lh")
    assert way(*made, "A", "--id", "a", "--settings", str(file)).out == "a\n"
    assert way(*made, "B", "--id", "b", "--settings", "-", typed='{"keys": ["day"]}').out == "b\n"
    more = ("--set", "closes_missing=false", "--set", "at=changed", "--set", "track=null")
    assert way(*made, "C", "--id", "c", "--settings", '{"keys": ["id"], "track": ["x"]}', *more).out == "c\n"
    assert settings_of(way, "a") == {"keys": ["id"], "track": ["total"]}
    assert settings_of(way, "b") == {"keys": ["day"]}
    assert settings_of(way, "c") == {"keys": ["id"], "closes_missing": False, "at": "changed"}


def test_settings_are_edited(way: CommandRunner) -> None:
    made = ("resource", "new", "lakehouse.history", "States", "--id", "states", "--edge", "lakehouse=lh")
    assert way(*made, "--set", 'keys=["id"]', "--set", "at=changed").code == 0
    assert way("resource", "edit", "states", "--set", 'at="2031"', "--name", "All states").code == 0
    assert settings_of(way, "states") == {"keys": ["id"], "at": "2031"}
    assert way.json("resource", "show", "states")["name"] == "All states"
    assert way("resource", "edit", "states", "--set", "at=null", "--description", "Why").code == 0
    assert settings_of(way, "states") == {"keys": ["id"]}
    assert way("resource", "edit", "states", "--settings", '{"keys": ["a"]}', "--set", 'ignore=["b"]').code == 0
    assert settings_of(way, "states") == {"keys": ["a"], "ignore": ["b"]}
    assert way.json("resource", "show", "states")["description"] == "Why"
    assert way("resource", "edit", "states", "--set", "at=x", by="bob").code == 3


@pytest.mark.parametrize(
    ("option", "value", "field"),
    [
        ("--set", "keys=5", "keys"),
        ("--set", "keys=[5", "keys"),
        ("--set", "closes_missing=perhaps", "closes_missing"),
        ("--set", "colour=red", "colour"),
        ("--settings", '{"keys": 5}', "keys"),
        ("--settings", "{", "--settings"),
        ("--settings", "nowhere.json", "--settings"),
    ],
)
def test_a_wrong_setting_is_named(way: CommandRunner, option: str, value: str, field: str) -> None:
    made = ("resource", "new", "lakehouse.history", "States", "--id", "states", "--edge", "lakehouse=lh")
    refused = way(*made, option, value)
    assert (refused.code, f": {field}: " in refused.err) == (2, True), refused
    assert way(*made, "--set", 'keys=["id"]').code == 0
    refused = way("resource", "edit", "states", option, value, "--json")
    assert (refused.code, json.loads(refused.err)["field"]) == (2, field)
    assert settings_of(way, "states") == {"keys": ["id"]}
