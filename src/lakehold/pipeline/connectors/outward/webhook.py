"""Rows to an address, in batches: `POST` of `{"delivery": …, "batch": 1, "rows": [{…}, …]}`, signed (see `signing`).

Rows are laid aside at first, so that the batches are the same when a step is run again: it goes on after the last one
that was acknowledged. One that was on its way when the process died is sent again, under the same key.
"""

from __future__ import annotations

import base64
import json
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import quote

import httpx
from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote as quote_text
from lakehold.pipeline.connectors.outward.addresses import Guarded
from lakehold.pipeline.connectors.outward.delivered import Delivered, digest
from lakehold.pipeline.connectors.outward.folder import Folder
from lakehold.pipeline.connectors.outward.plain import JSON, checked, timeless
from lakehold.pipeline.connectors.outward.posting import Effort, Poster, Wait
from lakehold.pipeline.connectors.outward.progress import Progress, Reached
from lakehold.pipeline.connectors.outward.signing import OURS
from lakehold.pipeline.connectors.outward.spool import Spool
from lakehold.pipeline.connectors.outward.trouble import told
from lakehold.pipeline.connectors.veiling import hosts

_SHORTEST, _LONG = 4, 12
_HEADERS = {"Content-Type": "application/json", "User-Agent": "lakehold", "Accept-Encoding": "identity"}
_NAME = re.compile(r"[A-Za-z0-9-]{1,100}")
_NOT_YOURS = OURS | {
    "host",
    "content-length",
    "content-type",
    "accept-encoding",
    "transfer-encoding",
    "connection",
    "expect",
    "upgrade",
}


