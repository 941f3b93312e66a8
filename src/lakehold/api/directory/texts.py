"""Texts of the directory: e-mail addresses, passwords, and secrets that are shown once."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, SecretStr

from lakehold.api.frame.models import checked
from lakehold.directory.accounts import valid_email
from lakehold.directory.passwords import MAX_LENGTH, MIN_LENGTH
from lakehold.kit.ids import MAX_ID

EmailText = Annotated[str, Field(min_length=3, max_length=254, examples=["ana@example.org"]), checked(valid_email)]
TypedEmail = Annotated[str, Field(max_length=254, examples=["ana@example.org"])]
"""As somebody typed it who wants to be let in: if it is no address, it is only wrong."""
TypedTenant = Annotated[
    str, Field(max_length=MAX_ID, examples=["corner"], description="May be left out where there is only one.")
]
NewPassword = Annotated[
    SecretStr, Field(min_length=MIN_LENGTH, max_length=MAX_LENGTH, examples=["nine purple elephants"])
]
TypedPassword = Annotated[SecretStr, Field(max_length=MAX_LENGTH, examples=["nine purple elephants"])]
SecretText = Annotated[SecretStr, Field(max_length=200, examples=["lhl_4fK0aQx9Zb_…"])]
"""A secret that a link carries."""
PathSecret = Annotated[str, Field(min_length=1, max_length=200, examples=["lhi_4fK0aQx9Zb_…"])]
SecretId = Annotated[str, Field(min_length=1, max_length=MAX_ID, examples=["4fK0aQx9Zb"])]
"""The part of a secret that is none: its id."""
