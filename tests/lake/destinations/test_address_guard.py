"""Which addresses something may be sent to."""

from __future__ import annotations

import pytest

from lakehold.connectors.address_guard import is_allowed, resolve_host
from lakehold.kit.errors import InvalidInputError


@pytest.mark.parametrize(
    ("address", "outside", "inside"),
    [
        ("8.8.8.8", True, True),
        ("2606:4700::1111", True, True),
        ("::ffff:8.8.8.8", True, True),
        ("64:ff9b::808:808", True, True),
        # Of the owner's own
        ("127.0.0.1", False, True),
        ("127.8.8.8", False, True),
        ("::1", False, True),
        ("10.1.2.3", False, True),
        ("172.16.0.1", False, True),
        ("192.168.1.1", False, True),
        ("fd00::1", False, True),
        ("100.64.0.1", False, True),
        ("fec0::1", False, True),
        ("feff::1", False, True),
        ("64:ff9b:1::7f00:1", False, True),
        ("::ffff:127.0.0.1", False, True),
        ("64:ff9b::7f00:1", False, True),
        ("2002:7f00:1::", False, True),
        # Of nobody's
        ("169.254.169.254", False, False),
        ("::ffff:169.254.169.254", False, False),
        ("fe80::1%eth0", False, False),
        ("0.0.0.0", False, False),  # noqa: S104 - nothing is bound
        ("::", False, False),
        ("224.0.0.1", False, False),
        ("ff02::1", False, False),
        ("240.0.0.1", False, False),
        ("255.255.255.255", False, False),
        ("64:ff9b:1::a9fe:a9fe", False, False),
        ("2002:a9fe:a9fe::", False, False),
        ("::ffff:0:127.0.0.1", False, False),
        ("nonsense", False, False),
    ],
)
def test_only_addresses_of_the_internet_are_open_to_everybody(address: str, outside: bool, inside: bool) -> None:
    assert is_allowed(address, private=False) is outside
    assert is_allowed(address, private=True) is inside


@pytest.mark.parametrize("host", ["localhost", "127.1", "2130706433", "0x7f000001", "[::1]"])
def test_other_names_for_this_machine_are_seen_through(host: str) -> None:
    with pytest.raises(InvalidInputError, match="this address are not allowed"):
        resolve_host(host, 80, private=False)
    assert resolve_host(host, 80, private=True) in {"127.0.0.1", "::1"}
