"""A data connection behind a gateway as a source: the gateway reads it, and its parts are read here by Spark."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

# past the access filter: when the edge to a gateway was set, in an action that the caller may do
from lakehold.access.facts.tables import edge
from lakehold.catalog.credentials import credential_table
from lakehold.connectors.api.connector import ApiEndpoint, ApiSourceSettings
from lakehold.connectors.api.source import list_endpoints, parse_pages, parse_sample
from lakehold.connectors.error_translation import hosts_of_url, shorten, source_error_of_state
from lakehold.connectors.sources import source
from lakehold.connectors.sources.field_types import StreamField
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.kit.clock import FOREVER
from lakehold.kit.errors import (
    ConflictError,
    InvalidInputError,
    LakeholdError,
    LimitExceededError,
    NotFoundError,
    UnavailableError,
)
from lakehold.kit.network_policy import PolicyList
from lakehold.lake.errors import DataError, SourceError
from lakehold.workspaces.spaces.gateways.agent.readers import need_readable
from lakehold.workspaces.spaces.gateways.status import READ
from lakehold.workspaces.spaces.gateways.work_orders import SAMPLE, STREAMS, OrderFailedError, OrderRequest, WorkOrder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from lakehold.connectors.registry import ConnectorEnvironment
    from lakehold.connectors.settings import SourceSettings
    from lakehold.directory.request_context import RequestContext

_PROBE_SECONDS = 60
_PROBE_PATIENCE, _RUN_PATIENCE = 5, 120
"""How many seconds an offline gateway is waited for."""
_LABEL = "The database"
_ERRORS: Mapping[str, type[LakeholdError]] = {
    each.code: each for each in (InvalidInputError, NotFoundError, ConflictError, UnavailableError, DataError)
}


@dataclass(frozen=True, slots=True)
class GatewaySource(source.SourceConnector):
    """A connection that a gateway reads."""

    platform: Platform
    caller: Caller
    gateway: str
    settings: SourceSettings
    stored: Mapping[str, object]
    secrets: Mapping[str, str] = field(repr=False)
    key: str = ""
    """Names the read, so that it goes on where it was when the step is repeated."""
    one_snapshot: bool = False
    """Whether all rows have to be of one moment: behind a cursor, what was changed in between would be missed."""
    check_stopped: Callable[[], None] | None = None
    """Raises if the run that waits for it was stopped; None if a person waits."""

    hosts: Sequence[str] | None = None
    """The hosts that the tenant's network policy allows; None for all."""

    @property
    def redactions(self) -> tuple[str, ...]:
        """Hosts, user and secrets."""
        names = (*hosts_of_url(str(self.stored.get("address", ""))), str(self.stored.get("user", "")))
        return (*names, *self.secrets.values())

    def streams(self) -> list[source.SourceStream]:
        """Return the tables and views with their fields."""
        found = self.probe(STREAMS)
        with understood():
            return [_stream(each) for each in found["streams"]]

    def check(self) -> None:
        """Let the gateway connect."""
        self.probe(STREAMS)

    def sample(self, stream: str, limit: int) -> source.StreamSample:
        """Return fields and first rows."""
        found = self.probe(SAMPLE, stream=stream, limit=limit)
        with understood():
            return source.StreamSample(_stream(found).fields or (), tuple(map(tuple, found["rows"])))

    def read(self, spark: SparkSession, stream: str, since: source.ReadSpan | None = None) -> source.IncomingRows:
        """Let the gateway send the rows, and read them when all have arrived."""
        body = {"stream": stream, "since": asdict(since) if since else None, "one_snapshot": self.one_snapshot}
        order = WorkOrder(self.platform, self.caller, self._request(READ, body, self.key and f"{self.key}/{stream}"))
        result, spool = self._wait(order, stream, self.check_stopped or (lambda: None)), order.spool
        with understood():
            parts = int(result["parts"])
        with ExitStack() as held:
            held.enter_context(spool.hold(parts))
            found = self._rows(spark, spark.read.parquet(str(spool.folder.absolute())), stream, since)
            held.callback(order.close)
            total = None if since else found.total or (lambda: spool.totals()[0])
            return replace(found, total=total, on_close=held.pop_all().close)

    def _rows(
        self, spark: SparkSession, arrived: DataFrame, stream: str, since: source.ReadSpan | None
    ) -> source.IncomingRows:
        """Return the rows of what has arrived."""
        del spark, stream
        return source.IncomingRows(source.filter_span(arrived, since))

    def probe(self, kind: str, **body: object) -> Mapping[str, Any]:
        """Return the answer of the gateway to a question about the connection."""
        deadline = time.monotonic() + _PROBE_SECONDS + self._patience

        def check() -> None:
            if self.check_stopped:
                self.check_stopped()
            if time.monotonic() > deadline:
                message = f"It took longer than {_PROBE_SECONDS} seconds."
                raise LimitExceededError(message, "See whether the database answers the gateway.")

        order = WorkOrder(self.platform, self.caller, self._request(kind, body))
        try:
            return self._wait(order, str(body.get("stream", "")), check)
        finally:
            # Rows of a sample are kept nowhere.
            order.close()

    def _request(self, kind: str, body: Mapping[str, object], key: str = "") -> OrderRequest:
        about = {"settings": dict(self.stored), "hosts": None if self.hosts is None else list(self.hosts)}
        return OrderRequest(self.gateway, kind, {**about, **body}, self.secrets, key)

    @property
    def _patience(self) -> float:
        return _RUN_PATIENCE if self.check_stopped else _PROBE_PATIENCE

    def _wait(self, order: WorkOrder, stream: str, check: Callable[[], None]) -> Mapping[str, Any]:
        try:
            return order.wait(self._patience, check)
        except OrderFailedError as failed:
            raise self._translate(failed.error, stream or _LABEL) from None

    def _translate(self, error: Mapping[str, Any], what: str) -> LakeholdError:
        if "state" in error:
            said = shorten(str(error.get("text", "")), *self.redactions)
            return source_error_of_state(str(error["state"]), said, what)
        message = shorten(str(error.get("message") or f"{what} could not be read."), *self.redactions)
        kind = _ERRORS.get(str(error.get("code")), SourceError)
        hint = shorten(str(error.get("hint", "")), *self.redactions)
        return kind(message, hint, field=str(error.get("field", "")))


