"""A create that is sent twice is done once: the answer is kept under its Idempotency-Key for 24 hours.

The row is written in the transaction of the create, which has the tenant's turn: of two at the same time one waits,
and then finds the answer of the other. Answers are encrypted, for some show a secret that is shown only once; bodies
are not kept at all, only a proof of them that nobody without the key can guess at.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from hashlib import sha256

import sqlalchemy as sa
from fastapi import Response

from lakehold.api.frame.errors import KeyReusedError
from lakehold.api.frame.works import Asked
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import DAY
from lakehold.kit.database import ExactText, IdType, metadata

idempotency_table = sa.Table(
    "idempotency",
    metadata,
    sa.Column("tenant_id", IdType, primary_key=True),
    sa.Column("member", ExactText, primary_key=True),
    # The token too: a narrowed one must not be told what its member's own one was told.
    sa.Column("token", ExactText, primary_key=True),
    sa.Column("key", ExactText, primary_key=True),
    sa.Column("made_at", IdType, nullable=False),
    sa.Column("request", sa.Text, nullable=False),
    sa.Column("answer", sa.Text, nullable=False),
)
sa.Index("idempotency_by_time", idempotency_table.c.tenant_id, idempotency_table.c.made_at)

REPLAYED = "idempotency-replayed"


def once(asked: Asked, ctx: RequestContext, do: Callable[[], Response]) -> Response:
    """The answer that this key had before, or the one that it gets now."""
    if not asked.key:
        return do()
    c = idempotency_table.c
    where = sa.and_(
        c.tenant_id == ctx.session.tenant,
        c.member == ctx.caller.member,
        c.token == ctx.caller.token_id,
        c.key == asked.key,
    )
    connection = ctx.session.transaction.connection
    connection.execute(idempotency_table.delete().where(c.tenant_id == ctx.session.tenant, c.made_at <= ctx.at - DAY))
    found = connection.execute(sa.select(c.request, c.answer).where(where)).first()
    if found is not None:
        if not ctx.keys.is_sealed(_told(asked), found.request):
            raise KeyReusedError(
                "This Idempotency-Key was used for another request.", "Use a new key for every new request."
            )
        return _again(ctx.keys.decrypt(found.answer))
    response = do()
    connection.execute(
        idempotency_table.insert().values(
            tenant_id=ctx.session.tenant,
            member=ctx.caller.member,
            token=ctx.caller.token_id,
            key=asked.key,
            made_at=ctx.at,
            request=ctx.keys.seal(_told(asked)),
            answer=ctx.keys.encrypt(_kept(response)),
        )
    )
    return response


def _told(asked: Asked) -> str:
    request = asked.request
    body = sha256(asked.body).hexdigest()
    return json.dumps(["idempotency", request.method, request.url.path, request.url.query, body])


def _kept(response: Response) -> str:
    headers = [(name.decode(), value.decode()) for name, value in response.raw_headers]
    return json.dumps([response.status_code, headers, base64.b64encode(bytes(response.body)).decode()])


def _again(kept: str) -> Response:
    status, headers, body = json.loads(kept)
    return Response(base64.b64decode(body), status_code=status, headers=dict(headers) | {REPLAYED: "true"})
