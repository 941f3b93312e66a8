"""An endpoint as a data source of Spark's: its records as texts.

The settings, with their secrets, travel inside the source's own pickled class. They are no options of the reading, so
no plan, log or page of Spark's shows them. Each reading has a session of its own that knows the source; the rows go on
in the session that asked.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from lakehold.kit.errors import LakeholdError
from lakehold.pipeline.connectors.inward.rest.client import Client
from lakehold.pipeline.connectors.inward.rest.paging import pages
from lakehold.pipeline.connectors.inward.rest.settings import Endpoint, Settings
from lakehold.pipeline.connectors.inward.trouble import Told
from lakehold.pipeline.spark.jvm import within

NAME = "lakehold_api"


def texts(spark: SparkSession, settings: Settings, endpoint: Endpoint, since: str | None) -> DataFrame:
    """The records of an endpoint, with the columns `raw` and `place`."""
    session = spark.newSession()
    session.dataSource.register(_source(settings, endpoint, since))
    return within(spark, session.read.format(NAME).load())


class Reader(DataSourceReader):
    """Reads page after page, in one task: each page tells where the next one is."""

    def __init__(self, settings: Settings, endpoint: Endpoint, since: str | None) -> None:
        self._settings = settings
        self._endpoint = endpoint
        self._since = since

    def read(self, partition: InputPartition) -> Iterator[tuple[str, str]]:
        """The records and where they stand."""
        del partition
        try:
            with Client(self._settings) as client:
                for page in pages(client, self._endpoint, self._since, self._settings.limits):
                    for number, record in enumerate(page.records, start=1):
                        yield json.dumps(record, ensure_ascii=False), f"page {page.number}, record {number}"
        except LakeholdError as error:
            raise Told(error) from None


def _source(settings: Settings, endpoint: Endpoint, since: str | None) -> type[DataSource]:
    """A class of its own for each reading: Spark pickles it as it is."""

    class Source(DataSource):
        @classmethod
        def name(cls) -> str:
            return NAME

        def schema(self) -> str:
            return "raw string, place string"

        def reader(self, schema: StructType) -> DataSourceReader:
            del schema
            return Reader(settings, endpoint, since)

    return Source
