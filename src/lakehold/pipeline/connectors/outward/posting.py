"""Sends one batch, or one message, until it is taken, or until it is clear that it will not be."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus

import httpx

from lakehold.kit.errors import LakeholdError, UnavailableError
from lakehold.pipeline.connectors.outward import signing
from lakehold.pipeline.connectors.outward.addresses import tls
from lakehold.pipeline.connectors.outward.trouble import short
from lakehold.pipeline.errors import DeliveryError

_READ = 2_000
_SHOWN = 200
_LONGEST_PAUSE = 30
_LATER = frozenset({408, 425, 429})
# The one who answers is not the one who would know.
_DOUBTFUL = frozenset({502, 504})
_ON = "Run it again: it goes on here."

Wait = Callable[[float], None]


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is done about a receiver that does not answer, or not now."""

    tries: int = 5
    seconds: float = 30
    """How long an answer may take."""
    longest_wait: float = 300
    """For how long a receiver may ask us to wait before the next try."""


@dataclass(frozen=True, slots=True)
class _Failed:
    """One try that came to nothing."""

    error: LakeholdError
    again: bool
    asked: float | None = None
    """How long the receiver wants us to wait."""
    doubtful: bool = False
    """Whether it may have been taken all the same."""


@dataclass(frozen=True, slots=True)
class Posted:
    """What became of a batch."""

    error: LakeholdError | None
    """Why it was not taken."""
    sure: bool
    """Whether it was taken once, or not at all; never more."""


class Poster:
    """Sends to one address."""

    def __init__(  # noqa: PLR0917 - its parts
        self,
        client: httpx.Client,
        url: str,
        secret: str,
        hidden: tuple[str, ...],
        effort: Effort,
        wait: Wait,
        word: str = "Batch {}",
    ) -> None:
        self._client, self._url, self._secret = client, url, secret
        self._hidden, self._effort, self._wait, self._word = hidden, effort, wait, word

    def post(self, body: bytes, *, key: str, batch: int) -> Posted:
        """Send it until it is taken."""
        sure = True
        for number in range(1, self._effort.tries + 1):
            failed = self._tried(body, key, batch)
            if failed is None:
                return Posted(None, sure)
            sure = sure and not failed.doubtful
            pause = min(2.0 ** (number - 1), _LONGEST_PAUSE) if failed.asked is None else failed.asked
            if not failed.again or number == self._effort.tries:
                return Posted(failed.error, sure)
            if pause > self._effort.longest_wait:
                words = f"{failed.error.message} It asks us to wait {pause:,.0f} seconds."
                return Posted(UnavailableError(words, _ON), sure)
            self._wait(pause)
        raise AssertionError  # the last try returns

    def _tried(self, body: bytes, key: str, batch: int) -> _Failed | None:
        made = signing.headers(self._secret, int(time.time()), body, key=key, batch=batch)
        try:
            with self._client.stream("POST", self._url, content=body, headers=made) as answer:
                said = self._said(answer)
                return self._judged(answer.status_code, answer.headers, said, batch)
        except LakeholdError as error:
            # It leads where nothing may be sent to, or nowhere.
            return _Failed(error, again=isinstance(error, UnavailableError))
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            # A certificate does not change in a few seconds.
            return _Failed(self._silent(error, batch), again=not tls(error))
        except httpx.HTTPError as error:
            return _Failed(self._silent(error, batch), again=True, doubtful=True)

    def _judged(self, status: int, headers: Mapping[str, str], said: str, batch: int) -> _Failed | None:
        if 200 <= status < 300:  # noqa: PLR2004 - what HTTP calls success
            return None
        words = f"{status} {_phrase(status)}" + (f": {said}" if said else "")
        answered = f"{self._word.format(batch)} was not taken: the receiver answered {words}"
        if 300 <= status < 400:  # noqa: PLR2004 - what HTTP calls elsewhere
            hint = "What is signed goes nowhere else: give the address that it leads to."
            return _Failed(DeliveryError(f"{answered}.", hint), again=False)
        if status in _LATER or status >= 500:  # noqa: PLR2004 - what HTTP calls the server's fault
            asked = _asked(headers.get("retry-after", ""))
            return _Failed(DeliveryError(f"{answered}.", _ON), again=True, asked=asked, doubtful=status in _DOUBTFUL)
        return _Failed(DeliveryError(f"{answered}.", f"Correct it there or here. {_ON}"), again=False)

    def _said(self, answer: httpx.Response) -> str:
        """The beginning of the answer; the rest of it is not read."""
        read, until = b"", time.monotonic() + self._effort.seconds
        # As it comes: what unpacks to much more than it was is not unpacked.
        for chunk in answer.iter_raw(_READ):
            read += chunk
            if len(read) >= _READ or time.monotonic() > until:
                break
        return short(read[:_READ].decode("utf-8", "replace"), *self._hidden, longest=_SHOWN).rstrip(".")

    def _silent(self, error: httpx.HTTPError, batch: int) -> LakeholdError:
        slow = isinstance(error, httpx.TimeoutException)
        what = f"gave no answer in {self._effort.seconds:g} seconds" if slow else tls(error) or "cannot be reached"
        said = f"{self._word.format(batch)} was not taken: the receiver {what}."
        return UnavailableError(said, f"Check the address. {_ON}")


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "of a kind that nobody knows"


def _asked(text: str) -> float | None:
    """How long to wait, as seconds or until a date."""
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        until = parsedate_to_datetime(text)
    except ValueError:
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())