@dataclass(frozen=True, slots=True)
class Webhook:
    """Where the rows go."""

    url: str
    secret: str = field(default="", repr=False)
    """Shared with the receiver; batches are signed with it."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    batch: int = 500
    """How many rows at the most."""
    size: int = 1_000_000
    """How many bytes; a row that has more goes alone."""
    effort: Effort = field(default_factory=Effort)
    private: bool = False
    """Whether private addresses and this machine itself are allowed, and so the plain http that is spoken there."""

    def check(self) -> None:
        """Refuse what cannot be sent to."""
        try:
            parts = httpx.URL(self.url)
        except (httpx.InvalidURL, TypeError):
            raise InvalidInputError(
                "The address of the receiver cannot be read.", "Write https://, the host and the path."
            ) from None
        if parts.scheme not in ({"http", "https"} if self.private else {"https"}) or not parts.host:
            raise InvalidInputError(
                "Rows are not sent to an address of this kind.", "Write https://, the host and the path."
            )
        if parts.userinfo:
            raise InvalidInputError("The address has a password in it.", "Send it as a header instead.")
        if self.batch < 1 or self.size < 1 or self.effort.tries < 1:
            raise InvalidInputError("A batch has at least one row, and is tried at least once.")
        for name, value in self.headers.items():
            if not _NAME.fullmatch(name) or name.lower() in _NOT_YOURS:
                raise InvalidInputError(f"The header {quote_text(name)} cannot be set.", "Choose another name.")
            if not (value.isascii() and value.isprintable()):
                raise InvalidInputError(
                    f"The header {quote_text(name)} has letters that none can have.", "Use plain ASCII."
                )

    @property
    def place(self) -> str:
        """The address as people may read it: what stands after the path may be a secret."""
        return str(httpx.URL(self.url).copy_with(query=None, fragment=None))

    @property
    def hidden(self) -> tuple[str, ...]:
        """What a receiver may repeat and nobody may read: the secret, the words of headers and of the query, and where
        it is.
        """
        url = httpx.URL(self.url)
        values = [part for value in self.headers.values() for part in (value, *value.split())]
        values += [*url.params.values(), url.path, *(_unpacked(each) for each in values)]
        # A part of the path that nobody would say otherwise is a secret, as in the addresses of chats.
        values += [part for part in url.path.split("/") if len(part) >= _LONG]
        words = {form for word in values if len(word) >= _SHORTEST for form in (word, quote(word, safe=""))}
        return (self.secret, self.url, *hosts(self.url), *words)


def deliver(  # noqa: PLR0917 - the first three are those of every delivery
    rows: DataFrame, how: Webhook, mark: str, folder: str, progress: Progress, wait: Wait = time.sleep
) -> Delivered:
    """Send all rows. They are laid aside in the folder until they are sent."""
    how.check()
    before = progress.read()
    if before is not None and before.ended:
        return _told(before, how, again=True)
    with told("The folder for rows on their way"):
        spool = _spool(mark, folder)
        doubt = _doubt(before, spool)
        spool.fill(checked(timeless(rows)).select(f.to_json(f.struct("*"), JSON).alias("row")))
        reached = replace(before or Reached(), paused=False)
        # Who finds this after a crash knows that a batch may have left.
        progress.keep(reached)
        with client(how) as sending:
            poster = Poster(sending, how.url, how.secret, how.hidden, how.effort, wait)
            for batch in _batches(spool, reached.rows, how):
                reached = _sent(poster, mark, batch, reached, doubt, progress)
                progress.keep(reached)
                doubt = ""
        reached = replace(reached, ended=True)
        progress.keep(reached)
        spool.end()
    return _told(reached, how)


def forget(mark: str, folder: str) -> None:
    """The rows that were laid aside are no longer needed: nobody will go on with this delivery."""
    _spool(mark, folder).end()


def _spool(mark: str, folder: str) -> Spool:
    return Spool(Folder(folder).sub(f".lakehold-{digest(mark, 'webhook')}"))


def _doubt(before: Reached | None, spool: Spool) -> str:
    """What may have happened when the process died, if the delivery was begun before."""
    if before is None:
        return ""
    if before.rows and not spool.complete:
        return "The rows that were laid aside are gone and were read anew: some may have arrived twice or not at all."
    return "" if before.paused else _twice(before.parts + 1)


def _sent(  # noqa: PLR0917 - inner
    poster: Poster, mark: str, batch: list[bytes], before: Reached, doubt: str, progress: Progress
) -> Reached:
    """Send one batch, and say how far it has come then."""
    number = before.parts + 1
    body = b'{"delivery":%s,"batch":%d,"rows":[%s]}' % (json.dumps(mark).encode(), number, b",".join(batch))
    posted = poster.post(body, key=f"{digest(mark)}-{number}", batch=number)
    if posted.error is not None:
        progress.keep(replace(before, paused=posted.sure and not doubt))
        raise posted.error
    new = doubt or ("" if posted.sure else _twice(number))
    return Reached(
        number,
        before.rows + len(batch),
        before.size + len(body),
        before.sure and not new,
        words=" ".join(filter(None, (before.words, new))),
    )


def _twice(batch: int) -> str:
    return f"Batch {batch} may have arrived twice; both times with the same Idempotency-Key."


def _batches(spool: Spool, skip: int, how: Webhook) -> Iterator[list[bytes]]:
    """The rows as JSON, in batches, without those that were sent."""
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


def client(how: Webhook) -> httpx.Client:
    """What sends to the address, and to no other that it may lead to."""
    return httpx.Client(
        transport=Guarded(private=how.private),
        headers={**_HEADERS, **how.headers},
        timeout=how.effort.seconds,
        follow_redirects=False,
        trust_env=False,
    )


def _told(reached: Reached, how: Webhook, *, again: bool = False) -> Delivered:
    return Delivered(reached.rows, reached.size, (how.place,), reached.sure, again, reached.words, "its webhook")


def _unpacked(word: str) -> str:
    """The password that a header has packed up."""
    try:
        return base64.b64decode(word, validate=True).decode().partition(":")[2]
    except ValueError:
        return ""
