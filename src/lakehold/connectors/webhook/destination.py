"""Delivers rows to a webhook in signed batches: `POST` of `{"delivery": …, "batch": 1, "rows": [{…}, …]}`.

Rows are spooled first, so that the batches are the same when a step is repeated: it continues after the last one that
was acknowledged. One that was on its way when the process died is sent again, under the same key. `http_delivery`
describes the signature.
"""

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from lakehold.connectors.destinations import delivery
from lakehold.connectors.destinations.delivery import DeliveryProgress, DeliveryRequest, DeliveryResult, Destination
from lakehold.connectors.destinations.delivery_folder import RowSpool
from lakehold.connectors.destinations.file_formats import JSON_OPTIONS, refuse_invalid_fields, to_json_types
from lakehold.connectors.destinations.http_delivery import HttpPoster, SleepFunction, WebhookDestination
from lakehold.connectors.error_translation import translate_delivery_errors
from lakehold.connectors.registry import ConnectorEnvironment
from lakehold.connectors.webhook.connector import WebhookSettings
from lakehold.kit.network_policy import PolicyList


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
        return before.to_result((how.label,), "its webhook", again=True)
    with translate_delivery_errors("The folder for rows on their way"):
        spool = _open_spool(mark, folder)
        doubt = _duplicate_warning(before, spool)
        valid = refuse_invalid_fields(to_json_types(rows))
        spool.fill(valid.select(f.to_json(f.struct("*"), JSON_OPTIONS).alias("row")))
        reached = replace(before or DeliveryProgress(), paused=False)
        # Who finds this after a crash knows that a batch may have left.
        progress.keep(reached)
        with HttpPoster(how, wait) as poster:
            for batch in _json_batches(spool, reached.rows, how):
                reached = _send_batch(poster, mark, batch, reached, doubt, progress)
                progress.keep(reached)
                doubt = ""
        reached = replace(reached, ended=True)
        progress.keep(reached)
        spool.delete()
    return reached.to_result((how.label,), "its webhook")


def _open_spool(mark: str, folder: str) -> RowSpool:
    return RowSpool(Path(folder) / f".lakehold-{delivery.mark_digest(mark, 'webhook')}")


def _duplicate_warning(before: DeliveryProgress | None, spool: RowSpool) -> str:
    """Return a warning about possible duplicates, if the delivery was interrupted."""
    if before is None:
        return ""
    if before.rows and not spool.is_complete:
        return "The spooled rows were lost and have been read again: some may have arrived twice or not at all."
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


def open_destination(
    environment: ConnectorEnvironment, settings: WebhookSettings, request: DeliveryRequest
) -> Destination:
    """Open the webhook for one table."""
    secret, private = environment.secrets.get("secret", ""), environment.settings.private_addresses
    headers = environment.headers(settings.headers)
    hosts = environment.policy.hosts(PolicyList.DESTINATIONS)
    to = WebhookDestination(settings.address, secret, headers, settings.batch, private=private, hosts=hosts)
    folder = str(request.retained_folder)
    return Destination(to.test, lambda rows: deliver_batches(rows, to, request.mark, folder, request.need_progress()))
