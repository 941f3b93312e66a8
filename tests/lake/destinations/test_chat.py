"""A message to a real HTTP server that answers as a chat does."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from lakehold.connectors.chat.destination import MAYBE_TWICE, ChatDestination, deliver_message
from lakehold.connectors.destinations.delivery import DeliveryProgress
from lakehold.connectors.destinations.http_delivery import RetryPolicy
from lakehold.kit.errors import InvalidInputError, UnavailableError
from lakehold.lake.errors import DataError, DeliveryError
from tests.lake.destinations.receiver import GONE, Answer, ProgressRecord, Receiver, run_receiver

USER, NOWHERE = "user:word", "nowhere.invalid"
SECRET = "/services/T0001/B0002/xyzzyx"


@pytest.fixture
def other() -> Iterator[Receiver]:
    with run_receiver() as made:
        yield made


@pytest.fixture
def how(other: Receiver) -> ChatDestination:
    return ChatDestination(
        f"http://127.0.0.1:{other.port}{SECRET}", retry_policy=RetryPolicy(tries=3, seconds=5), private=True
    )


def never(_: float) -> None:
    raise AssertionError("Nothing should have to wait.")


def test_it_is_said_once(other: Receiver, how: ChatDestination) -> None:
    book = ProgressRecord()
    done = deliver_message("*Zoë* &amp; co", 3, how, "run 1", book, never)
    assert [json.loads(request.body) for request in other.requests] == [{"text": "*Zoë* &amp; co"}]
    assert other.requests[0].path == SECRET
    assert (done.rows, done.sure, done.words, done.places) == (3, True, "", ("a chat at 127.0.0.1",))
    again = deliver_message("something else", 3, how, "run 1", book, never)
    assert (again.again, len(other.requests)) == (True, 1)


def test_who_died_while_it_was_on_its_way_says_that_it_may_be_there_twice(
    other: Receiver, how: ChatDestination
) -> None:
    done = deliver_message("hello", 1, how, "run 1", ProgressRecord(DeliveryProgress(rows=1)), never)
    assert (len(other.requests), done.sure, done.words) == (1, False, MAYBE_TWICE)


def test_what_was_refused_is_said_anew_without_a_doubt(other: Receiver, how: ChatDestination) -> None:
    other.answers = [Answer(404, b"no_service")]
    book = ProgressRecord()
    with pytest.raises(
        DeliveryError, match="The message was not accepted: the receiver answered 404 Not Found: no_serv"
    ):
        deliver_message("hello", 1, how, "run 1", book, never)
    assert deliver_message("hello", 1, how, "run 1", book, never).sure


def test_a_chat_that_breaks_off_may_have_it_already(other: Receiver, how: ChatDestination) -> None:
    other.answers = [Answer(GONE)]
    done = deliver_message("hello", 1, how, "run 1", ProgressRecord(), lambda _: None)
    assert (len(other.requests), done.sure, done.words) == (2, False, MAYBE_TWICE)


def test_a_chat_that_asks_for_patience_gets_it(other: Receiver, how: ChatDestination) -> None:
    other.answers = [Answer(429, headers={"Retry-After": "7"})]
    waited: list[float] = []
    assert deliver_message("hello", 1, how, "run 1", ProgressRecord(), waited.append).sure
    assert waited == [7]


def test_the_address_is_led_nowhere_and_told_nobody(other: Receiver, how: ChatDestination) -> None:
    other.answers = [Answer(302, SECRET.encode(), {"Location": f"http://127.0.0.1:{other.port}/elsewhere"})]
    with pytest.raises(DeliveryError) as refused:
        deliver_message("hello", 1, how, "run 1", ProgressRecord(), never)
    assert [request.path for request in other.requests] == [SECRET]
    for part in ("T0001", "B0002", "xyzzyx"):
        assert part not in f"{refused.value} {refused.value.__cause__} {how!r}"


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("", "no address"),
        ("ftp://x.test/y", "not sent to an address of this kind"),
        ("http://localhost/y", "not sent to an address of this kind"),
        (f"https://{USER}@localhost/y", "password"),
    ],
)
def test_an_address_that_is_none_is_told(address: str, said: str) -> None:
    with pytest.raises(InvalidInputError, match=said):
        deliver_message("hello", 1, ChatDestination(address), "run 1", ProgressRecord(), never)


def test_nothing_is_said_inside_of_the_own_network(other: Receiver) -> None:
    how = ChatDestination(f"https://127.0.0.1:{other.port}{SECRET}", retry_policy=RetryPolicy(tries=1))
    with pytest.raises(InvalidInputError, match="this address are not allowed"):
        deliver_message("hello", 1, how, "run 1", ProgressRecord(), never)
    with pytest.raises(UnavailableError, match="does not exist"):
        deliver_message(
            "hello",
            1,
            ChatDestination(f"https://{NOWHERE}/x", retry_policy=RetryPolicy(tries=1)),
            "run 1",
            ProgressRecord(),
            never,
        )
    assert other.requests == []


def test_what_no_chat_would_show_is_not_sent(other: Receiver, how: ChatDestination) -> None:
    with pytest.raises(DataError, match="too long"):
        deliver_message("x" * 39_001, 1, how, "run 1", ProgressRecord(), never)
    assert other.requests == []
