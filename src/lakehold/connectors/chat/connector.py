"""The connector for chats: its settings and its descriptor."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from lakehold.connectors.form_fields import load_fields
from lakehold.connectors.registry import Connector
from lakehold.connectors.settings import DestinationSettings
from lakehold.kit.network_policy import NetworkTarget, PolicyList, target_of_url

ADDRESS = "address"
"""The credential that is the address of the chat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatSettings(DestinationSettings):
    """Settings of a chat that messages are posted to; its address is a secret."""

    takes_rows: ClassVar[bool] = False
    takes_message: ClassVar[bool] = True

    to: Literal["chat"] = "chat"

    def network_targets(self, secrets: Mapping[str, str]) -> Iterator[NetworkTarget]:
        """Return the host of the chat, if its address is known."""
        if ADDRESS in secrets:
            yield target_of_url(PolicyList.DESTINATIONS, secrets[ADDRESS], ADDRESS)


CONNECTOR = Connector(
    name="chat",
    label="Chat",
    icon="message-square",
    destination=ChatSettings,
    destination_hint="A message to Slack or a compatible chat.",
    destination_form=load_fields(__file__, "destination"),
)
