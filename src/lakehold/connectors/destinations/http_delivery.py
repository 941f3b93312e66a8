"""Posts one batch or message until it is accepted, or until it is clear that it will not be; and signs it.

- `Lakehold-Timestamp`: when it was sent, in seconds since 1970
- `Lakehold-Signature`: `v1=` and, in hexadecimal, the HMAC-SHA256 under the shared secret of the timestamp, a dot and
  the body, byte by byte. A receiver computes the same, compares in constant time, and refuses old timestamps.
- `Lakehold-Batch`: the number of the batch in its delivery, from 1
- `Idempotency-Key`: the same whenever this batch is sent. A receiver that has taken the key before answers 200 and does
  nothing.
"""

import base64
import hashlib
import hmac
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Self
from urllib.parse import quote

import httpx

from lakehold.connectors.address_guard import GuardedTransport, describe_tls_error, parse_retry_after, resolve_host
from lakehold.connectors.error_translation import hosts_of_url, shorten
from lakehold.kit.errors import InvalidInputError, LakeholdError, UnavailableError, at_field
from lakehold.kit.ids import quote as quote_text
from lakehold.kit.network_policy import ANY_HOST, HostList, PolicyList, target_of_url
from lakehold.lake.errors import DeliveryError

_MIN_SECRET_LENGTH, _MIN_PATH_SECRET_LENGTH = 4, 12
_HEADERS = {"Content-Type": "application/json", "User-Agent": "lakehold", "Accept-Encoding": "identity"}
_HEADER_NAME = re.compile(r"[A-Za-z0-9-]{1,100}")
# Those of a delivery itself, and those of HTTP.
_FORBIDDEN_HEADERS = {
    *("lakehold-timestamp", "lakehold-signature", "lakehold-batch", "idempotency-key"),
    *("host", "content-length", "content-type", "accept-encoding", "transfer-encoding"),
    *("connection", "expect", "upgrade"),
}
_KNOWN_STATUSES = frozenset(HTTPStatus)
_MAX_READ = 2_000
_MAX_MESSAGE = 200
_LONGEST_PAUSE, _LONGEST_RETRY_AFTER = 30, 300
"""Between two tries: as we choose it, and as a receiver may ask for it."""
_RETRY_STATUSES = frozenset({408, 425, 429})
# The one who answers is not the one who would know.
_UNCERTAIN_STATUSES = frozenset({502, 504})
_RESUME_HINT = "Run it again: it continues here."

SleepFunction = Callable[[float], None]


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """The retry policy: how often and how long a receiver that does not answer is retried."""

    tries: int = 5
    seconds: float = 30
    """How long an answer may take."""


@dataclass(frozen=True, slots=True)
class WebhookDestination:
    """The webhook that rows are delivered to."""

    url: str
    secret: str = field(default="", repr=False)
    """Shared with the receiver; batches are signed with it."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    batch: int = 500
    """How many rows at most."""
    size: int = 1_000_000
    """How many bytes; a row that has more goes alone."""
    retry_policy: RetryPolicy = field(default_factory=RetryPolicy)
    private: bool = False
    """Whether private addresses and this machine itself are allowed, and so the plain http that is spoken there."""
    hosts: HostList = ANY_HOST
    """Those that the tenant's network policy allows."""

    def check(self) -> None:
        """Refuse a webhook that cannot be posted to."""
        with at_field("address"):
            self._check_address()
        if self.batch < 1 or self.size < 1 or self.retry_policy.tries < 1:
            raise InvalidInputError("A batch has at least one row, and is tried at least once.", field="batch")
        with at_field("headers"):
            for name, value in self.headers.items():
                if not _HEADER_NAME.fullmatch(name) or name.lower() in _FORBIDDEN_HEADERS:
                    raise InvalidInputError(f"The header {quote_text(name)} cannot be set.", "Choose another name.")
                if not (value.isascii() and value.isprintable()):
                    message = f"The header {quote_text(name)} has characters that are not allowed."
                    raise InvalidInputError(message, "Use plain ASCII.")

    def _check_address(self) -> None:
        hint = "Write https://, the host and the path."
        try:
            parts = httpx.URL(self.url)
        except (httpx.InvalidURL, TypeError):
            raise InvalidInputError("The address of the receiver cannot be read.", hint) from None
        if parts.scheme not in ({"http", "https"} if self.private else {"https"}) or not parts.host:
            raise InvalidInputError("Rows are not sent to an address of this kind.", hint)
        if parts.userinfo:
            raise InvalidInputError("The address contains a password.", "Send it as a header instead.")

    def test(self) -> str:
        """Return that the address can be found, or refuse. Nothing is sent."""
        self.check()
        target = target_of_url(PolicyList.DESTINATIONS, self.url, "address")
        self.hosts.need(target.host, target.port)
        resolve_host(target.host, target.port, private=self.private)
        return "The host was found. Nothing was sent."

    @property
    def label(self) -> str:
        """The URL without query and fragment, which may be secret."""
        return str(httpx.URL(self.url).copy_with(query=None, fragment=None))

    @property
    def redactions(self) -> tuple[str, ...]:
        """Texts to redact from the receiver's replies: the secret, the values of headers and query, and the URL."""
        url = httpx.URL(self.url)
        values = [part for value in self.headers.values() for part in (value, *value.split())]
        values += [*url.params.values(), url.path, *(_decode_basic_password(each) for each in values)]
        # A part of the path that nobody would say otherwise is a secret, as in the addresses of chats.
        values += [part for part in url.path.split("/") if len(part) >= _MIN_PATH_SECRET_LENGTH]
        words = {form for word in values if len(word) >= _MIN_SECRET_LENGTH for form in (word, quote(word, safe=""))}
        return (self.secret, self.url, *hosts_of_url(self.url), *words)


