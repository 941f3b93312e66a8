"""Which texts may be an e-mail address."""

from __future__ import annotations

import pytest

from lakehold.directory.accounts import email_key, valid_email
from lakehold.kit.errors import InvalidInputError


@pytest.mark.parametrize("email", ["a@b", "ada.lovelace+x@mail.example.org", "é@example.org", "a@localhost"])
def test_these_may(email: str) -> None:
    assert valid_email(f" {email} ") == email


@pytest.mark.parametrize(
    "email",
    [
        "",
        "@",
        "a@",
        "@b",
        "a b@c",
        "a@b@c",
        "a@b\nBcc: c@d",
        "Ada <a@b>",
        "a@b..c",
        "a@b.",
        "a\0@b",
        "\ud800@b",
        7,
        None,
        "x" * 65 + "@b",
        "a@" + "b" * 253,
    ],
)
def test_these_may_not(email: object) -> None:
    with pytest.raises(InvalidInputError):
        valid_email(email)


def test_case_and_form_do_not_make_another_one() -> None:
    assert email_key("Ada@Example.ORG") == email_key(" ada@example.org ")
    assert email_key("a@example.org") != email_key("b@example.org")
