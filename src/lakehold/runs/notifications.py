"""Notifications of ended runs: mails to the members that the workspace names, and a signed webhook for failures.

The setting `failure_webhook` of the pipeline, else of its workspace, is the address of the webhook; the credential of
the same name is the secret that signs it. It contains only what the member who saved the setting may see, and has one
idempotency key however often it is sent. Mails and webhooks wait in the outbox, and are delivered from there.
"""

import json
import logging
import time
from dataclasses import replace
from datetime import UTC, datetime

from lakehold.catalog import credentials, network_policy, resource_metadata
from lakehold.directory import accounts
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import SECOND
from lakehold.kit.errors import LakeholdError
from lakehold.kit.mail import SmtpServer, build_message
from lakehold.kit.network_policy import NetworkPolicy, PolicyList
from lakehold.kit.settings import Settings
from lakehold.ledger import outbox
from lakehold.runs.run_table import FAILED, RunRow, load_cause
from lakehold.runs.runnable import WEBHOOK_SETTING, EndedRun, Runnable, RunnableRegistry, RunNotice

_SECONDS = 10


def _queue_webhook(ctx: RequestContext, settings: Settings, runnable: Runnable, row: RunRow, problem: str) -> None:
    """Put the webhook of a failed run into the outbox, if an address is set by a member who may see the run."""
    uid, (holder, url, owner) = ctx.view.uid(row.resource_id), _webhook_address(ctx, row)
    if not url or ctx.view.ids.get(owner) is None or not ctx.session.check(owner, runnable.see, uid):
        return
    if not ctx.session.can_see(owner, runnable.visible_through(ctx, uid)):
        return
    cause = load_cause(row)
    payload = {
        "event": "run.failed",
        "run": row.id,
        "resource": uid,
        "name": ctx.view.names.get(row.resource_id) or uid,
        "kind": row.kind,
        # Which run it came after is for those who may see that one.
        "cause": replace(cause, run="").text,
        "cause_kind": cause.kind,
        "error": problem,
        "at": datetime.fromtimestamp(ctx.at / SECOND, UTC).isoformat(),
        "address": f"{settings.base_url}/runs/{row.id}",
    }
    secret = credentials.load_for_use(ctx, holder).get(WEBHOOK_SETTING, "")
    envelope = {"url": url, "secret": secret, "key": f"{row.id}-{row.tries}", "body": json.dumps(payload)}
    outbox.enqueue(
        ctx.session.transaction,
        ctx.session.tenant,
        ctx.at,
        receiver=holder,
        subject=f"{payload['name']} has failed",
        body=ctx.keys.encrypt(json.dumps(envelope)),
        kind=outbox.WEBHOOK,
    )


def post_webhook(envelope: str, *, private: bool, policy: NetworkPolicy) -> None:
    """Send the webhook once; raise if it is not accepted. The outbox retries."""
    # Here, not above: only a worker sends, and what stands behind this knows Spark.
    from lakehold.connectors.destinations import http_delivery  # noqa: PLC0415

    request = json.loads(envelope)
    once = http_delivery.RetryPolicy(tries=1, seconds=_SECONDS)
    how = http_delivery.WebhookDestination(
        request["url"],
        request["secret"],
        retry_policy=once,
        private=private,
        hosts=policy.hosts(PolicyList.DESTINATIONS),
    )
    how.check()
    with http_delivery.HttpPoster(how, time.sleep) as poster:
        posted = poster.post(request["body"].encode(), key=request["key"], batch=1)
    if posted.error is not None:
        raise posted.error


def _webhook_address(ctx: RequestContext, row: RunRow) -> tuple[str, str, str]:
    """Return the resource that sets the address, the address, and who set it."""
    for number in (row.resource_id, row.workspace_id):
        uid = ctx.view.uids.get(number)
        metadata = resource_metadata.load(ctx, uid) if uid else None
        url = metadata.settings.get(WEBHOOK_SETTING) if metadata else None
        if uid and metadata and isinstance(url, str) and url:
            author = resource_metadata.load_author(ctx, uid, WEBHOOK_SETTING)
            return uid, url, author.caller.member if author else ""
    return "", "", ""


def notify(ctx: RequestContext, settings: Settings, runnables: RunnableRegistry, row: RunRow, ended: EndedRun) -> int:
    """Put the mails and the webhook of an ended run into the outbox; return the number of mails.

    Nobody gets two mails of one run. This is part of the transaction that ends the run: if it is not committed, nothing
    is sent, and after it nobody ends the run again.
    """
    uid = ctx.view.uids.get(row.resource_id)
    if uid is None:
        return 0
    if ended.state == FAILED:
        _queue_webhook(ctx, settings, runnables[row.kind], row, ended.problem)
    name, notified, mails = ctx.view.names.get(row.resource_id) or uid, set[str](), 0
    for notice in runnables[row.kind].notices(ctx, uid, ended):
        new = [member for member in notice.receivers if member not in notified]
        notified.update(new)
        body = _mail_body(settings, row, name, notice)
        mails += accounts.queue_mails(ctx, settings, new, f"{name} {notice.summary}", body)
    return mails


def _mail_body(settings: Settings, row: RunRow, name: str, notice: RunNotice) -> str:
    # Which run it came after is for those who may see that one.
    trigger = f"Trigger: {load_cause(row).label()}"
    parts = [f"{name} {notice.summary}.", notice.message, trigger, f"{settings.base_url}/runs/{row.id}"]
    if notice.settings_path:
        parts.append(f"Notification settings: {settings.base_url}{notice.settings_path}")
    return "\n\n".join(part for part in parts if part) + "\n"


_log = logging.getLogger("lakehold.runs")


def send(platform: Platform, number: int, tries: int) -> str:
    """Send the message; return the error, or an empty text."""
    with platform.database.read() as transaction:
        mail = outbox.unsent_message(transaction, number, tries)
        if mail is None:
            return ""
        # As it is now, not when the run ended.
        policy = network_policy.load_of_tenant(transaction, mail.tenant_id)
    try:
        body = platform.keys.decrypt(mail.body)
        if mail.kind == outbox.WEBHOOK:
            post_webhook(body, private=platform.settings.private_addresses, policy=policy)
            return ""
        # The key is the installation's own, so that two installations do not name two mails alike.
        uid = f"outbox-{number}-{platform.keys.seal(f'outbox {number} {mail.made_at}')[:16]}"
        message = build_message(platform.settings.mail_from, mail.receiver, mail.subject, body, uid=uid)
        SmtpServer.from_url(platform.settings.smtp.get_secret_value()).send(message)
    except (OSError, ValueError, LakeholdError) as error:
        _log.warning("%s %s was not sent: %s", mail.kind, number, type(error).__name__)
        return str(error) or type(error).__name__
    return ""


def record_result(platform: Platform, number: int, tries: int, problem: str) -> None:
    """Mark the message as sent, or schedule the next attempt."""
    with platform.database.write() as transaction:
        mail = outbox.unsent_message(transaction, number, tries)
        if mail is None:
            return
        if problem:
            outbox.mark_failed(transaction, mail, platform.clock(), problem)
        else:
            outbox.mark_sent(transaction, mail, platform.clock())
