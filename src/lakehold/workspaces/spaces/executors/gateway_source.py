"""A data connection behind a gateway as a source: the gateway reads it, and its parts are read here by Spark."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

# past the access filter: when the edge to a gateway was set, in an action that the caller may do
from lakehold.access.facts.tables import edge
from lakehold.catalog.credentials import credential_table
from lakehold.connectors.database.settings import POSTGRESQL, DatabaseSettings
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
from lakehold.lake.errors import DataError, SourceError
from lakehold.workspaces.spaces.gateways.status import READ
from lakehold.workspaces.spaces.gateways.work_orders import SAMPLE, STREAMS, OrderFailedError, OrderRequest, WorkOrder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakehold.connectors.settings import SourceSettings
    from lakehold.directory.request_context import RequestContext

_PROBE_SECONDS = 60
_PROBE_PATIENCE, _READ_PATIENCE = 5, 120
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
    settings: DatabaseSettings
    stored: Mapping[str, object]
    secrets: Mapping[str, str] = field(repr=False)
    key: str = ""
    """Names the read, so that it goes on where it was when the step is repeated."""
    one_snapshot: bool = False
    """Whether all rows have to be of one moment: behind a cursor, what was changed in between would be missed."""
    check_stopped: Callable[[], None] = lambda: None
    """Raises if nobody waits for the rows any more."""

    @property
    def redactions(self) -> tuple[str, ...]:
        """Hosts, user and secrets."""
        return (*hosts_of_url(self.settings.address), self.settings.user, *self.secrets.values())

    def streams(self) -> list[source.SourceStream]:
        """Return the tables and views with their fields."""
        found = self._probe(STREAMS)
        with _understood():
            return [_stream(each) for each in found["streams"]]

    def check(self) -> None:
        """Let the gateway connect."""
        self._probe(STREAMS)

    def sample(self, stream: str, limit: int) -> source.StreamSample:
        """Return fields and first rows."""
        found = self._probe(SAMPLE, stream=stream, limit=limit)
        with _understood():
            return source.StreamSample(_stream(found).fields or (), tuple(map(tuple, found["rows"])))

    def read(self, spark: SparkSession, stream: str, since: source.ReadSpan | None = None) -> source.IncomingRows:
        """Let the gateway send the rows, and read them when all have arrived."""
        body = {"stream": stream, "since": asdict(since) if since else None, "one_snapshot": self.one_snapshot}
        order = WorkOrder(self.platform, self.caller, self._request(READ, body, self.key and f"{self.key}/{stream}"))
        result, spool = self._wait(order, stream, _READ_PATIENCE, self.check_stopped), order.spool
        with _understood():
            parts = int(result["parts"])
        with ExitStack() as held:
            held.enter_context(spool.hold(parts))
            rows = source.filter_span(spark.read.parquet(str(spool.folder.absolute())), since)
            held.callback(order.close)
            total = None if since else lambda: spool.totals()[0]
            return source.IncomingRows(rows, total=total, on_close=held.pop_all().close)

    def _probe(self, kind: str, **body: object) -> Mapping[str, Any]:
        deadline = time.monotonic() + _PROBE_SECONDS

        def check() -> None:
            if time.monotonic() > deadline:
                message = f"It took longer than {_PROBE_SECONDS} seconds."
                raise LimitExceededError(message, "See whether the database answers the gateway.")

        order = WorkOrder(self.platform, self.caller, self._request(kind, body))
        try:
            return self._wait(order, str(body.get("stream", "")), _PROBE_PATIENCE, check)
        finally:
            # Rows of a sample are kept nowhere.
            order.close()

    def _request(self, kind: str, body: Mapping[str, object], key: str = "") -> OrderRequest:
        return OrderRequest(self.gateway, kind, {"settings": dict(self.stored), **body}, self.secrets, key)

    def _wait(self, order: WorkOrder, stream: str, patience: float, check: Callable[[], None]) -> Mapping[str, Any]:
        try:
            return order.wait(patience, check)
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
def _understood() -> Iterator[None]:
    """Refuse an answer that is not one of our gateways'."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise SourceError("The answer of the gateway cannot be read.", "Update or register the gateway.") from error


def _stream(found: Mapping[str, Any]) -> source.SourceStream:
    fields = tuple(StreamField(each["name"], each["type"]) for each in found["fields"])
    return source.SourceStream(found["name"], fields, incremental=True, keys=tuple(found["keys"]))


def open_gateway_source(
    platform: Platform,
    caller: Caller,
    gateway: str,
    *,
    settings: SourceSettings,
    stored: Mapping[str, object],
    secrets: Mapping[str, str],
) -> GatewaySource:
    """Open a connection behind a gateway, or refuse one that gateways cannot read."""
    if not isinstance(settings, DatabaseSettings) or not settings.address.startswith(POSTGRESQL):
        raise InvalidInputError(
            "Only databases of PostgreSQL can be read through a gateway.", "Leave out the gateway.", field="gateway"
        )
    return GatewaySource(platform, caller, gateway, settings, stored, secrets)


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
