"""Which passwords may be used, and how they are kept."""

from __future__ import annotations

import pytest
from argon2 import PasswordHasher

from lakehold.directory import passwords
from lakehold.kit.errors import InvalidInputError


@pytest.mark.parametrize(
    ("password", "says"),
    [
        ("", "10 to 1,000"),
        ("123456789", "10 to 1,000"),
        ("x" * 1_001, "10 to 1,000"),
        ("  BOB the Builder ", "your name or e-mail"),
        ("Bob@Example.Org", "your name or e-mail"),
        (" " * 12, "your name or e-mail"),
        ("a" * 12, "repeats one character"),
        ("with\0zero and more", "control character"),
        ("\ud800" + "x" * 12, "control character"),
        (1234567890, "is a text"),
        (None, "is a text"),
    ],
)
def test_what_may_not_be_one(password: object, says: str) -> None:
    with pytest.raises(InvalidInputError, match=says) as refused:
        passwords.valid_password(password, "Bob the Builder", "bob@example.org")
    assert not isinstance(password, str) or not password.strip() or password not in str(refused.value)


def test_what_may_be_one() -> None:
    for password in ("correct horse", "пароль из слов", "0123456789", "bob the builder!"):
        assert passwords.valid_password(password, "Bob the Builder", "bob@example.org") == password


def test_they_are_kept_as_argon2id_with_the_librarys_own_parameters_unless_a_test_says_otherwise() -> None:
    kept = passwords.hash_password("correct horse")
    assert kept.startswith("$argon2id$")
    assert kept != passwords.hash_password("correct horse")
    assert passwords.verify_password(kept, "correct horse")
    assert not passwords.verify_password(kept, "correct Horse")
    assert passwords.hasher.check_needs_rehash(
        PasswordHasher(time_cost=3, memory_cost=8, parallelism=1).hash("correct horse")
    )


def test_the_same_characters_are_the_same_password_however_they_are_put_together() -> None:
    assert passwords.verify_password(passwords.hash_password("caf\u00e9 au lait"), "cafe\u0301 au lait")


def test_a_hash_that_cannot_be_read_matches_nothing() -> None:
    assert not passwords.verify_password("broken", "correct horse")
    assert not passwords.verify_password("", "correct horse")
