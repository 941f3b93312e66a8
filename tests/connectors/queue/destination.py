"""Delivery of rows to a message queue."""

from pyspark.sql import DataFrame

from lakehold.connectors.destinations.delivery import DeliveryRequest, DeliveryResult, Destination
from lakehold.connectors.registry import ConnectorEnvironment
from tests.connectors.queue.connector import QueueDestinationSettings


def open_destination(
    environment: ConnectorEnvironment, settings: QueueDestinationSettings, request: DeliveryRequest
) -> Destination:
    """Open the queue."""
    del environment, request

    def send(rows: DataFrame) -> DeliveryResult:
        return DeliveryResult(rows.count(), 0, (settings.broker,))

    return Destination(lambda: f"{settings.broker} takes messages.", send)
