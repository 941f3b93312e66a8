"""Rows to a real HTTP server: in batches, signed, tried again, and going on where it stopped."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from lakehold.connectors.destinations.delivery import DeliveryProgress
from lakehold.connectors.destinations.http_delivery import RetryPolicy, WebhookDestination
from lakehold.connectors.webhook.destination import _open_spool, deliver_batches
from lakehold.kit.errors import InvalidInputError, LakeholdError, UnavailableError
from lakehold.lake.errors import DataError, DeliveryError
from tests.lake.destinations.receiver import GONE, Answer, ProgressRecord, Receiver, run_receiver


@pytest.fixture
def other() -> Iterator[Receiver]:
    with run_receiver() as made:
        yield made


@pytest.fixture
def how(other: Receiver) -> WebhookDestination:
    return WebhookDestination(
        other.url,
        "geheim",
        {"Authorization": "Bearer t0ken"},
        batch=4,
        retry_policy=RetryPolicy(tries=3, seconds=5),
        private=True,
    )


def numbers(spark: SparkSession, count: int) -> DataFrame:
    return spark.range(count).orderBy("id")


def never(_: float) -> None:
    raise AssertionError("Nothing should have to wait.")


def test_rows_arrive_in_signed_batches(
    spark: SparkSession, other: Receiver, how: WebhookDestination, tmp_path: Path
) -> None:
    rows = spark.sql(
        """SELECT id, concat('Zoë "', id, '"') AS name, timestamp'2026-03-29 01:30:00.123456' AS at, NULL AS nothing,
        array(1, 2) AS list, time'10:00:00' AS o_clock, 12.50BD AS price FROM range(10) ORDER BY id"""
    )
    book = ProgressRecord()
    done = deliver_batches(rows, how, 'run 1 "quoted"', str(tmp_path), book, never)
    assert [len(request.rows) for request in other.requests] == [4, 4, 2]
    assert [row["id"] for request in other.requests for row in request.rows] == list(range(10))
    assert other.requests[0].rows[1] == {
        "id": 1,
        "name": 'Zoë "1"',
        "at": "2026-03-29T01:30:00.123456Z",
        "nothing": None,
        "list": [1, 2],
        "o_clock": "10:00:00",
        "price": 12.5,
    }
    for number, request in enumerate(other.requests, start=1):
        body = json.loads(request.body)
        assert (body["delivery"], body["batch"]) == ('run 1 "quoted"', number)
        at = request.headers["Lakehold-Timestamp"]
        sealed = hmac.new(b"geheim", at.encode() + b"." + request.body, hashlib.sha256).hexdigest()
        assert request.headers["Lakehold-Signature"] == f"v1={sealed}"
        assert abs(int(at) - time.time()) < 60
        assert request.headers["Lakehold-Batch"] == str(number)
        assert request.headers["Content-Type"] == "application/json"
        assert request.headers["Authorization"] == "Bearer t0ken"
        assert request.headers["Host"] == f"127.0.0.1:{other.port}"
    keys = [request.headers["Idempotency-Key"] for request in other.requests]
    assert len(set(keys)) == 3
    size = sum(len(request.body) for request in other.requests)
    assert (done.rows, done.size, done.sure, done.words) == (10, size, True, "")
    assert done.places == (f"http://127.0.0.1:{other.port}/hook",)
    assert [page.parts for page in book.pages] == [0, 1, 2, 3, 3]
    # Run again, nothing is sent; and nothing is left on the disk.
    assert deliver_batches(rows, how, 'run 1 "quoted"', str(tmp_path), book, never) == replace(done, again=True)
    assert len(other.requests) == 3
    assert list(tmp_path.iterdir()) == []
    # Another delivery has other keys; large rows go alone; no rows are no request.
    deliver_batches(numbers(spark, 2), replace(how, size=1, secret=""), "run 2", str(tmp_path), ProgressRecord(), never)
    assert [len(request.rows) for request in other.requests[3:]] == [1, 1]
    assert {request.headers["Idempotency-Key"] for request in other.requests[3:]}.isdisjoint(keys)
    assert other.requests[3].headers["Lakehold-Signature"] is None
    assert deliver_batches(numbers(spark, 0), how, "run 3", str(tmp_path), ProgressRecord(), never).rows == 0
    assert len(other.requests) == 5


def test_what_is_refused_for_now_is_tried_again_and_for_good_is_told(
    spark: SparkSession, other: Receiver, how: WebhookDestination, tmp_path: Path
) -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    other.answers = [Answer(503), Answer(429, headers={"Retry-After": "7"}), Answer(200)]
    other.answers += [Answer(500, headers={"Retry-After": later}), Answer(201)]
    waited: list[float] = []
    rows, book = numbers(spark, 12), ProgressRecord()
    other.answers.append(Answer(422, b"<b>row 3 t0ken t0psecret geheim\x00\n\tis\xff wrong</b>" + b"x" * 5000))
    with pytest.raises(
        DeliveryError, match=r"Batch 3 was not accepted: the receiver answered 422 Unprocessable"
    ) as caught:
        deliver_batches(rows, how, "m", str(tmp_path), book, waited.append)
    assert waited[:2] == [1, 7]
    assert 60 < waited[2] <= 100
    said = str(caught.value)
    assert "<b>row 3 … … … is� wrong</b>xxx" in said
    assert "t0ken" not in said
    assert "geheim" not in said
    assert len(said) < 500
    assert len(other.requests) == 6
    assert len({request.headers["Idempotency-Key"] for request in other.requests[:3]}) == 1
    # It goes on with batch 3, whatever the rows and the size of a batch are by now.
    done = deliver_batches(numbers(spark, 99), replace(how, batch=100), "m", str(tmp_path), book, never)
    assert [row["id"] for row in other.requests[-1].rows] == [8, 9, 10, 11]
    assert other.requests[-1].headers["Lakehold-Batch"] == "3"
    # It was refused, so there can be no double.
    assert (done.rows, done.sure, done.words) == (12, True, "")


def test_a_receiver_that_says_nothing_may_have_got_it_twice(
    spark: SparkSession, other: Receiver, how: WebhookDestination, tmp_path: Path
) -> None:
    waited: list[float] = []
    other.answers = [Answer(200), Answer(GONE), Answer(200)]
    done = deliver_batches(numbers(spark, 8), how, "m1", str(tmp_path), ProgressRecord(), waited.append)
    assert (done.sure, waited) == (False, [1])
    assert "Batch 2 may have arrived twice" in done.words
    assert other.requests[1].headers["Idempotency-Key"] == other.requests[2].headers["Idempotency-Key"]
    cases: list[tuple[list[Answer], type[LakeholdError], str]] = [
        ([Answer(GONE)] * 3, UnavailableError, "Batch 1 was not accepted: the receiver cannot be reached"),
        ([Answer(502)] * 3, DeliveryError, "answered 502 Bad Gateway"),
        ([Answer(302, headers={"Location": other.url})], DeliveryError, "follow no redirects"),
        ([Answer(429, headers={"Retry-After": "9999"})], UnavailableError, "wait 9,999 seconds"),
        ([Answer(299 + 300)] * 3, DeliveryError, "599 with an unknown status"),
    ]
    for number, (answers, error, words) in enumerate(cases):
        before, other.answers = len(other.requests), list(answers)
        with pytest.raises(error, match=words):
            deliver_batches(numbers(spark, 1), how, f"c{number}", str(tmp_path), ProgressRecord(), waited.append)
        assert len(other.requests) - before == len(answers)
    # It died after the first batch: the second one may have left.
    crashed = ProgressRecord(DeliveryProgress(1, 4, 100))
    done = deliver_batches(numbers(spark, 8), how, "m2", str(tmp_path), crashed, never)
    assert (done.rows, done.sure) == (8, False)
    assert "read again" in done.words
    _open_spool("c0", str(tmp_path)).delete()
    assert len(list(tmp_path.iterdir())) == len(cases) - 1
    with pytest.raises(DataError, match="no fields"):
        deliver_batches(spark.range(1).select(), how, "m3", str(tmp_path), ProgressRecord(), never)


def test_a_process_that_died_between_two_batches_is_followed_by_one_that_goes_on(
    spark: SparkSession, other: Receiver, how: WebhookDestination, tmp_path: Path
) -> None:
    class Dying(ProgressRecord):
        def keep(self, reached: DeliveryProgress) -> None:
            super().keep(reached)
            if reached.parts == 2:
                raise KeyboardInterrupt

    book = Dying()
    with pytest.raises(KeyboardInterrupt):
        deliver_batches(numbers(spark, 12), how, "m", str(tmp_path), book, never)
    assert len(list(tmp_path.iterdir())) == 1
    _open_spool("another", str(tmp_path)).delete()
    done = deliver_batches(numbers(spark, 0), how, "m", str(tmp_path), ProgressRecord(book.reached), never)
    assert [row["id"] for request in other.requests for row in request.rows] == list(range(12))
    assert (done.rows, done.sure) == (12, False)
    assert done.words == "Batch 3 may have arrived twice; both times with the same Idempotency-Key."
    assert list(tmp_path.iterdir()) == []


def test_an_address_that_leads_inside_is_refused_before_anything_is_sent(
    spark: SparkSession, other: Receiver, how: WebhookDestination, tmp_path: Path
) -> None:
    inside = replace(how, url=other.url.replace("http:", "https:"), private=False)
    with pytest.raises(InvalidInputError, match="this address are not allowed"):
        deliver_batches(spark.range(1), inside, "m", str(tmp_path), ProgressRecord(), never)
    nowhere = replace(how, url=other.url.replace("127.0.0.1", "nowhere.invalid"), retry_policy=RetryPolicy(tries=1))
    with pytest.raises(UnavailableError, match="The host in the address does not exist"):
        deliver_batches(spark.range(1), nowhere, "m", str(tmp_path), ProgressRecord(), never)
    assert other.requests == []


@pytest.mark.parametrize(
    ("how", "said"),
    [
        (WebhookDestination("http://localhost/"), "not sent to an address of this kind"),
        (WebhookDestination("ftp://localhost/", private=True), "not sent to an address of this kind"),
        (WebhookDestination("https:///x"), "not sent to an address of this kind"),
        (WebhookDestination("https://[::1"), "cannot be read"),
        (WebhookDestination("https://" + "u:p@localhost/"), "contains a password"),
        (WebhookDestination("https://localhost", headers={"Host": "y"}), "'Host' cannot be set"),
        (WebhookDestination("https://localhost", headers={"Idempotency-KEY": "y"}), "cannot be set"),
        (WebhookDestination("https://localhost", headers={"A b": "y"}), "cannot be set"),
        (WebhookDestination("https://localhost", headers={"A": "y\r\nB: z"}), "characters that are not allowed"),
        (WebhookDestination("https://localhost", batch=0), "at least one row"),
    ],
)
def test_settings_that_lead_nowhere_are_refused(how: WebhookDestination, said: str) -> None:
    with pytest.raises(InvalidInputError, match=said):
        how.check()


def test_secrets_are_not_shown() -> None:
    assert "geheim" not in repr(WebhookDestination("https://localhost", "geheim", {"A": "geheim"}))
