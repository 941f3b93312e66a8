"""The connector of message queues, for tests: its settings and its descriptor."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from lakehold.connectors.registry import Connector
from lakehold.connectors.settings import DestinationSettings, SourceSettings
from lakehold.kit.settings_schema import SettingsRecord, Text


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueSettings(SettingsRecord):
    """A message queue."""

    broker: Text
    encoding_of_messages: Literal["json", "avro"] = "json"
    compressed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueSourceSettings(QueueSettings, SourceSettings):
    """Messages of topics."""

    connector: Literal["queue"] = "queue"
    topics: tuple[str, ...] = ()
    """Only these topics."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueDestinationSettings(QueueSettings, DestinationSettings):
    """Rows as messages."""

    to: Literal["queue"] = "queue"
    name: str = ""
    """Of the sender."""
    per_message: Annotated[int, Field(ge=1)] = 100


CONNECTOR = Connector(
    name="queue",
    label="Message queue",
    icon="activity",
    source=QueueSourceSettings,
    source_hint="Messages of a broker.",
    destination=QueueDestinationSettings,
    destination_hint="Rows as messages to a broker.",
)
