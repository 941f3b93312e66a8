"""What errors carry for programs: a code and a field."""

from __future__ import annotations

import pytest

from lakehold.kit.errors import InvalidInputError, LakeholdError, NotFoundError, at_field


def test_a_narrower_code_is_that_of_one_error_only() -> None:
    assert NotFoundError("It is gone.", code="unknown_database").code == "unknown_database"
    assert (NotFoundError.code, NotFoundError("It is gone.").code) == ("not_found", "not_found")
    assert NotFoundError("It is gone.").field == ""


@pytest.mark.parametrize(("named", "expected"), [("", "subject"), ("headers", "headers")])
def test_an_error_is_about_a_setting_unless_it_names_another(named: str, expected: str) -> None:
    with pytest.raises(LakeholdError) as caught, at_field("subject"):
        raise InvalidInputError("It cannot be used.", field=named)
    assert caught.value.field == expected
