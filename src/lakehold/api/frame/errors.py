"""Refusals that only a request over HTTP can meet."""

from __future__ import annotations

from lakehold.kit.errors import LakeholdError


class PreconditionRequiredError(LakeholdError):
    """A change must say which state it starts from."""

    code = "precondition_required"
    status = 428


class KeyReusedError(LakeholdError):
    """An Idempotency-Key stands for one request only."""

    code = "idempotency_key_reused"
    status = 422


class OverloadedError(LakeholdError):
    """More at once than the server can do; the same may be asked again shortly."""

    code = "overloaded"
    status = 503
    retryable = True


class CsrfError(LakeholdError):
    """A change by cookie that did not come from our own pages."""

    code = "csrf"
    status = 403
