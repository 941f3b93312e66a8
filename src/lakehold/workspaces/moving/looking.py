"""A look at what a connector would read: its streams, or how one of them looks."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from lakehold.connectors.sources.connector import SourceConnector
from lakehold.connectors.sources.files.connector import FileSource

_ROWS = 20


def look(connector: SourceConnector, stream: str) -> dict[str, Any]:
    """A sample of a stream; without one, the streams that there are. As JSON has it."""
    if not stream:
        connector.check()
        return {"streams": [asdict(each) for each in connector.streams()]}
    found = asdict(connector.sample(stream, _ROWS))
    if isinstance(connector, FileSource):
        found["format"] = connector.stream_format(stream).to_json()
    return found
