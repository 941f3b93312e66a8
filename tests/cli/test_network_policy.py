"""network-policy: on both ways."""

from __future__ import annotations

from tests.cli.command_runner import CommandRunner

HTTPS = "https:" + "//"


def test_a_policy_is_set_list_by_list(way: CommandRunner) -> None:
    assert way("network-policy", "show").out.splitlines() == [
        "data is sent to    all",
        "mails are sent to  all",
        "read from          all",
    ]
    assert way("network-policy", "set", "--to", "*.Example.org", "--to", "10.2.0.0/16", "--mail", "none").code == 0
    assert way("network-policy", "set", "--from", "api.example.org").code == 0
    found = way.json("network-policy", "show")
    assert found == {
        "destination_hosts": ["*.example.org", "10.2.0.0/16"],
        "mail_domains": [],
        "source_hosts": ["api.example.org"],
        "refused": [],
    }
    wrong = way("network-policy", "set", "--to", f"{HTTPS}example.org")
    assert wrong.code == 2
    assert "is not a host" in wrong.err
    assert way("network-policy", "set", "--to", "all", "--mail", "all", "--from", "all", "--yes").code == 0
    assert way("network-policy", "set", "--to", "none", by="bob").code == 4
    assert way("network-policy", "show", by="bob").code == 4
