"""workspace, resource, grant, revoke, grants, request: on both ways."""

from __future__ import annotations

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
