"""Load from many clients at once, each sending the next request as soon as it has an answer."""

from __future__ import annotations

import asyncio
import time


async def _client(port: int, request: bytes, end: float, counts: list[int]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        while time.monotonic() < end:
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
            await reader.readexactly(length)
            counts[0 if head.startswith(b"HTTP/1.1 200 ") else 1] += 1
    except (OSError, asyncio.IncompleteReadError, ValueError):
        counts[1] += 1
    finally:
        writer.close()


async def _all(port: int, requests: list[bytes], seconds: float) -> tuple[int, int]:
    counts = [0, 0]
    end = time.monotonic() + seconds
    await asyncio.gather(*(_client(port, request, end, counts) for request in requests))
    return counts[0], counts[1]


def load(port: int, requests: list[bytes], seconds: float) -> tuple[int, int]:
    """Return the number of answers and of errors, with one client for each request."""
    return asyncio.run(_all(port, requests, seconds))
