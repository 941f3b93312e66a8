"""What is told of an error."""

from __future__ import annotations

import errno

import pytest

from lakehold.connectors.destinations.delivery import mark_digest
from lakehold.connectors.error_translation import shorten, translate_delivery_errors
from lakehold.kit.errors import UnavailableError
from lakehold.lake.errors import DataError


def test_a_full_disk_is_called_one() -> None:
    with (
        pytest.raises(UnavailableError, match=r"The file could not be written: the disk is full. Free some space"),
        translate_delivery_errors("The file"),
    ):
        raise OSError(errno.ENOSPC, "/some/where")


def test_another_trouble_with_a_disk_names_no_path() -> None:
    denied = pytest.raises(UnavailableError, match="The file could not be written: Permission denied")
    with denied as caught, translate_delivery_errors("The file"):
        raise OSError(errno.EACCES, "x", "/some/where")
    assert "/some/where" not in str(caught.value)


def test_what_is_clear_already_stays_as_it_is() -> None:
    with pytest.raises(DataError, match=r"^As it is"), translate_delivery_errors("The file"):
        raise DataError("As it is.")


def test_words_of_others_are_short_and_printable() -> None:
    assert shorten("a\n\tb\x00c\x1b[31m\u202e  d") == "a b c [31m d"
    assert shorten("secret and secret", "secret", "") == "… and …"
    assert shorten("x" * 999, longest=5) == "xxxxx…"


def test_marks_make_names_that_differ() -> None:
    marks = [("a",), ("b",), ("a", "b"), ("ab",), ("a\0b", "c"), ("a", "b", "c"), ('a", "b',)]
    assert len({mark_digest(*mark) for mark in marks}) == len(marks)
