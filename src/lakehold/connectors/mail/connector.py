"""The connector for mails: its settings and its descriptor."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from lakehold.connectors.destinations.settings import DestinationSettings
from lakehold.connectors.files.settings import FileOptions
from lakehold.connectors.form_fields import Facts, load_fields
from lakehold.connectors.registry import Connector
from lakehold.kit.settings_schema import InvalidSettingError, Text


@dataclass(frozen=True, slots=True, kw_only=True)
class MailSettings(FileOptions, DestinationSettings):
    """Settings of a mail that has the rows as an attached file."""

    to: Literal["mail"] = "mail"
    receivers: tuple[Text, ...] = ()
    subject: str = ""
    body: str = ""

    def __post_init__(self) -> None:
        if not self.receivers:
            raise InvalidSettingError("The destination has no receivers.", "Name at least one.", field="receivers")


def _describe(form: Any, secrets: Facts) -> Facts:  # noqa: ANN401 - the values of a form
    file = f"{form.text('file') or 'rows'}.{form.text('kind')}"
    return [("Receivers", form.text("receivers")), ("Subject", form.text("subject")), ("Attachment", file), *secrets]


CONNECTOR = Connector(
    name="mail",
    label="Mail",
    icon="mail",
    destination=MailSettings,
    destination_hint="A file as attachment.",
    destination_form=load_fields(Path(__file__).with_name("form.yaml"), "destination", describe=_describe),
)
