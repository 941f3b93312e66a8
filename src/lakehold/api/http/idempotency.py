"""Idempotency keys: a create that is sent twice is executed once. Its response is stored for 24 hours.

The row is written in the transaction of the create, which holds the tenant's lock: of two concurrent requests one
waits, and then finds the response of the other. Responses are encrypted, because some contain a secret that is shown
only once; bodies are not stored, only a keyed digest of them.
"""

import base64
import json
from collections.abc import Callable
from hashlib import sha256

import sqlalchemy as sa
from fastapi import Response

from lakehold.api.http.dependencies import PendingRequest
from lakehold.api.http.problems import KeyReusedError
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import DAY
from lakehold.kit.database import ExactText, IdType, metadata

idempotency_table = sa.Table(
    "idempotency",
    metadata,
    sa.Column("tenant_id", IdType, primary_key=True),
    sa.Column("member", ExactText, primary_key=True),
    # The token too: a narrowed one must not get the response that its member got.
    sa.Column("token", ExactText, primary_key=True),
    sa.Column("key", ExactText, primary_key=True),
    sa.Column("made_at", IdType, nullable=False),
    sa.Column("request", sa.Text, nullable=False),
    sa.Column("answer", sa.Text, nullable=False),
)
sa.Index("idempotency_by_time", idempotency_table.c.tenant_id, idempotency_table.c.made_at)

REPLAYED_HEADER = "idempotency-replayed"


def replay_or_run(pending: PendingRequest, ctx: RequestContext, do: Callable[[], Response]) -> Response:
    """Return the stored response of this key, or call `do` and store its response."""
    if not pending.key:
        return do()
    c = idempotency_table.c
    connection = ctx.session.transaction.connection
    connection.execute(idempotency_table.delete().where(c.tenant_id == ctx.session.tenant, c.made_at <= ctx.at - DAY))
    identity = {
        "tenant_id": ctx.session.tenant,
        "member": ctx.caller.member,
        "token": ctx.caller.token_id,
        "key": pending.key,
    }
    same = (c[name] == value for name, value in identity.items())
    found = connection.execute(sa.select(c.request, c.answer).where(*same)).first()
    if found is not None:
        if not ctx.keys.is_sealed(_request_fingerprint(pending), found.request):
            raise KeyReusedError(
                "This Idempotency-Key was used for another request.", "Use a new key for every new request."
            )
        status, headers, body = json.loads(ctx.keys.decrypt(found.answer))
        return Response(base64.b64decode(body), status_code=status, headers=dict(headers) | {REPLAYED_HEADER: "true"})
    response = do()
    headers = [(name.decode(), value.decode()) for name, value in response.raw_headers]
    answer = json.dumps([response.status_code, headers, base64.b64encode(bytes(response.body)).decode()])
    encrypted = {"request": ctx.keys.seal(_request_fingerprint(pending)), "answer": ctx.keys.encrypt(answer)}
    connection.execute(idempotency_table.insert().values(**identity, made_at=ctx.at, **encrypted))
    return response


def _request_fingerprint(pending: PendingRequest) -> str:
    request = pending.request
    body = sha256(pending.body).hexdigest()
    return json.dumps(["idempotency", request.method, request.url.path, request.url.query, body])
