"""How an API is shown who asks. None of these tells its secret when it is printed."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import Protocol


class Auth(Protocol):
    """What goes with a request to the API itself, and with no other."""

    def headers(self) -> dict[str, str]:
        """Its headers."""

    def params(self) -> dict[str, str]:
        """Its part of the question."""


@dataclass(frozen=True, slots=True)
class Nobody:
    """An API that asks for nothing."""

    def headers(self) -> dict[str, str]:
        """None."""
        return {}

    def params(self) -> dict[str, str]:
        """None."""
        return {}


@dataclass(frozen=True, slots=True)
class Bearer:
    """A token."""

    token: str = field(repr=False)

    def headers(self) -> dict[str, str]:
        """The token."""
        return {"Authorization": f"Bearer {self.token}"}

    def params(self) -> dict[str, str]:
        """None."""
        return {}


@dataclass(frozen=True, slots=True)
class Basic:
    """A user name and a password."""

    user: str
    password: str = field(repr=False)

    def headers(self) -> dict[str, str]:
        """Both of them."""
        both = base64.b64encode(f"{self.user}:{self.password}".encode()).decode()
        return {"Authorization": f"Basic {both}"}

    def params(self) -> dict[str, str]:
        """None."""
        return {}


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key under a name, in a header or in the question."""

    name: str
    key: str = field(repr=False)
    in_question: bool = False

    def headers(self) -> dict[str, str]:
        """The key, if it goes there."""
        return {} if self.in_question else {self.name: self.key}

    def params(self) -> dict[str, str]:
        """The key, if it goes there."""
        return {self.name: self.key} if self.in_question else {}
