"""A message to a real HTTP server that answers as a chat does."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from lakehold.kit.errors import InvalidInputError, UnavailableError
from lakehold.pipeline.connectors.outward.chat import TWICE, Chat, deliver
from lakehold.pipeline.connectors.outward.posting import Effort
from lakehold.pipeline.connectors.outward.progress import Reached
from lakehold.pipeline.errors import DataError, DeliveryError
from tests.pipeline.outward.receiver import GONE, Answer, Notebook, Receiver, receiver

USER, NOWHERE = "user:word", "nowhere.invalid"
SECRET = "/services/T0001/B0002/xyzzyx"


@pytest.fixture
def other() -> Iterator[Receiver]:
    with receiver() as made:
        yield made


@pytest.fixture
def how(other: Receiver) -> Chat:
    return Chat(f"http://127.0.0.1:{other.port}{SECRET}", Effort(tries=3, seconds=5), private=True)


def never(_: float) -> None:
    raise AssertionError("Nothing should have to wait.")


def test_it_is_said_once(other: Receiver, how: Chat) -> None:
    book = Notebook()
    done = deliver("*Zoë* &amp; co", 3, how, "run 1", book, never)
    assert [json.loads(request.body) for request in other.came] == [{"text": "*Zoë* &amp; co"}]
    assert other.came[0].path == SECRET
    assert (done.rows, done.sure, done.words, done.places) == (3, True, "", ("a chat at 127.0.0.1",))
    again = deliver("something else", 3, how, "run 1", book, never)
    assert (again.again, len(other.came)) == (True, 1)


def test_who_died_while_it_was_on_its_way_says_that_it_may_be_there_twice(other: Receiver, how: Chat) -> None:
    done = deliver("hello", 1, how, "run 1", Notebook(Reached(rows=1)), never)
    assert (len(other.came), done.sure, done.words) == (1, False, TWICE)


def test_what_was_refused_is_said_anew_without_a_doubt(other: Receiver, how: Chat) -> None:
    other.answers = [Answer(404, b"no_service")]
    book = Notebook()
    with pytest.raises(DeliveryError, match="The message was not taken: the receiver answered 404 Not Found: no_serv"):
        deliver("hello", 1, how, "run 1", book, never)
    assert deliver("hello", 1, how, "run 1", book, never).sure


def test_a_chat_that_breaks_off_may_have_it_already(other: Receiver, how: Chat) -> None:
    other.answers = [Answer(GONE)]
    done = deliver("hello", 1, how, "run 1", Notebook(), lambda _: None)
    assert (len(other.came), done.sure, done.words) == (2, False, TWICE)


def test_a_chat_that_asks_for_patience_gets_it(other: Receiver, how: Chat) -> None:
    other.answers = [Answer(429, headers={"Retry-After": "7"})]
    waited: list[float] = []
    assert deliver("hello", 1, how, "run 1", Notebook(), waited.append).sure
    assert waited == [7]


def test_the_address_is_led_nowhere_and_told_nobody(other: Receiver, how: Chat) -> None:
    other.answers = [Answer(302, SECRET.encode(), {"Location": f"http://127.0.0.1:{other.port}/elsewhere"})]
    with pytest.raises(DeliveryError) as refused:
        deliver("hello", 1, how, "run 1", Notebook(), never)
    assert [request.path for request in other.came] == [SECRET]
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
        deliver("hello", 1, Chat(address), "run 1", Notebook(), never)


def test_nothing_is_said_inside_of_the_own_network(other: Receiver) -> None:
    how = Chat(f"https://127.0.0.1:{other.port}{SECRET}", Effort(tries=1))
    with pytest.raises(InvalidInputError, match="nothing may be sent to"):
        deliver("hello", 1, how, "run 1", Notebook(), never)
    with pytest.raises(UnavailableError, match="no host"):
        deliver("hello", 1, Chat(f"https://{NOWHERE}/x", Effort(tries=1)), "run 1", Notebook(), never)
    assert other.came == []


def test_what_no_chat_would_show_is_not_sent(other: Receiver, how: Chat) -> None:
    with pytest.raises(DataError, match="too long"):
        deliver("x" * 39_001, 1, how, "run 1", Notebook(), never)
    assert other.came == []
