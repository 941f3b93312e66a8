"""Reads the rows of `COPY … TO STDOUT` by libpq's own call, which costs far less than the driver's rows.

While there is no row, the thread waits for the socket: libpq's own waiting would hold up all threads of the process.
"""

from __future__ import annotations

from selectors import EVENT_READ, DefaultSelector

import psycopg
from psycopg.pq import ExecStatus


class CopyOutput:
    """The output of a `COPY` statement that was begun on a connection."""

    def __init__(self, connection: psycopg.Connection, statement: bytes) -> None:
        self._pgconn, self._encoding, self._ended = connection.pgconn, connection.info.encoding, False
        result = self._pgconn.exec_(statement)
        if result.status != ExecStatus.COPY_OUT:
            raise psycopg.errors.error_from_result(result, self._encoding)

    def read(self, size: int) -> list[bytes]:
        """Return whole rows of at least so many bytes; fewer at the end, and none behind it."""
        rows: list[bytes] = []
        length, get_copy_data = 0, self._pgconn.get_copy_data
        while not self._ended and length < size:
            count, row = get_copy_data(1)
            if count > 0:
                rows.append(bytes(row))
                length += count
            elif count == 0:
                self._wait()
            else:
                self._end()
        return rows

    def _wait(self) -> None:
        with DefaultSelector() as selector:
            selector.register(self._pgconn.socket, EVENT_READ)
            selector.select()
        self._pgconn.consume_input()

    def _end(self) -> None:
        """Take all results, so that the connection can be used again; raise the error if there is one."""
        self._ended, error = True, None
        while (result := self._pgconn.get_result()) is not None:
            if result.status == ExecStatus.FATAL_ERROR:
                error = psycopg.errors.error_from_result(result, self._encoding)
        if error is not None:
            raise error
