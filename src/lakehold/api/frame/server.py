"""How the application is served."""

from __future__ import annotations

import uvicorn
from fastapi import FastAPI

from lakehold.kit.settings import Settings


def configured(app: FastAPI, settings: Settings) -> uvicorn.Config:
    """Serve with our own log (its own one writes addresses, and addresses may hold the secret of a link), and
    believing nobody about where a request came from but the proxies that are named.
    """
    trusted = settings.trusted_proxies
    return uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=bool(trusted),
        forwarded_allow_ips=[address.strip() for address in trusted.split(",") if address.strip()],
        timeout_graceful_shutdown=10,
    )
