"""An API as a source: each of its endpoints is a stream."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from itertools import chain, islice

from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from lakehold.pipeline.connectors.inward import records
from lakehold.pipeline.connectors.inward.connector import Field, Incoming, Sample, Since, Stream, chosen
from lakehold.pipeline.connectors.inward.cursors import after
from lakehold.pipeline.connectors.inward.rest.client import Client
from lakehold.pipeline.connectors.inward.rest.paging import pages
from lakehold.pipeline.connectors.inward.rest.settings import Endpoint, Settings
from lakehold.pipeline.connectors.inward.rest.source import texts
from lakehold.pipeline.connectors.inward.trouble import told

_SOME = 1_000
_SHORT = 64 * 1024


@dataclass(frozen=True, slots=True)
class Rest:
    """An API."""

    settings: Settings

    @property
    def veil(self) -> tuple[str, ...]:
        """Nothing: words of an API are not repeated."""
        return ()

    def streams(self) -> list[Stream]:
        """Its endpoints, as they are set up."""
        self.settings.check()
        return [Stream(each.name, each.fields or None, bool(each.since), each.keys) for each in self.settings.endpoints]

    def check(self) -> None:
        """Ask each endpoint for its first page."""
        for endpoint in self.settings.endpoints:
            self._some(endpoint, 1)

    def sample(self, stream: str, limit: int) -> Sample:
        """Fields and the first records."""
        endpoint = self._endpoint(stream)
        found = [each for each in self._some(endpoint, limit) if isinstance(each, dict)]
        fields = _fields(endpoint, records.fields_of(found))
        rows = tuple(tuple(records.shown(record.get(each.name)) for each in fields) for record in found)
        return Sample(fields, rows)

    def read(self, spark: SparkSession, stream: str, since: Since | None = None) -> Incoming:
        """All records of an endpoint; it is asked once, and what it said is kept on disk until it is written."""
        endpoint = self._endpoint(stream)
        with told(stream):
            asked = texts(spark, self.settings, endpoint, since.value if since and since.value else None)
            kept = records.kept(asked)
            short = kept.filter(f.length("raw") <= _SHORT).limit(_SOME).select("raw").collect()
            some = [each for each in (json.loads(row["raw"]) for row in short) if isinstance(each, dict)]
            fields = _fields(endpoint, records.fields_of(some))
            if not fields and since is not None and not kept.limit(1).count():
                # Nothing is new, so nothing is known of its fields either.
                return Incoming(spark.range(0).select(), kept=(kept,))
            found = records.incoming(kept, fields)
            return replace(found, rows=after(found.rows, since), kept=(kept,), total=None if since else kept.count)

    def _endpoint(self, stream: str) -> Endpoint:
        return chosen({each.name: each for each in self.settings.endpoints}, stream)

    def _some(self, endpoint: Endpoint, limit: int) -> list[object]:
        with Client(self.settings) as client:
            found = pages(client, endpoint, None, self.settings.limits)
            return list(islice(chain.from_iterable(page.records for page in found), limit))


def _fields(endpoint: Endpoint, guessed: tuple[Field, ...]) -> tuple[Field, ...]:
    """What was set, then what was guessed beside it."""
    known = {each.name for each in endpoint.fields}
    return (*endpoint.fields, *(each for each in guessed if each.name not in known))
