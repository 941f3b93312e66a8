"""Reads endpoints of an HTTP API: each record as its text, which the platform parses as those that it reads."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

import pyarrow as pa

from lakehold.connectors.api.client import ApiClient
from lakehold.connectors.api.connector import ApiEndpoint, ApiSettings
from lakehold.kit.errors import NotFoundError
from lakehold.kit.ids import quote
from lakehold.workspaces.spaces.gateways.agent.streams import OpenStream, StreamPart, group_batches

_SCHEMA = pa.schema([("raw", pa.string()), ("place", pa.string())])


@dataclass(frozen=True, slots=True)
class ApiReader:
    """An API that a connection leads to."""

    settings: ApiSettings

    def streams(self) -> list[dict[str, Any]]:
        """Request the first page of each endpoint. What they are, the platform knows."""
        for endpoint in self.settings.endpoints:
            self.sample(endpoint.name, 1)
        return []

    def sample(self, stream: str, limit: int) -> dict[str, Any]:
        """Return the first records of an endpoint."""
        with ApiClient(self.settings) as client:
            records = chain.from_iterable(found for _, found in client.pages(self._endpoint(stream), None))
            return {"records": list(islice(records, limit))}

    @contextmanager
    def open(self, stream: str, since: Mapping[str, Any]) -> Iterator[OpenStream]:
        """Open an endpoint. There is no order in its records that it could be gone on with."""
        endpoint, cursor = self._endpoint(stream), str(since.get("value") or "") or None
        with ApiClient(self.settings) as client:

            def parts(_offset: Sequence[str]) -> Iterator[StreamPart]:
                return map(StreamPart, group_batches(_batches(client, endpoint, cursor), _SCHEMA))

            yield OpenStream(has_keys=False, parts=parts)

    def _endpoint(self, stream: str) -> ApiEndpoint:
        found = next((each for each in self.settings.endpoints if each.name == stream), None)
        if found is None:
            there = ", ".join(each.name for each in self.settings.endpoints)
            raise NotFoundError(f"There is no {quote(stream)} there.", f"It has: {there}.", field="stream")
        return found


def _batches(client: ApiClient, endpoint: ApiEndpoint, since: str | None) -> Iterator[pa.RecordBatch]:
    for page, records in client.pages(endpoint, since):
        texts = [json.dumps(record, ensure_ascii=False) for record in records]
        places = [f"page {page}, record {number}" for number in range(1, len(records) + 1)]
        yield pa.RecordBatch.from_arrays([pa.array(texts), pa.array(places)], schema=_SCHEMA)
