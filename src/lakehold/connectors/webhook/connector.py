"""The connector for webhooks: its settings and its descriptor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field

from lakehold.connectors.destinations.settings import DestinationSettings
from lakehold.connectors.registry import Connector
from lakehold.kit.settings_schema import Text


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookSettings(DestinationSettings):
    """Rows as JSON to an address, in batches."""

    to: Literal["webhook"] = "webhook"
    address: Text
    headers: Mapping[str, str] = field(default_factory=dict)
    batch: Annotated[int, Field(ge=1)] = 500


CONNECTOR = Connector(
    name="webhook",
    label="Webhook",
    icon="globe",
    destination=WebhookSettings,
    destination_hint="Signed batches of rows to a URL.",
)
