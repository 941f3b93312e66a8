"""Posts one batch or message until it is accepted, or until it is clear that it will not be; and signs it.

- `Lakehold-Timestamp`: when it was sent, in seconds since 1970
- `Lakehold-Signature`: `v1=` and, in hexadecimal, the HMAC-SHA256 under the shared secret of the timestamp, a dot and
  the body, byte by byte. A receiver computes the same, compares in constant time, and refuses old timestamps.
- `Lakehold-Batch`: the number of the batch in its delivery, from 1
- `Idempotency-Key`: the same whenever this batch is sent. A receiver that has taken the key before answers 200 and does
  nothing.
"""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus

import httpx

from lakehold.connectors.address_guard import describe_tls_error, parse_retry_after
from lakehold.connectors.error_translation import shorten
from lakehold.kit.errors import LakeholdError, UnavailableError
from lakehold.lake.errors import DeliveryError

RESERVED_HEADERS = frozenset({"lakehold-timestamp", "lakehold-signature", "lakehold-batch", "idempotency-key"})
"""The names of headers that nobody else may set."""


def signed_headers(secret: str, at: int, body: bytes, *, key: str, batch: int) -> dict[str, str]:
    """Return the headers of a batch; without a secret it is not signed."""
    made = {"Idempotency-Key": key, "Lakehold-Batch": str(batch)}
    if secret:
        signature = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
        made |= {"Lakehold-Timestamp": str(at), "Lakehold-Signature": f"v1={signature}"}
    return made


_MAX_READ = 2_000
_MAX_MESSAGE = 200
_LONGEST_PAUSE = 30
_RETRY_STATUSES = frozenset({408, 425, 429})
# The one who answers is not the one who would know.
_UNCERTAIN_STATUSES = frozenset({502, 504})
_RESUME_HINT = "Run it again: it goes on here."

SleepFunction = Callable[[float], None]


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how long a receiver that does not answer is retried."""

    tries: int = 5
    seconds: float = 30
    """How long an answer may take."""
    longest_wait: float = 300
    """For how long a receiver may ask us to wait before the next try."""


@dataclass(frozen=True, slots=True)
class _FailedAttempt:
    """A failed attempt."""

    error: LakeholdError
    again: bool
    asked: float | None = None
    """How long the receiver wants us to wait."""
    doubtful: bool = False
    """Whether it may have been taken all the same."""


@dataclass(frozen=True, slots=True)
class PostResult:
    """Result of posting a batch."""

    error: LakeholdError | None
    """Why it was not taken."""
    sure: bool
    """Whether it was taken once, or not at all; never more."""


class HttpPoster:
    """Posts to one URL."""

    def __init__(  # noqa: PLR0917 - its parts
        self,
        client: httpx.Client,
        url: str,
        secret: str,
        hidden: tuple[str, ...],
        effort: RetryPolicy,
        wait: SleepFunction,
        word: str = "Batch {}",
    ) -> None:
        self._client, self._url, self._secret = client, url, secret
        self._hidden, self._effort, self._wait, self._word = hidden, effort, wait, word

    def post(self, body: bytes, *, key: str, batch: int) -> PostResult:
        """Post a body until it is accepted."""
        sure = True
        for number in range(1, self._effort.tries + 1):
            failed = self._attempt(body, key, batch)
            if failed is None:
                return PostResult(None, sure)
            sure = sure and not failed.doubtful
            pause = min(2.0 ** (number - 1), _LONGEST_PAUSE) if failed.asked is None else failed.asked
            if not failed.again or number == self._effort.tries:
                return PostResult(failed.error, sure)
            if pause > self._effort.longest_wait:
                words = f"{failed.error.message} It asks us to wait {pause:,.0f} seconds."
                return PostResult(UnavailableError(words, _RESUME_HINT), sure)
            self._wait(pause)
        raise AssertionError  # the last try returns

    def _attempt(self, body: bytes, key: str, batch: int) -> _FailedAttempt | None:
        made = signed_headers(self._secret, int(time.time()), body, key=key, batch=batch)
        try:
            with self._client.stream("POST", self._url, content=body, headers=made) as answer:
                message = self._read_message(answer)
                return self._check_status(answer.status_code, answer.headers, message, batch)
        except LakeholdError as error:
            # It leads where nothing may be sent to, or nowhere.
            return _FailedAttempt(error, again=isinstance(error, UnavailableError))
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            # A certificate does not change in a few seconds.
            return _FailedAttempt(self._unreachable_error(error, batch), again=not describe_tls_error(error))
        except httpx.HTTPError as error:
            return _FailedAttempt(self._unreachable_error(error, batch), again=True, doubtful=True)

    def _check_status(self, status: int, headers: Mapping[str, str], message: str, batch: int) -> _FailedAttempt | None:
        if 200 <= status < 300:  # noqa: PLR2004 - what HTTP calls success
            return None
        words = f"{status} {_status_phrase(status)}" + (f": {message}" if message else "")
        answered = f"{self._word.format(batch)} was not taken: the receiver answered {words}"
        if 300 <= status < 400:  # noqa: PLR2004 - what HTTP calls elsewhere
            hint = "What is signed goes nowhere else: give the address that it leads to."
            return _FailedAttempt(DeliveryError(f"{answered}.", hint), again=False)
        if status in _RETRY_STATUSES or status >= 500:  # noqa: PLR2004 - what HTTP calls the server's fault
            retry_after, doubtful = parse_retry_after(headers.get("retry-after")), status in _UNCERTAIN_STATUSES
            return _FailedAttempt(DeliveryError(f"{answered}.", _RESUME_HINT), True, retry_after, doubtful)
        return _FailedAttempt(DeliveryError(f"{answered}.", f"Correct it there or here. {_RESUME_HINT}"), again=False)

    def _read_message(self, answer: httpx.Response) -> str:
        """Return the beginning of the response; the rest is not read."""
        read, until = b"", time.monotonic() + self._effort.seconds
        # As it comes: what unpacks to much more than it was is not unpacked.
        for chunk in answer.iter_raw(_MAX_READ):
            read += chunk
            if len(read) >= _MAX_READ or time.monotonic() > until:
                break
        return shorten(read[:_MAX_READ].decode("utf-8", "replace"), *self._hidden, longest=_MAX_MESSAGE).rstrip(".")

    def _unreachable_error(self, error: httpx.HTTPError, batch: int) -> LakeholdError:
        slow = isinstance(error, httpx.TimeoutException)
        what = (
            f"gave no answer in {self._effort.seconds:g} seconds"
            if slow
            else describe_tls_error(error) or "cannot be reached"
        )
        message = f"{self._word.format(batch)} was not taken: the receiver {what}."
        return UnavailableError(message, f"Check the address. {_RESUME_HINT}", field="address")


def _status_phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "of a kind that nobody knows"
