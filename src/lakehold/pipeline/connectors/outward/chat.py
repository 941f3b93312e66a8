"""A message to a chat: `POST` of `{"text": …}` to an address that Slack, and whoever speaks like it, has given out.

Whoever knows the address may write there, so it is a secret: it is in no log, no answer and no place that a run names.
A chat keeps no keys: a message that was on its way when the process died is sent again, and the run says so.
"""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass, field

import httpx

from lakehold.kit.errors import InvalidInputError
from lakehold.pipeline.connectors.outward.delivered import Delivered, digest
from lakehold.pipeline.connectors.outward.posting import Effort, Posted, Poster, Wait
from lakehold.pipeline.connectors.outward.progress import Progress, Reached
from lakehold.pipeline.connectors.outward.webhook import Webhook, client
from lakehold.pipeline.errors import DataError

TWICE = "The message may have been sent twice."
_SHORTEST, _LONGEST = 4, 39_000


@dataclass(frozen=True, slots=True)
class Chat:
    """Where it is said."""

    address: str = field(repr=False)
    effort: Effort = field(default_factory=Effort)
    private: bool = False
    """Whether private addresses and this machine itself are allowed."""

    def check(self) -> None:
        """Refuse what cannot be written to."""
        if not self.address:
            raise InvalidInputError("The destination has no address.", "Set the credential address.")
        self.hook.check()

    @property
    def hook(self) -> Webhook:
        """The same as an address for rows."""
        return Webhook(self.address, effort=self.effort, private=self.private)

    @property
    def place(self) -> str:
        """What people may read of it: on which host the chat is."""
        return f"a chat at {httpx.URL(self.address).host}"

    @property
    def hidden(self) -> tuple[str, ...]:
        """What a chat may repeat and nobody may read."""
        words = {word for word in re.split(r"[/?&=#]", self.address) if len(word) >= _SHORTEST}
        return (self.address, *sorted(words - {httpx.URL(self.address).host}, key=len, reverse=True))


def deliver(text: str, rows: int, how: Chat, mark: str, progress: Progress, wait: Wait = time.sleep) -> Delivered:  # noqa: PLR0917 - the parts of a delivery
    """Say it once, of so many rows."""
    how.check()
    if len(text) > _LONGEST:
        raise DataError("The message is too long for a chat.", "Use fewer tables, or fewer columns.")
    before = progress.read()
    if before is not None and before.ended:
        return _told(before, how, again=True)
    doubt = before is not None and not before.paused
    # Who finds this after a crash knows that the message may have left.
    progress.keep(Reached(rows=rows, paused=False))
    posted = _posted(text, how, mark, wait)
    if posted.error is not None:
        progress.keep(Reached(rows=rows, paused=posted.sure and not doubt))
        raise posted.error
    sure = posted.sure and not doubt
    reached = Reached(1, rows, len(text.encode()), sure, ended=True, words="" if sure else TWICE)
    progress.keep(reached)
    return _told(reached, how)


def _posted(text: str, how: Chat, mark: str, wait: Wait) -> Posted:
    body = json.dumps({"text": text}, ensure_ascii=False).encode()
    with client(how.hook) as sending:
        poster = Poster(sending, how.address, "", how.hidden, how.effort, wait, word="The message")
        return poster.post(body, key=digest(mark, "chat"), batch=1)


def _told(reached: Reached, how: Chat, *, again: bool = False) -> Delivered:
    return Delivered(reached.rows, reached.size, (how.place,), reached.sure, again, reached.words, "a chat")
