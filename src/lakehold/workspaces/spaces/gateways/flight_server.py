"""The Arrow Flight server that gateways dial: it answers with their work orders, and stores the parts that they send.

Every call is authenticated by its token. Batches are taken one by one, and before each the gateway and its work order
are checked again: one that was revoked gets no further.
"""

import json
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

import pyarrow as pa
from pyarrow import flight

from lakehold.directory.errors import UnauthorizedError
from lakehold.directory.platform import Platform
from lakehold.kit.errors import BusyError, ConflictError, LakeholdError
from lakehold.workspaces.spaces.gateways.dispatch import GatewayDispatch, GatewayIdentity
from lakehold.workspaces.spaces.gateways.spool import PartsDifferError

_log = logging.getLogger("lakehold.gateways")
_MAX_PART_BYTES = 2_000_000_000
"""A gateway sends parts of some 30 MB, or a single row that is larger."""
_MAX_BODY_BYTES = 64_000_000
"""Of what is said beside the rows: more than any answer that is too large, and so is refused with a reason."""
_HEADER, _SCHEME, _MIDDLEWARE = "authorization", "Bearer ", "gateway"


class TokenMiddleware(flight.ServerMiddleware):  # type: ignore[misc]
    """Carries the identity of the gateway that calls."""

    def __init__(self, identity: GatewayIdentity) -> None:
        self.identity = identity


class TokenMiddlewareFactory(flight.ServerMiddlewareFactory):  # type: ignore[misc]
    """Authenticates each call by the token of its gateway."""

    def __init__(self, dispatch: GatewayDispatch) -> None:
        self._dispatch = dispatch

    def start_call(self, info: object, headers: Mapping[str, list[str]]) -> TokenMiddleware:
        """Return the identity of the caller, or refuse the call."""
        del info
        given = next(iter(headers.get(_HEADER, ())), "")
        try:
            return TokenMiddleware(self._dispatch.authenticate(given.removeprefix(_SCHEME)))
        except Exception as error:  # noqa: BLE001 - the edge of a call
            raise _as_flight_error(error) from None


class GatewayFlightServer(flight.FlightServerBase):  # type: ignore[misc]
    """The Flight server of gateways."""

    def __init__(self, platform: Platform, location: str, certificate: tuple[bytes, bytes]) -> None:
        self._dispatch = GatewayDispatch(platform)
        self._actions: Mapping[str, Callable[[GatewayIdentity, Mapping[str, Any]], dict[str, Any]]] = {
            "hello": self._dispatch.hello,
            "next": self._dispatch.next_orders,
            "take": self._dispatch.take,
            "log": self._dispatch.add_log,
            "finish": self._dispatch.finish,
            "rotate": self._dispatch.rotate,
        }
        super().__init__(
            location,
            tls_certificates=[certificate],
            middleware={_MIDDLEWARE: TokenMiddlewareFactory(self._dispatch)},
        )

    def do_action(self, context: flight.ServerCallContext, action: flight.Action) -> Iterator[flight.Result]:
        """Answer one of the calls."""
        call = self._actions.get(action.type)
        if call is None:
            raise flight.FlightServerError("There is no such action.")
        try:
            answer = call(_identity(context), _parse(action.body))
        except Exception as error:  # noqa: BLE001 - the edge of a call
            raise _as_flight_error(error) from None
        return iter([flight.Result(json.dumps(answer).encode())])

    def do_put(
        self,
        context: flight.ServerCallContext,
        descriptor: flight.FlightDescriptor,
        reader: flight.MetadataRecordBatchReader,
        writer: flight.FlightMetadataWriter,
    ) -> None:
        """Store a part of a table, and acknowledge it."""
        caller = _identity(context)
        try:
            body = _parse(descriptor.command)
            spool = self._dispatch.need_part(caller, body)
            batches = self._checked_batches(caller, body, reader)
            try:
                spool.add(int(body["part"]), reader.schema, batches, list(body["offset"]), caller.token.instance)
            except PartsDifferError:
                self._dispatch.take(caller, {**body, "anew": True})
                raise ConflictError("The columns have changed.", "Take the work order again.") from None
            with suppress(pa.ArrowException, OSError):
                # Whoever does not hear it any more sends the part again.
                writer.write(pa.py_buffer(b"stored"))
        except Exception as error:  # noqa: BLE001 - the edge of a call
            raise _as_flight_error(error) from None

    def _checked_batches(
        self, caller: GatewayIdentity, body: Mapping[str, Any], reader: flight.MetadataRecordBatchReader
    ) -> Iterator[pa.RecordBatch]:
        """Yield the batches; check after each one, also before the last is stored, that they may still come."""
        missing, size = int(body["rows"]), 0
        for chunk in reader:
            self._dispatch.need_part(caller, body)
            if chunk.data is not None:
                missing, size = missing - chunk.data.num_rows, size + chunk.data.nbytes
                if size > _MAX_PART_BYTES:
                    raise ValueError(size)
                yield chunk.data
        if missing:
            # A connection that is cut ends the batches like one that is finished.
            raise flight.FlightUnavailableError("The part did not arrive as a whole.")


def _identity(context: flight.ServerCallContext) -> GatewayIdentity:
    found: GatewayIdentity = context.get_middleware(_MIDDLEWARE).identity
    return found


def _parse(content: Any) -> dict[str, Any]:  # noqa: ANN401 - bytes or a buffer
    if len(content) > _MAX_BODY_BYTES:
        raise ValueError(len(content))
    found = json.loads(bytes(content) or b"{}")
    if not isinstance(found, dict):
        raise TypeError(found)
    return found


def _as_flight_error(error: Exception) -> Exception:
    """Return an error as the gateway gets it: with its text if it is one of ours."""
    found: Exception
    match error:
        case flight.FlightError() | pa.ArrowException():
            found = error
        case UnauthorizedError():
            found = flight.FlightUnauthenticatedError(error.code, json.dumps({"text": str(error)}).encode())
        case BusyError():
            found = flight.FlightUnavailableError(str(error))
        case LakeholdError():
            found = flight.FlightServerError(error.code, json.dumps({"code": error.code, "text": str(error)}).encode())
        case KeyError() | TypeError() | ValueError():
            found = flight.FlightServerError("The call cannot be understood.")
        case _:
            _log.error("a call of a gateway failed", exc_info=error)
            found = flight.FlightInternalError("Something went wrong on the side of the platform.")
    return found
