"""Delivers rows to a webhook in signed batches: `POST` of `{"delivery": …, "batch": 1, "rows": [{…}, …]}`.

Rows are spooled first, so that the batches are the same when a step is repeated: it continues after the last one that
was acknowledged. One that was on its way when the process died is sent again, under the same key. `http_delivery`
describes the signature.
"""

from __future__ import annotations

import base64
import json
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import quote, urlsplit

import httpx
from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from lakehold.connectors.address_guard import GuardedTransport, resolve_host
from lakehold.connectors.destinations import delivery
from lakehold.connectors.destinations.delivery import DeliveryProgress, DeliveryRequest, DeliveryResult, Destination
from lakehold.connectors.destinations.delivery_folder import RowSpool
from lakehold.connectors.destinations.file_formats import JSON_OPTIONS, refuse_invalid_fields, to_json_types
from lakehold.connectors.destinations.http_delivery import RESERVED_HEADERS, HttpPoster, RetryPolicy, SleepFunction
from lakehold.connectors.error_translation import translate_delivery_errors
from lakehold.connectors.redaction import hosts_of_url
from lakehold.connectors.registry import ConnectorEnvironment
from lakehold.connectors.webhook.connector import WebhookSettings
from lakehold.kit.errors import InvalidInputError, at_field
from lakehold.kit.ids import quote as quote_text

