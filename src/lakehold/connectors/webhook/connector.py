"""The connector for webhooks: its settings and its descriptor."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import Field

from lakehold.connectors.form_fields import Facts, load_fields
from lakehold.connectors.registry import Connector
from lakehold.connectors.settings import DestinationSettings
from lakehold.kit.network_policy import NetworkTarget, PolicyList, target_of_url
from lakehold.kit.settings_schema import Text


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookSettings(DestinationSettings):
    """Settings of a webhook that receives rows as JSON, in batches."""

    to: Literal["webhook"] = "webhook"
    address: Text
    headers: Mapping[str, str] = field(default_factory=dict)
    batch: Annotated[int, Field(ge=1)] = 500

    def network_targets(self, secrets: Mapping[str, str]) -> Iterator[NetworkTarget]:  # noqa: ARG002 - it has none
        """Return the host of the webhook."""
        yield target_of_url(PolicyList.DESTINATIONS, self.address, "address")


def _describe(form: Any, secrets: Facts) -> Facts:  # noqa: ANN401 - the values of a form
    # What stands behind the path may be a secret.
    address = form.text("address").partition("?")[0]
    return [("Address", address), ("Batch size", f"{form.text('batch')} rows"), *secrets]


CONNECTOR = Connector(
    name="webhook",
    label="Webhook",
    icon="globe",
    destination=WebhookSettings,
    destination_hint="Signed batches of rows to a URL.",
    destination_form=load_fields(__file__, "destination", describe=_describe),
)
