"""Secrets are recognised, compared, and kept out of logs."""

from __future__ import annotations

import pytest

from lakehold.directory import secret_tokens

PREFIXES = [secret_tokens.TOKEN, secret_tokens.SIGN_IN, secret_tokens.LINK, secret_tokens.INVITE]


@pytest.mark.parametrize("prefix", PREFIXES)
def test_a_secret_is_known_again(prefix: str) -> None:
    fresh = secret_tokens.generate(prefix)
    assert fresh.text.startswith(f"{prefix}{fresh.id}_")
    given = secret_tokens.parse(prefix, fresh.text)
    assert given is not None
    assert given.id == fresh.id
    assert given.matches(fresh.hash)
    assert fresh.text not in repr(fresh)
    assert fresh.text.rpartition("_")[2] not in fresh.hash


@pytest.mark.parametrize("prefix", PREFIXES)
def test_a_slip_of_the_pen_is_told_from_a_secret(prefix: str) -> None:
    text = secret_tokens.generate(prefix).text
    swapped = text[:-9] + ("a" if text[-9] != "a" else "b") + text[-8:]
    for wrong in (
        swapped,
        text[:-1],
        text + "0",
        text.upper(),
        "",
        "lh_",
        f" {text}",
        f"{text}\n",
        text.replace("_", "-"),
    ):
        assert secret_tokens.parse(prefix, wrong) is None, wrong
    for other in set(PREFIXES) - {prefix}:
        assert secret_tokens.parse(other, text) is None


def test_two_are_never_the_same() -> None:
    assert len({secret_tokens.generate(secret_tokens.TOKEN).text for _ in range(1_000)}) == 1_000


def test_one_that_takes_anothers_place_keeps_its_id_only() -> None:
    old = secret_tokens.generate(secret_tokens.INVITE)
    new = secret_tokens.generate(secret_tokens.INVITE, old.id)
    assert (new.id, new.hash != old.hash) == (old.id, True)
