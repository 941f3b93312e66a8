"""The API that the demo company's web events come from, on this machine alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qsl, urlsplit

from lakehold.demo import web_rows


class _Talk(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        page = dict(parse_qsl(parts.query)).get("page", "1")
        found = parts.path == "/events" and page.isdecimal() and int(page) > 0
        told = {"events": web_rows.events(int(page))} if found else {"error": "Ask for /events?page=1."}
        body = json.dumps(told).encode()
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def serving() -> Iterator[str]:
    """The address at which it answers, until the end."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Talk) as server:
        thread = Thread(target=server.serve_forever, daemon=True, name="events")
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
