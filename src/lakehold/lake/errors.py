"""Errors of queries, tables, sources and deliveries."""

from lakehold.kit.errors import LakeholdError, LimitExceededError, UnavailableError


class RefusedQueryError(LakeholdError):
    """The query contains a part that no query may contain."""

    code = "query_refused"
    status = 422


class QueryError(LakeholdError):
    """The query cannot run as written: an unknown name, a type mismatch, a division by zero.

    Its field is the text with line and character, where they are known: `sql.3.14`.
    """

    code = "query_failed"
    status = 422


class QueryMemoryError(LimitExceededError):
    """The query needs more memory than is available."""


class SparkLostError(UnavailableError):
    """Spark ended while the query ran, which may be repeated.

    Its field is `sql` if the query may be the reason.
    """

    code = "spark_lost"


class MemoryShortageError(SparkLostError):
    """The query found no memory beside the queries of others, and may be repeated elsewhere; its field as above."""

    code = "memory_shortage"


class StoppedError(LakeholdError):
    """The query or run was stopped by somebody."""

    code = "stopped"
    status = 409


class DataError(LakeholdError):
    """The data does not fit its target, for example a changed schema or a duplicate key."""

    code = "data_does_not_fit"
    status = 422


class DeliveryError(LakeholdError):
    """The receiver did not accept a delivery."""

    code = "not_delivered"
    status = 502


class SourceError(LakeholdError):
    """The source cannot be read with its settings: a wrong password, a missing table or path."""

    code = "source_refused"
    status = 422


class SourceClosedError(LakeholdError):
    """The rows of a registered table cannot be read: nobody may read them here any more, or the table is gone."""

    code = "source_closed"
    status = 409
