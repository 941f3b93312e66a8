"""Source connector for HTTP APIs that answer in JSON: each endpoint is a stream.

Records are read by a Python data source of Spark. The settings, with their secrets, travel inside its pickled class and
are no options of the reader, so no plan, log or page of Spark shows them. Each read registers the source in a session
of its own; the rows continue in the caller's session.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from lakehold.connectors.api.client import ApiClient
from lakehold.connectors.api.connector import ApiEndpoint, ApiLimits, ApiSettings, ApiSourceSettings
from lakehold.connectors.error_translation import CarriedError, translate_source_errors
from lakehold.connectors.registry import ConnectorEnvironment
from lakehold.connectors.sources import row_parsing, source
from lakehold.connectors.sources.field_types import StreamField
from lakehold.kit.errors import LakeholdError, at_field
from lakehold.kit.network_policy import PolicyList
from lakehold.lake.spark.jvm import move_to_session

DATA_SOURCE_NAME = "lakehold_api"


@dataclass(frozen=True)
class EndpointReader(DataSourceReader):
    """Reads the pages in one task, as each page tells where the next one is."""

    settings: ApiSettings
    endpoint: ApiEndpoint
    since: str | None

    def read(self, partition: InputPartition) -> Iterator[tuple[str, str]]:
        """Yield the records and where they stand."""
        del partition
        try:
            with ApiClient(self.settings) as client:
                for page, records in client.pages(self.endpoint, self.since):
                    for number, record in enumerate(records, start=1):
                        yield json.dumps(record, ensure_ascii=False), f"page {page}, record {number}"
        except LakeholdError as error:
            raise CarriedError(error) from None


def _data_source(settings: ApiSettings, endpoint: ApiEndpoint, since: str | None) -> type[DataSource]:
    """Return a data source class for one read, as Spark pickles the class itself."""

    class Source(DataSource):
        @classmethod
        def name(cls) -> str:
            return DATA_SOURCE_NAME

        def schema(self) -> str:
            return "raw string, place string"

        def reader(self, schema: StructType) -> DataSourceReader:
            del schema
            return EndpointReader(settings, endpoint, since)

    return Source


_SAMPLE_RECORDS = 1_000
_MAX_SAMPLED_LENGTH = 64 * 1024


@dataclass(frozen=True, slots=True)
class RestSource(source.SourceConnector):
    """An API as a source."""

    settings: ApiSettings

    def streams(self) -> list[source.SourceStream]:
        """Return its endpoints, as configured."""
        self.settings.check()
        return list_endpoints(self.settings.endpoints)

    def check(self) -> None:
        """Request the first page of each endpoint."""
        for endpoint in self.settings.endpoints:
            self._sample_records(endpoint, 1)

    def sample(self, stream: str, limit: int) -> source.StreamSample:
        """Return fields and the first records."""
        endpoint = self._endpoint(stream)
        return parse_sample(endpoint, self._sample_records(endpoint, limit))

    def read(self, spark: SparkSession, stream: str, since: source.ReadSpan | None = None) -> source.IncomingRows:
        """Read all records of an endpoint; it is requested once, and cached on disk until it is written."""
        endpoint = self._endpoint(stream)
        with translate_source_errors(stream):
            session = spark.newSession()
            session.dataSource.register(_data_source(self.settings, endpoint, since.value or None if since else None))
            requested = move_to_session(spark, session.read.format(DATA_SOURCE_NAME).load())
            return parse_pages(spark, endpoint, row_parsing.cache_on_disk(requested), since)

    def _endpoint(self, stream: str) -> ApiEndpoint:
        return source.get_stream({each.name: each for each in self.settings.endpoints}, stream)

    def _sample_records(self, endpoint: ApiEndpoint, limit: int) -> list[object]:
        number = self.settings.endpoints.index(endpoint)
        with at_field(f"endpoints.{number}.path"), ApiClient(self.settings) as client:
            records = chain.from_iterable(found for _, found in client.pages(endpoint, None))
            return list(islice(records, limit))


def list_endpoints(endpoints: Iterable[ApiEndpoint]) -> list[source.SourceStream]:
    """Return endpoints as streams."""
    return [source.SourceStream(each.name, each.fields or None, bool(each.since), each.keys) for each in endpoints]


def parse_sample(endpoint: ApiEndpoint, records: Iterable[object]) -> source.StreamSample:
    """Return the fields and rows of some records; what is no object is left out."""
    found = [each for each in records if isinstance(each, dict)]
    fields = _merge_fields(endpoint, row_parsing.infer_fields(found))
    rows = tuple(tuple(row_parsing.sample_value(record.get(each.name)) for each in fields) for record in found)
    return source.StreamSample(fields, rows)


def parse_pages(
    spark: SparkSession, endpoint: ApiEndpoint, kept: DataFrame, since: source.ReadSpan | None
) -> source.IncomingRows:
    """Return the rows of records, which are kept as `raw` texts with the `place` where they stand."""
    short = kept.filter(f.length("raw") <= _MAX_SAMPLED_LENGTH).limit(_SAMPLE_RECORDS).select("raw").collect()
    some = [each for each in (json.loads(row["raw"]) for row in short) if isinstance(each, dict)]
    fields = _merge_fields(endpoint, row_parsing.infer_fields(some))
    if not fields and since is not None and not kept.limit(1).count():
        # Nothing is new, so nothing is known of its fields either.
        return source.IncomingRows(spark.range(0).select(), kept=(kept,))
    found = row_parsing.parse_records(kept, fields)
    rows = source.filter_span(found.rows, since)
    return replace(found, rows=rows, kept=(kept,), total=None if since else kept.count)


def _merge_fields(endpoint: ApiEndpoint, guessed: tuple[StreamField, ...]) -> tuple[StreamField, ...]:
    """Return the configured fields, then the inferred ones besides them."""
    known = {each.name for each in endpoint.fields}
    return (*endpoint.fields, *(each for each in guessed if each.name not in known))


def open_source(
    environment: ConnectorEnvironment, settings: ApiSourceSettings, _stream: source.StreamOptions | None
) -> RestSource:
    """Open the API that the settings name."""
    opened = ApiSettings(
        settings.address,
        settings.endpoints,
        settings.auth,
        environment.need_secret(settings.auth.credential),
        environment.headers(settings.headers),
        ApiLimits(per_second=settings.limits.per_second, retries=settings.limits.retries),
        environment.settings.private_addresses,
        environment.policy.hosts(PolicyList.SOURCES),
    )
    opened.check()
    return RestSource(opened)
