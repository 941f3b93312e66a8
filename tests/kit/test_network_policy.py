"""The lists of a network policy: which hosts and mail domains they allow, however these are written."""

import pytest

from lakehold.kit.errors import InvalidInputError
from lakehold.kit.network_policy import (
    ALLOW_ALL,
    MAX_ENTRIES,
    SCHEMA,
    HostList,
    NetworkPolicyError,
    NetworkTarget,
    PolicyList,
    normalize_host,
    target_of_url,
)
from lakehold.kit.settings_schema import InvalidSettingError

HTTPS = "https:" + "//"
HTTP = "http:" + "//"
D = PolicyList.DESTINATIONS


@pytest.mark.parametrize(
    ("entry", "host", "port", "allowed"),
    [
        # Names are compared as they are resolved, and exactly.
        ("example.org", "example.org", 443, True),
        ("example.org", "EXAMPLE.org.", 443, True),
        ("Example.Org.", "example.org", 443, True),
        ("example.org", "www.example.org", 443, False),
        ("example.org", "example.org.attacker.example", 443, False),
        ("example.org", "evil-example.org", 443, False),
        ("example.org", "example.org..", 443, False),
        ("example.org", "", 443, False),
        ("localhost", "localhost", 80, True),
        # A suffix is for what is below it.
        ("*.example.org", "a.example.org", 443, True),
        ("*.example.org", "a.b.EXAMPLE.org.", 443, True),
        ("*.example.org", "example.org", 443, False),
        ("*.example.org", "evil-example.org", 443, False),
        ("*.example.org", ".example.org", 443, False),
        ("*.example.org", "a.example.org.attacker.example", 443, False),
        # International names.
        ("bücher.example", "xn--bcher-kva.example", 443, True),
        ("xn--bcher-kva.example", "BÜCHER.example", 443, True),
        ("strasse.example", "straße.example", 443, False),
        ("example.org", "еxample.org", 443, False),
        ("example.org", "ｅxample.org", 443, False),
        ("example.org", "example。org", 443, True),
        # Ports.
        ("example.org:8443", "example.org", 8443, True),
        ("example.org:8443", "example.org", 443, False),
        ("example.org:8443", "example.org", 0, False),
        ("*.example.org:443", "a.example.org", 443, True),
        # Addresses count however IPv6 spells them; ranges are for addresses, not for names.
        ("10.2.0.0/16", "10.2.255.1", 443, True),
        ("10.2.0.0/16", "10.3.0.1", 443, False),
        ("10.2.0.0/16:5432", "10.2.0.1", 5432, True),
        ("10.2.0.0/16:5432", "10.2.0.1", 5433, False),
        ("10.2.0.1", "10.2.0.1", 443, True),
        ("0.0.0.0/0", "example.org", 443, False),
        ("10.2.0.0/16", "::ffff:10.2.0.1", 443, True),
        ("::/0", "::ffff:10.2.0.1", 443, False),
        ("::ffff:10.2.0.0/112", "10.2.0.1", 443, True),
        ("2001:db8::/32", "[2001:DB8:0:0::1]", 443, True),
        ("[2001:db8::1]:443", "2001:db8::1", 443, True),
        ("[2001:db8::1]:443", "2001:db8::1", 444, False),
        ("[2001:db8::/32]:443", "2001:db8:1::", 443, True),
        ("fe80::/10", "fe80::1%eth0", 443, False),
        # Addresses in odd notations are in no list.
        ("127.0.0.0/8", "127.1", 80, False),
        ("127.0.0.0/8", "2130706433", 80, False),
        ("127.0.0.0/8", "0x7f.0.0.1", 80, False),
        ("127.0.0.0/8", "0177.0.0.1", 80, False),
        ("127.0.0.0/8", "127.0.0.0x1", 80, False),
        ("127.0.0.0/8", "１２７.0.0.1", 80, False),
        ("*.0.0.1", "127.0.0.1", 80, None),
        # What is no host is in no list.
        ("*.example.org", "user@a.example.org", 443, False),
        ("*.example.org", "attacker.example\n.example.org", 443, False),
        ("*.example.org", "attacker.example/.example.org", 443, False),
        ("*.example.org", "attacker.example#.example.org", 443, False),
        ("*.example.org", "attacker.example\\.example.org", 443, False),
        ("*.example.org", "attacker.example%00.example.org", 443, False),
        ("*.example.org", "{secret}.example.org", 443, False),
        ("*.example.org", "${host}.example.org", 443, False),
        ("*.example.org", "a" * 300 + ".example.org", 443, False),
    ],
)
def test_a_host_is_allowed_by_what_it_is_however_it_is_written(
    entry: str, host: str, port: int, allowed: bool | None
) -> None:
    if allowed is None:
        with pytest.raises(InvalidSettingError):
            SCHEMA.parse({"destination_hosts": [entry]})
        return
    policy = SCHEMA.parse({"destination_hosts": [entry]})
    assert policy.hosts(D).allows(host, port) is allowed
    # It means the same when it is read back.
    assert SCHEMA.parse(policy.to_json()) == policy


