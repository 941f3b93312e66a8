"""How long we wait until the next request."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from lakehold.kit.errors import UnavailableError
from lakehold.pipeline.connectors.inward.rest.settings import Limits


class Pace:
    """Lets requests go at their pace."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._next = 0.0

    def wait(self) -> None:
        """Wait until the next request may go."""
        if not self._limits.per_second:
            return
        now = time.monotonic()
        time.sleep(max(0.0, self._next - now))
        self._next = max(now, self._next) + 1 / self._limits.per_second

    def rest(self, tried: int, asked: str | None, where: str) -> None:
        """Wait before a request is made again, for as long as the API asks, or longer each time."""
        wanted = asked_for(asked)
        if wanted is not None and wanted > self._limits.longest_wait:
            raise UnavailableError(
                f"The API asks us to wait for {wanted:,.0f} seconds, at {where}.", "Run it again later, or less often."
            )
        time.sleep(min(max(wanted or 0.0, self._limits.backoff * 2**tried), self._limits.longest_wait))


def asked_for(text: str | None) -> float | None:
    """How many seconds a `Retry-After` asks for."""
    if not text:
        return None
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        at = parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(0.0, (at - datetime.now(UTC)).total_seconds()) if at.tzinfo else None
