"""The connector for chats: its settings and its descriptor."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from lakehold.connectors.destinations.settings import DestinationSettings
from lakehold.connectors.form_fields import load_fields
from lakehold.connectors.registry import Connector


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatSettings(DestinationSettings):
    """Settings of a chat that messages are posted to; its address is a secret."""

    takes_rows: ClassVar[bool] = False
    takes_message: ClassVar[bool] = True

    to: Literal["chat"] = "chat"


CONNECTOR = Connector(
    name="chat",
    label="Chat",
    icon="message-square",
    destination=ChatSettings,
    destination_hint="A message to Slack or a compatible chat.",
    destination_form=load_fields(__file__, "destination"),
)
