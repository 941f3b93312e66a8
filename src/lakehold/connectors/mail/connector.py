"""The connector for mails: its settings and its descriptor."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from lakehold.connectors.destinations.settings import DestinationSettings
from lakehold.connectors.files.settings import FileOptions
from lakehold.connectors.form_fields import load_fields
from lakehold.connectors.registry import Connector
from lakehold.kit.settings_schema import InvalidSettingError, Text


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


CONNECTOR = Connector(
    name="mail",
    label="Mail",
    icon="mail",
    destination=MailSettings,
    destination_hint="A file as attachment.",
    destination_form=load_fields(__file__, "destination"),
)
