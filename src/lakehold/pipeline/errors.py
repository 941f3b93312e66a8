"""What can go wrong with data."""

from __future__ import annotations

from lakehold.kit.errors import LakeholdError


class RefusedQueryError(LakeholdError):
    """A query that has something in it that no query may have."""

    code = "query_refused"
    status = 422


class QueryError(LakeholdError):
    """A query that cannot be run as it is: a name that is not there, a type that does not fit, a division by zero."""

    code = "query_failed"
    status = 422


class TooMuchError(LakeholdError):
    """More at once, or for longer, than one person may have."""

    code = "limit_reached"
    status = 429


class OutOfMemoryError(TooMuchError):
    """More memory than there is."""


class StoppedError(LakeholdError):
    """Somebody stopped it."""

    code = "stopped"
    status = 409


class DataError(LakeholdError):
    """Data that does not fit where it is to go: a changed schema, a key that is there twice."""

    code = "data_does_not_fit"
    status = 422


class DeliveryError(LakeholdError):
    """Something that was to be delivered and that the other side did not take."""

    code = "not_delivered"
    status = 502


class SourceError(LakeholdError):
    """A source that cannot be read as it is set up: a wrong password, a table or a path that is not there."""

    code = "source_refused"
    status = 422
