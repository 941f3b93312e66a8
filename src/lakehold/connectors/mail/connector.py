"""The connector for mails: its settings and its descriptor."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from lakehold.connectors.files.settings import FileOptions
from lakehold.connectors.form_fields import load_fields
from lakehold.connectors.registry import Connector
from lakehold.connectors.settings import DestinationSettings
from lakehold.directory.accounts import valid_email
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.network_policy import NetworkTarget, PolicyList
from lakehold.kit.settings_schema import InvalidSettingError, Text

_ROUTE = re.compile(r"[%!]|=\?")
"""Old ways to name another address before the @, and encoded words, which may hide one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MailSettings(FileOptions, DestinationSettings):
    """Settings of a mail that has the rows as an attached file."""

    takes_message: ClassVar[bool] = True

    to: Literal["mail"] = "mail"
    receivers: tuple[Text, ...] = ()
    subject: str = ""
    body: str = ""

    def __post_init__(self) -> None:
        if not self.receivers:
            raise InvalidSettingError("The destination has no receivers.", "Name at least one.", field="receivers")

    def network_targets(self, secrets: Mapping[str, str]) -> Iterator[NetworkTarget]:  # noqa: ARG002 - it has none
        """Return the mail domains of the receivers."""
        for n, receiver in enumerate(self.receivers):
            yield NetworkTarget(PolicyList.MAIL, _mail_domain(receiver), field=f"receivers.{n}")


def _mail_domain(receiver: str) -> str:
    """Return the domain that mails go to; empty if mail servers might send them on, or it cannot be told."""
    try:
        mailbox, _, domain = valid_email(receiver).rpartition("@")
    except InvalidInputError:
        return ""
    return "" if _ROUTE.search(mailbox) else domain


CONNECTOR = Connector(
    name="mail",
    label="Mail",
    icon="mail",
    destination=MailSettings,
    destination_hint="A file as attachment.",
    destination_form=load_fields(__file__, "destination"),
)
