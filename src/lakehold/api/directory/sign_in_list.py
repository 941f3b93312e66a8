"""Sign-ins as answers tell them."""

from __future__ import annotations

from pydantic import Field

from lakehold.api.directory.texts import SecretId
from lakehold.api.frame.models import Answer, Time, time_of
from lakehold.directory.sign_ins import SignIn


class SignInJson(Answer):
    """One device on which a member is signed in."""

    id: SecretId
    method: str = Field(examples=["password"])
    made_at: Time
    until: Time
    used_at: Time
    address: str = Field(examples=["192.0.2.7"])
    agent: str = Field(examples=["Firefox"])
    current: bool = Field(description="Whether it is the one that asks.")


class Ended(Answer):
    """How many there were."""

    ended: int


def told(found: SignIn) -> SignInJson:
    """The sign-in as an answer."""
    return SignInJson(
        id=found.id,
        method=found.method,
        made_at=time_of(found.made_at),
        until=time_of(found.until),
        used_at=time_of(found.used_at),
        address=found.address,
        agent=found.agent,
        current=found.current,
    )