@pytest.mark.parametrize(
    "entry",
    [
        *("", " ", "*", "*.", "**.example.org", "a.*.example.org", "*example.org", ".example.org", "example..org"),
        *(f"{HTTPS}example.org", "example.org/path", "user@example.org", "example.org:0", "example.org:99999"),
        *("example.org:", "example.org:443:1", "10.2.0.1/16", "10.2.0.0/33", "10.2", "0x7f.1", "1", "[::1", "::1]"),
        *("fe80::1%eth0", "::ffff:0:0/90/1", "exa mple.org", "example.org\nattacker.example", "{host}", "a" * 300),
    ],
)
def test_an_entry_that_names_nothing_exactly_is_refused_at_its_place(entry: str) -> None:
    with pytest.raises(InvalidSettingError, match=r"is not a host|no host") as refused:
        SCHEMA.parse({"destination_hosts": ["example.org", entry]})
    assert refused.value.field == "destination_hosts.1"


@pytest.mark.parametrize(
    "entry", ["*", "10.0.0.0/8", "[10.0.0.1]", "example.org:25", "ana@example.org", "Ana <ana@example.org>", "a,b.org"]
)
def test_a_mail_domain_is_a_name(entry: str) -> None:
    with pytest.raises(InvalidSettingError, match="is not a mail domain") as refused:
        SCHEMA.parse({"mail_domains": [entry]})
    assert refused.value.field == "mail_domains.0"


def test_without_a_list_everything_is_allowed_and_by_an_empty_one_nothing() -> None:
    target = NetworkTarget(D, "example.org", 443)
    assert ALLOW_ALL.is_open
    assert not list(ALLOW_ALL.refused([target, NetworkTarget(D, "", 0)]))
    nothing = SCHEMA.parse({"destination_hosts": []})
    assert not nothing.is_open
    assert list(nothing.refused([target, NetworkTarget(PolicyList.SOURCES, "example.org")])) == [target]
    assert SCHEMA.parse({"destination_hosts": None}) == ALLOW_ALL


def test_entries_are_kept_in_one_form_and_once() -> None:
    policy = SCHEMA.parse(
        {
            "destination_hosts": ["Example.ORG.", "example.org", " *.Example.org:443 ", "[::1]", "10.0.0.1/32"],
            "mail_domains": ["@Example.org"],
        }
    )
    assert policy.destination_hosts == ("example.org", "*.example.org:443", "::1", "10.0.0.1")
    assert policy.mail_domains == ("example.org",)


def test_a_list_has_an_end() -> None:
    with pytest.raises(InvalidSettingError, match="1,000 entries"):
        SCHEMA.parse({"source_hosts": [f"h{n}.example" for n in range(MAX_ENTRIES + 1)]})
    with pytest.raises(InvalidSettingError, match="no setting 'hosts'"):
        SCHEMA.parse({"hosts": []})


@pytest.mark.parametrize(
    ("url", "host", "port"),
    [
        (f"{HTTPS}Example.org/hook?x=1", "example.org", 443),
        (f"{HTTP}example.org", "example.org", 80),
        (f"{HTTPS}example.org:8443/", "example.org", 8443),
        ("https://[2001:db8::1]/", "2001:db8::1", 443),
        (f"{HTTPS}bücher.example/", "xn--bcher-kva.example", 443),
        # Whoever reads it otherwise would be sent elsewhere.
        (f"{HTTPS}example.org@attacker.example/", "", 443),
        (f"{HTTPS}attacker.example\\@example.org/", "", 443),
        (f"{HTTPS}exa\nmple.org/", "", 0),
        (f"{HTTPS}attacker.example#@example.org/", "attacker.example", 443),
        ("example.org", "", 0),
        ("", "", 0),
    ],
)
def test_a_url_leads_where_the_client_goes_that_requests_it(url: str, host: str, port: int) -> None:
    found = target_of_url(D, url, "address")
    assert (normalize_host(found.host), found.port, found.field) == (host, port, "address")


def test_a_refusal_names_the_policy_and_who_changes_it_and_no_host() -> None:
    with pytest.raises(NetworkPolicyError) as refused:
        HostList(D, ("example.org",)).need("secret.attacker.example", 443)
    assert isinstance(refused.value, InvalidInputError)
    assert (refused.value.code, refused.value.field) == ("refused_by_network_policy", "address")
    assert "network policy" in refused.value.message
    assert "Owner or Admin" in refused.value.hint
    assert "attacker" not in str(refused.value)