@contextmanager
def understood() -> Iterator[None]:
    """Refuse an answer that is not one of our gateways'."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise SourceError("The answer of the gateway cannot be read.", "Update or register the gateway.") from error


def _stream(found: Mapping[str, Any]) -> source.SourceStream:
    fields = tuple(StreamField(each["name"], each["type"]) for each in found["fields"])
    return source.SourceStream(found["name"], fields, incremental=True, keys=tuple(found["keys"]))


@dataclass(frozen=True, slots=True)
class GatewayApi(GatewaySource):
    """An API that a gateway reads. It sends the records as they are; what fields they have is found out here."""

    def streams(self) -> list[source.SourceStream]:
        """Return its endpoints, as configured."""
        return list_endpoints(self._api.endpoints)

    def sample(self, stream: str, limit: int) -> source.StreamSample:
        """Return fields and the first records."""
        endpoint, found = self._endpoint(stream), self.probe(SAMPLE, stream=stream, limit=limit)
        with understood():
            return parse_sample(endpoint, found["records"])

    def _rows(
        self, spark: SparkSession, arrived: DataFrame, stream: str, since: source.ReadSpan | None
    ) -> source.IncomingRows:
        return replace(parse_pages(spark, self._endpoint(stream), arrived, since), kept=())

    def _endpoint(self, stream: str) -> ApiEndpoint:
        return source.get_stream({each.name: each for each in self._api.endpoints}, stream)

    @property
    def _api(self) -> ApiSourceSettings:
        assert isinstance(self.settings, ApiSourceSettings)  # noqa: S101 - it is opened for these only
        return self.settings


def open_gateway_source(
    platform: Platform,
    caller: Caller,
    gateway: str,
    *,
    settings: SourceSettings,
    stored: Mapping[str, object],
    environment: ConnectorEnvironment,
) -> GatewaySource:
    """Open a connection behind a gateway, or refuse one that gateways cannot read."""
    environment.need_allowed(settings)
    need_readable(stored)
    opened = GatewayApi if isinstance(settings, ApiSourceSettings) else GatewaySource
    hosts = environment.policy.hosts(PolicyList.SOURCES).entries
    return opened(platform, caller, gateway, settings, stored, environment.secrets, hosts=hosts)


def need_secrets_of_gateway(ctx: RequestContext, connection: str) -> None:
    """Refuse secrets that were entered before the connection led to its gateway: they were not meant for it."""
    number, e, c = ctx.view.resource(connection), edge.c, credential_table.c
    set_at = ctx.session.transaction.connection.execute(
        sa.select(sa.func.max(e.since)).where(
            *(e.tenant_id == ctx.session.tenant, e.source_id == number, e.until == FOREVER),
            e.name == "spaces.connection.gateway",
        )
    ).scalar()
    stale = (c.resource_id == number, c.updated_at < (set_at or 0), c.secret != "")
    if ctx.rows(credential_table).select(*stale).first() is not None:
        raise ConflictError(
            "The gateway of the connection was changed after its password had been entered.",
            "Its owner edits the connection and enters the password again.",
            field="secret",
        )
