"""Topics of a message queue."""

from lakehold.connectors.registry import ConnectorEnvironment
from lakehold.connectors.sources.source import SourceConnector, SourceStream, StreamOptions
from tests.connectors.queue.connector import QueueSourceSettings


class QueueSource(SourceConnector):
    """Its topics are its streams."""

    def __init__(self, settings: QueueSourceSettings) -> None:
        self._settings = settings

    def streams(self) -> list[SourceStream]:
        """Return the topics."""
        return [SourceStream(each) for each in self._settings.topics]


def open_source(
    environment: ConnectorEnvironment, settings: QueueSourceSettings, stream: StreamOptions | None
) -> QueueSource:
    """Open the queue."""
    del environment, stream
    return QueueSource(settings)
