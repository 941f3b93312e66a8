"""The calls of a gateway to the platform, each with a token that it signs for it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import pyarrow as pa
from pyarrow import flight

from lakehold.kit.clock import now
from lakehold.workspaces.spaces.gateways.agent.identity_folder import GatewayConfiguration
from lakehold.workspaces.spaces.gateways.key_pairs import GatewayToken

_CALL_SECONDS, _PART_SECONDS = 15.0, 60.0
"""How long a call may take; a connection that is half open is noticed by it."""
_CHANNEL = [
    ("grpc.initial_reconnect_backoff_ms", 200),
    ("grpc.min_reconnect_backoff_ms", 2_000),
    ("grpc.max_reconnect_backoff_ms", 2_000),
]


class GatewayRefusedError(Exception):
    """The platform does not know this gateway, or not any more: it ends."""


class ConnectionLostError(Exception):
    """The platform cannot be reached at the moment: the call is repeated."""


class OrderGoneError(Exception):
    """The work order has ended, or was cancelled."""


class OrderMovedError(Exception):
    """The platform has another part of the work order than this process thinks: it is taken again."""


class PlatformClient:
    """Calls the platform as one process of the gateway."""

    def __init__(self, found: GatewayConfiguration, instance: str) -> None:
        self.configuration, self._instance = found, instance
        self._client = flight.FlightClient(
            f"grpc+tls://{found.address}", tls_root_certs=found.authority, generic_options=_CHANNEL
        )

    def call(self, action: str, body: Mapping[str, object]) -> dict[str, Any]:
        """Return the answer to a call."""
        with _translated():
            sent = flight.Action(action, json.dumps(dict(body)).encode())
            (answer,) = self._client.do_action(sent, self._options(_CALL_SECONDS))
            found: dict[str, Any] = json.loads(answer.body.to_pybytes())
            return found

    def send_part(self, body: Mapping[str, object], batches: Sequence[pa.RecordBatch]) -> None:
        """Send a part of a table; it is stored when this returns."""
        descriptor = flight.FlightDescriptor.for_command(json.dumps(dict(body)).encode())
        with _translated():
            writer, reader = self._client.do_put(descriptor, batches[0].schema, self._options(_PART_SECONDS))
            try:
                for batch in batches:
                    writer.write_batch(batch)
                writer.done_writing()
                stored = reader.read()
            except (pa.ArrowException, OSError):
                # The reason is with the end of the call, not with what could not be written to it.
                writer.close()
                raise
            writer.close()
            if stored is None:
                raise ConnectionLostError("it was cut")

    def close(self) -> None:
        """Close the connection."""
        with suppress(pa.ArrowException):
            self._client.close()

    def _options(self, seconds: float) -> flight.FlightCallOptions:
        found = self.configuration
        token = GatewayToken(found.tenant, found.gateway, self._instance, now()).sign(found.keys)
        return flight.FlightCallOptions(timeout=seconds, headers=[(b"authorization", f"Bearer {token}".encode())])


@contextmanager
def _translated() -> Iterator[None]:
    """Translate the errors of Flight into those that a gateway tells apart."""
    try:
        yield
    except flight.FlightUnauthenticatedError as error:
        raise GatewayRefusedError(_refusal(error)) from error
    except flight.FlightError as error:
        code = _code(error)
        if code == "not_found":
            raise OrderGoneError from error
        if code == "conflict":
            raise OrderMovedError from error
        late = isinstance(error, flight.FlightTimedOutError)
        raise ConnectionLostError("no answer in time" if late else "the platform cannot be reached") from error
    except (pa.ArrowException, OSError) as error:
        raise ConnectionLostError("it was cut") from error


def _code(error: flight.FlightError) -> str:
    with suppress(ValueError, TypeError, AttributeError):
        return str(json.loads(error.extra_info).get("code", ""))
    return ""


def _refusal(error: flight.FlightError) -> str:
    """Return why the platform refuses this gateway; a call that does not even begin brings no reason."""
    with suppress(ValueError, TypeError, AttributeError):
        return str(json.loads(error.extra_info)["text"])
    return "The gateway is not registered, or not any more. Register it with a new code."