_MIN_SECRET_LENGTH, _MIN_PATH_SECRET_LENGTH = 4, 12
_HEADERS = {"Content-Type": "application/json", "User-Agent": "lakehold", "Accept-Encoding": "identity"}
_HEADER_NAME = re.compile(r"[A-Za-z0-9-]{1,100}")
_FORBIDDEN_HEADERS = {
    *RESERVED_HEADERS,
    *("host", "content-length", "content-type", "accept-encoding", "transfer-encoding"),
    *("connection", "expect", "upgrade"),
}
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class WebhookDestination:
    """The webhook that rows are delivered to."""

    url: str
    secret: str = field(default="", repr=False)
    """Shared with the receiver; batches are signed with it."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    batch: int = 500
    """How many rows at the most."""
    size: int = 1_000_000
    """How many bytes; a row that has more goes alone."""
    retry_policy: RetryPolicy = field(default_factory=RetryPolicy)
    private: bool = False
    """Whether private addresses and this machine itself are allowed, and so the plain http that is spoken there."""

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
                    message = f"The header {quote_text(name)} has letters that none can have."
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
            raise InvalidInputError("The address has a password in it.", "Send it as a header instead.")

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


def deliver_batches(  # noqa: PLR0917 - the first three are those of every delivery
    rows: DataFrame,
    how: WebhookDestination,
    mark: str,
    folder: str,
    progress: delivery.ProgressStore,
    wait: SleepFunction = time.sleep,
) -> DeliveryResult:
    """Send all rows, spooled in the folder until they are sent."""
    how.check()
    before = progress.read()
    if before is not None and before.ended:
        return _delivery_result(before, how, again=True)
    with translate_delivery_errors("The folder for rows on their way"):
        spool = _open_spool(mark, folder)
        doubt = _duplicate_warning(before, spool)
        spool.fill(
            refuse_invalid_fields(to_json_types(rows)).select(f.to_json(f.struct("*"), JSON_OPTIONS).alias("row"))
        )
        reached = replace(before or DeliveryProgress(), paused=False)
        # Who finds this after a crash knows that a batch may have left.
        progress.keep(reached)
        with http_client(how) as sending:
            poster = HttpPoster(sending, how.url, how.secret, how.redactions, how.retry_policy, wait)
            for batch in _json_batches(spool, reached.rows, how):
                reached = _send_batch(poster, mark, batch, reached, doubt, progress)
                progress.keep(reached)
                doubt = ""
        reached = replace(reached, ended=True)
        progress.keep(reached)
        spool.delete()
    return _delivery_result(reached, how)


def _open_spool(mark: str, folder: str) -> RowSpool:
    return RowSpool(Path(folder) / f".lakehold-{delivery.mark_digest(mark, 'webhook')}")


def _duplicate_warning(before: DeliveryProgress | None, spool: RowSpool) -> str:
    """Return a warning about possible duplicates, if the delivery was interrupted."""
    if before is None:
        return ""
    if before.rows and not spool.is_complete:
        return "The rows that were laid aside are gone and were read anew: some may have arrived twice or not at all."
    return "" if before.paused else _batch_duplicate_warning(before.parts + 1)


def _send_batch(  # noqa: PLR0917 - inner
    poster: HttpPoster,
    mark: str,
    batch: list[bytes],
    before: DeliveryProgress,
    doubt: str,
    progress: delivery.ProgressStore,
) -> DeliveryProgress:
    """Send one batch, and return the progress after it."""
    number = before.parts + 1
    body = b'{"delivery":%s,"batch":%d,"rows":[%s]}' % (json.dumps(mark).encode(), number, b",".join(batch))
    posted = poster.post(body, key=f"{delivery.mark_digest(mark)}-{number}", batch=number)
    if posted.error is not None:
        progress.keep(replace(before, paused=posted.sure and not doubt))
        raise posted.error
    new = doubt or ("" if posted.sure else _batch_duplicate_warning(number))
    return DeliveryProgress(
        number,
        before.rows + len(batch),
        before.size + len(body),
        before.sure and not new,
        words=" ".join(filter(None, (before.words, new))),
    )


def _batch_duplicate_warning(batch: int) -> str:
    return f"Batch {batch} may have arrived twice; both times with the same Idempotency-Key."


def _json_batches(spool: RowSpool, skip: int, how: WebhookDestination) -> Iterator[list[bytes]]:
    """Yield the rows as JSON in batches, without those that were sent."""
    rows: list[bytes] = []
    size = 0
    for some in spool.batches(skip):
        for text in some.column(0).to_pylist():
            row = text.encode()
            if rows and (len(rows) == how.batch or size + len(row) > how.size):
                yield rows
                rows, size = [], 0
            rows.append(row)
            size += len(row)
    if rows:
        yield rows


def http_client(how: WebhookDestination) -> httpx.Client:
    """Return an HTTP client that is guarded against private addresses and follows no redirects."""
    return httpx.Client(
        transport=GuardedTransport(private=how.private),
        headers={**_HEADERS, **how.headers},
        timeout=how.retry_policy.seconds,
        follow_redirects=False,
        trust_env=False,
    )


def _delivery_result(reached: DeliveryProgress, how: WebhookDestination, *, again: bool = False) -> DeliveryResult:
    return DeliveryResult(reached.rows, reached.size, (how.label,), reached.sure, again, reached.words, "its webhook")


def _decode_basic_password(word: str) -> str:
    """Return the password inside a basic authentication header."""
    try:
        return base64.b64decode(word, validate=True).decode().partition(":")[2]
    except ValueError:
        return ""


def open_destination(
    environment: ConnectorEnvironment, settings: WebhookSettings, request: DeliveryRequest
) -> Destination:
    """Open the webhook for one table."""
    secret, private = environment.secrets.get("secret", ""), environment.settings.private_addresses
    to = WebhookDestination(settings.address, secret, settings.headers, settings.batch, private=private)
    folder = str(request.retained_folder)
    return Destination(
        lambda: check_address(to),
        lambda rows: deliver_batches(rows, to, request.mark, folder, request.need_progress()),
    )


def check_address(hook: WebhookDestination) -> str:
    """Return that the address can be found, or refuse. Nothing is sent."""
    hook.check()
    parts = urlsplit(hook.url)
    resolve_host(parts.hostname or "", parts.port or _PORTS[parts.scheme], private=hook.private)
    return "The address can be found. Nothing was sent to it."
