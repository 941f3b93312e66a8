"""A failed run told to an address: `POST` of what it was, signed and under one key however often it is sent.

The pipeline's setting `failure_webhook` is the address, else that of its workspace; the credential of the same name is
the secret that it is signed with. It says what whoever saved the setting may see, and nothing to anybody who may not.
"""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime

from lakehold.catalog import credentials, resource_metadata
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import SECOND
from lakehold.kit.settings import Settings
from lakehold.ledger import outbox
from lakehold.runs.run_table import RunRow
from lakehold.runs.runnable import WEBHOOK, Runnables

_SECONDS = 10


def put(ctx: RequestContext, settings: Settings, runnables: Runnables, row: RunRow, problem: str) -> bool:
    """Put it into the outbox, if there is an address; whether there was one."""
    uid = ctx.view.uids.get(row.resource_id)
    holder, url, owner = _address(ctx, row)
    if uid is None or not url or ctx.view.ids.get(owner) is None:
        return False
    runnable = runnables[row.kind]
    if not ctx.session.check(owner, runnable.see, uid) or not ctx.session.can_see(owner, runnable.shown_with(ctx, uid)):
        return False
    told = {
        "event": "run.failed",
        "run": row.id,
        "resource": uid,
        "name": ctx.view.names.get(row.resource_id) or uid,
        "kind": row.kind,
        # Which run it came after is for those who may see that one.
        "cause": row.cause.partition(" run_")[0],
        "error": problem,
        "at": datetime.fromtimestamp(ctx.at / SECOND, UTC).isoformat(),
        "address": f"{settings.base_url}/runs/{row.id}",
    }
    secret = credentials.load_for_use(ctx, holder).get(WEBHOOK, "")
    kept = {"url": url, "secret": secret, "key": f"{row.id}-{row.tries}", "body": json.dumps(told)}
    outbox.enqueue(
        ctx.session.transaction,
        ctx.session.tenant,
        ctx.at,
        receiver=holder,
        subject=f"{told['name']} has failed",
        body=ctx.keys.encrypt(json.dumps(kept)),
        kind=outbox.WEBHOOK,
    )
    return True


def post(kept: str, *, private: bool) -> None:
    """Send it once; an error if it is not taken. The outbox has it tried again."""
    # Here, not above: only a worker sends, and what stands behind this knows Spark.
    from lakehold.connectors.destinations.http_delivery import (
        HttpPoster,  # noqa: PLC0415
        RetryPolicy,  # noqa: PLC0415
    )
    from lakehold.connectors.destinations.webhook import (
        WebhookDestination,  # noqa: PLC0415
        http_client,  # noqa: PLC0415
    )

    told = json.loads(kept)
    how = WebhookDestination(
        told["url"], told["secret"], retry_policy=RetryPolicy(tries=1, seconds=_SECONDS), private=private
    )
    how.check()
    with http_client(how) as sending:
        poster = HttpPoster(sending, how.url, how.secret, how.redactions, how.retry_policy, time.sleep)
        posted = poster.post(told["body"].encode(), key=told["key"], batch=1)
    if posted.error is not None:
        raise posted.error


def _address(ctx: RequestContext, row: RunRow) -> tuple[str, str, str]:
    """Which resource says where to: the pipeline, else its workspace. The address, and who saved it last."""
    for number in (row.resource_id, row.workspace_id):
        uid = ctx.view.uids.get(number)
        told = resource_metadata.load(ctx, uid) if uid else None
        url = told.settings.get(WEBHOOK) if told else None
        if uid and told and isinstance(url, str) and url:
            return uid, url, told.updated_by
    return "", "", ""