def _decode_basic_password(word: str) -> str:
    """Return the password inside a basic authentication header."""
    try:
        return base64.b64decode(word, validate=True).decode().partition(":")[2]
    except ValueError:
        return ""


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

    def __init__(self, to: WebhookDestination, wait: SleepFunction, word: str = "Batch {}") -> None:
        self._to, self._wait, self._word = to, wait, word
        # It is guarded against private addresses and follows no redirects.
        self._client = httpx.Client(
            transport=GuardedTransport(private=to.private, hosts=to.hosts),
            headers={**_HEADERS, **to.headers},
            timeout=to.retry_policy.seconds,
            follow_redirects=False,
            trust_env=False,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def post(self, body: bytes, *, key: str, batch: int) -> PostResult:
        """Post a body until it is accepted."""
        sure = True
        for number in range(1, self._to.retry_policy.tries + 1):
            failed = self._attempt(body, key, batch)
            if failed is None:
                return PostResult(None, sure)
            sure = sure and not failed.doubtful
            pause = min(2.0 ** (number - 1), _LONGEST_PAUSE) if failed.asked is None else failed.asked
            if not failed.again or number == self._to.retry_policy.tries:
                return PostResult(failed.error, sure)
            if pause > _LONGEST_RETRY_AFTER:
                words = f"{failed.error.message} It asks us to wait {pause:,.0f} seconds."
                return PostResult(UnavailableError(words, _RESUME_HINT, foreign=failed.error.foreign), sure)
            self._wait(pause)
        raise AssertionError  # the last try returns

    def _attempt(self, body: bytes, key: str, batch: int) -> _FailedAttempt | None:
        headers, at = {"Idempotency-Key": key, "Lakehold-Batch": str(batch)}, str(int(time.time()))
        if self._to.secret:
            signature = hmac.new(self._to.secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
            headers |= {"Lakehold-Timestamp": at, "Lakehold-Signature": f"v1={signature}"}
        try:
            with self._client.stream("POST", self._to.url, content=body, headers=headers) as answer:
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
        phrase = HTTPStatus(status).phrase if status in _KNOWN_STATUSES else "with an unknown status"
        words = f"{status} {phrase}" + (f": {message}" if message else "")
        answered = f"{self._word.format(batch)} was not accepted: the receiver answered {words}"
        if 300 <= status < 400:  # noqa: PLR2004 - what HTTP calls elsewhere
            hint = "Signed requests follow no redirects: enter the target address."
            return _FailedAttempt(DeliveryError(f"{answered}.", hint, foreign=message), again=False)
        if status in _RETRY_STATUSES or status >= 500:  # noqa: PLR2004 - what HTTP calls the server's fault
            retry_after, doubtful = parse_retry_after(headers.get("retry-after")), status in _UNCERTAIN_STATUSES
            error = DeliveryError(f"{answered}.", _RESUME_HINT, foreign=message)
            return _FailedAttempt(error, True, retry_after, doubtful)
        hint = f"Correct it there or here. {_RESUME_HINT}"
        return _FailedAttempt(DeliveryError(f"{answered}.", hint, foreign=message), again=False)

    def _read_message(self, answer: httpx.Response) -> str:
        """Return the beginning of the response; the rest is not read."""
        read, until = b"", time.monotonic() + self._to.retry_policy.seconds
        # As it comes: what unpacks to much more than it was is not unpacked.
        for chunk in answer.iter_raw(_MAX_READ):
            read += chunk
            if len(read) >= _MAX_READ or time.monotonic() > until:
                break
        text = read[:_MAX_READ].decode("utf-8", "replace")
        return shorten(text, *self._to.redactions, longest=_MAX_MESSAGE).rstrip(".")

    def _unreachable_error(self, error: httpx.HTTPError, batch: int) -> LakeholdError:
        what = describe_tls_error(error) or "cannot be reached"
        if isinstance(error, httpx.TimeoutException):
            what = f"did not answer within {self._to.retry_policy.seconds:g} seconds"
        message = f"{self._word.format(batch)} was not accepted: the receiver {what}."
        return UnavailableError(message, f"Check the address. {_RESUME_HINT}", field="address")
