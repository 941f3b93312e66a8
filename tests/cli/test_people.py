"""member, group, invite, token: on both ways."""

from __future__ import annotations

import httpx

from tests.cli.command_runner import CommandRunner


def test_members(way: CommandRunner) -> None:
    added = way.json("member", "add", "Zoe", "--id", "zoe", "--email", "zoe@example.org")
    assert added["email"] == "zoe@example.org"
    assert [found["id"] for found in way.json("member", "list", "--search", "zo")] == ["zoe"]
    assert "zoe@example.org" in way("member", "show", "zoe").out
    assert way("member", "rename", "zoe", "Zoë").out == "zoe is Zoë now.\n"
    assert way("member", "roles", "zoe", "editor", "data_admin").code == 0
    assert way.json("member", "show", "zoe")["roles"] == ["editor", "data_admin"]
    assert way("member", "roles", "zoe").out == "Zoë: no roles\n"
    assert "/link/" in way("member", "link", "zoe").out
    assert way("member", "add", "Zoe again", "--id", "zoe").code == 5
    assert way("member", "show", "nobody").code == 3
    assert way("member", "add", "Eve", by="bob").code == 4


def test_a_member_is_removed_after_a_question(way: CommandRunner) -> None:
    way.json("member", "add", "Zoe", "--id", "zoe")
    assert way("member", "remove", "zoe", typed="n\n").code == 1
    assert way("member", "show", "zoe").code == 0
    assert way("member", "remove", "zoe", typed="y\n").code == 0
    assert way("member", "show", "zoe").code == 3
    way.json("member", "add", "Yan", "--id", "yan")
    assert way("member", "remove", "yan", "--yes").code == 0
    assert way("member", "remove", "ada", "--to", "ann", "--yes").code == 0


def test_groups(way: CommandRunner) -> None:
    assert way("group", "list").out == "No groups.\n"
    assert way("group", "new", "Readers", "--id", "readers").out == "readers\n"
    assert way("group", "add", "readers", "bob").out == "Readers has 1 member.\n"
    assert way.json("group", "show", "readers")["member_ids"] == ["bob"]
    assert way("group", "roles", "readers", "viewer").out == "Readers: viewer\n"
    assert way("group", "rename", "readers", "People").code == 0
    assert "People" in way("group", "list").out
    assert way("group", "remove", "readers", "bob").out == "People has 0 members.\n"
    assert way("group", "delete", "readers").code == 0
    assert way("group", "show", "readers").code == 3
    assert way("group", "new", "More", by="bob").code == 4


def test_invites(way: CommandRunner) -> None:
    made = way.json("invite", "new", "zoe@example.org", "--role", "viewer@acme")
    assert "/invite/" in made["link"]
    uid = made["invite"]["id"]
    assert "viewer@acme" in way("invite", "list").out
    assert way("invite", "again", uid).code == 0
    assert way("invite", "revoke", uid).code == 0
    assert way("invite", "list").out == "No invites.\n"
    assert way("invite", "new", "zoe@example.org", "--role", "viewer").code == 2
    assert way("invite", "new", "zoe@example.org", "--role", "viewer@acme", by="bob").code == 4


def test_tokens(way: CommandRunner) -> None:
    made = way.json("token", "new", "Nightly", "--days", "3", "--action", "see")
    assert made["secret"].startswith("lh_")
    assert made["token"]["actions"] == ["see"]
    uid = made["token"]["id"]
    assert uid in way("token", "list").out
    assert uid in way("token", "list", "--all").out
    assert way("token", "revoke", uid).code == 0
    assert uid not in {found["id"] for found in way.json("token", "list")}
    assert way("token", "revoke", uid).code == 3
    assert way("token", "new", "For ever", "--days", "0").out.startswith("lh_")
    way.json("member", "add", "Robot", "--id", "robot", "--service")
    robots = way.json("token", "new", "Night", "--member", "robot")
    assert robots["token"]["member"] == "robot"
    if way.address:
        answer = httpx.get(f"{way.address}/api/v1/me", headers={"authorization": f"Bearer {robots['secret']}"})
        assert answer.json()["member"]["id"] == "robot"
