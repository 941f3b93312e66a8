"""What a browser may do with our pages: run and load only what is ours, and show them in nobody's frame.

There is no inline script or style anywhere, so that the policy needs no exception for one.
"""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_RULES = (
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
)
POLICY = "; ".join(_RULES)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
_HEADERS = [(name.encode(), value.encode()) for name, value in HEADERS.items()]


class Headers:
    """Around everything: every answer carries the policy, also those that never reach a page."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request through, and add to its answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                ours = {name for name, _ in _HEADERS}
                kept = [header for header in message["headers"] if header[0].lower() not in ours]
                message["headers"] = [*kept, *_HEADERS]
            await send(message)

        await self._app(scope, receive, with_headers)
