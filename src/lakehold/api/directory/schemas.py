"""Response models and field types of the directory. E-mail addresses, passwords, secrets, members and sign-ins."""

from typing import Annotated

from pydantic import BeforeValidator, Field, SecretStr

from lakehold.api.http.models import NameText, RecordId, RecordTime, ResponseModel, TaggedResponse, validated_by
from lakehold.directory.accounts import valid_email
from lakehold.directory.passwords import MAX_LENGTH, MIN_LENGTH
from lakehold.kit.ids import MAX_ID

EmailText = Annotated[str, Field(min_length=3, max_length=254, examples=["ana@example.org"]), validated_by(valid_email)]
NewPassword = Annotated[
    SecretStr, Field(min_length=MIN_LENGTH, max_length=MAX_LENGTH, examples=["nine purple elephants"])
]
TypedPassword = Annotated[SecretStr, Field(max_length=MAX_LENGTH, examples=["nine purple elephants"])]
SecretText = Annotated[SecretStr, Field(max_length=200, examples=["lhl_4fK0aQx9Zb_…"])]
"""A secret that a link carries."""
PathSecret = Annotated[str, Field(min_length=1, max_length=200, examples=["lhi_4fK0aQx9Zb_…"])]
SecretId = Annotated[str, Field(min_length=1, max_length=MAX_ID, examples=["4fK0aQx9Zb"])]
"""The public part of a secret: its id."""
MailedLink = Annotated[
    str | None, BeforeValidator(lambda link: link or None), Field(description="Null if it was mailed.")
]


class SignInJson(ResponseModel):
    """A device on which a member is signed in."""

    id: SecretId
    method: str = Field(examples=["password"])
    made_at: RecordTime
    until: RecordTime
    used_at: RecordTime
    address: str = Field(examples=["192.0.2.7"])
    agent: str = Field(examples=["Firefox"])
    current: bool = Field(description="Whether it is the sign-in of this request.")


class SignOutResultJson(ResponseModel):
    """The number of sign-ins that were ended."""

    ended: int


class MemberJson(TaggedResponse):
    """A member, as the caller may see them."""

    id: RecordId = Field(examples=["ana"])
    name: NameText = Field(examples=["Ana, Analyst"])
    email: str | None = Field(
        examples=["ana@example.org"], description="Null if there is none, or if the caller may not see it."
    )
    service: bool = Field(description="Whether it is a service account, to which nobody signs in.")
    roles: list[str] = Field(examples=[["editor"]], description="The tenant and security roles of their own.")
    groups: list[str] = Field(examples=[["analysts"]], description="The ids of their groups.")
    since: RecordTime
