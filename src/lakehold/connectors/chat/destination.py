"""Delivers a message to a chat: `POST` of `{"text": …}` to an incoming webhook of Slack or a compatible service.

The URL is a secret, as anybody who knows it may post there: it is in no log, no response and no place that a run names.
A chat keeps no keys: a message that was on its way when the process died is sent again, and the run says so.
"""

import json
import re
import time
from dataclasses import dataclass, field

import httpx
from pyspark.sql import DataFrame

from lakehold.connectors.chat.connector import ADDRESS, ChatSettings
from lakehold.connectors.destinations import delivery
from lakehold.connectors.destinations.delivery import DeliveryProgress, DeliveryRequest, DeliveryResult, Destination
from lakehold.connectors.destinations.http_delivery import HttpPoster, PostResult, SleepFunction, WebhookDestination
from lakehold.connectors.registry import ConnectorEnvironment
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.network_policy import PolicyList
from lakehold.lake.errors import DataError

MAYBE_TWICE = "The message may have been sent twice."
_MIN_SECRET_LENGTH, _MAX_LENGTH = 4, 39_000


@dataclass(frozen=True, slots=True)
class ChatDestination(WebhookDestination):
    """The chat that a message is posted to."""

    url: str = field(repr=False)

    def check(self) -> None:
        """Refuse a destination that cannot be posted to."""
        if not self.url:
            raise InvalidInputError("The destination has no address.", "Set the credential address.", field="address")
        WebhookDestination.check(self)

    @property
    def label(self) -> str:
        """Label of the chat for messages: its host only."""
        return f"a chat at {httpx.URL(self.url).host}"

    @property
    def redactions(self) -> tuple[str, ...]:
        """Texts to redact from the chat's replies."""
        words = {word for word in re.split(r"[/?&=#]", self.url) if len(word) >= _MIN_SECRET_LENGTH}
        return (self.url, *sorted(words - {httpx.URL(self.url).host}, key=len, reverse=True))


def deliver_message(  # noqa: PLR0917 - the parts of a delivery
    text: str,
    rows: int,
    how: ChatDestination,
    mark: str,
    progress: delivery.ProgressStore,
    wait: SleepFunction = time.sleep,
) -> DeliveryResult:
    """Post the message once; `rows` is how many rows it reports on."""
    how.check()
    if len(text) > _MAX_LENGTH:
        raise DataError("The message is too long for a chat.", "Use fewer tables, or fewer columns.")
    before = progress.read()
    if before is not None and before.ended:
        return before.to_result((how.label,), "a chat", again=True)
    doubt = before is not None and not before.paused
    # Who finds this after a crash knows that the message may have left.
    progress.keep(DeliveryProgress(rows=rows, paused=False))
    posted = _post_message(text, how, mark, wait)
    if posted.error is not None:
        progress.keep(DeliveryProgress(rows=rows, paused=posted.sure and not doubt))
        raise posted.error
    sure = posted.sure and not doubt
    reached = DeliveryProgress(1, rows, len(text.encode()), sure, ended=True, words="" if sure else MAYBE_TWICE)
    progress.keep(reached)
    return reached.to_result((how.label,), "a chat")


def _post_message(text: str, how: ChatDestination, mark: str, wait: SleepFunction) -> PostResult:
    body = json.dumps({"text": text}, ensure_ascii=False).encode()
    with HttpPoster(how, wait, word="The message") as poster:
        return poster.post(body, key=delivery.mark_digest(mark, "chat"), batch=1)


def open_destination(
    environment: ConnectorEnvironment, _settings: ChatSettings, request: DeliveryRequest
) -> Destination:
    """Open the chat for one message."""
    address, private = environment.secrets.get(ADDRESS, ""), environment.settings.private_addresses
    to = ChatDestination(address, private=private, hosts=environment.policy.hosts(PolicyList.DESTINATIONS))

    def send(_rows: DataFrame) -> DeliveryResult:
        message = request.message
        assert message is not None  # noqa: S101 - only what has a message is sent to a chat
        return deliver_message(message.chat, message.rows, to, request.mark, request.need_progress())

    return Destination(to.test, send)
