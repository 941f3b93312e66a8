"""All routers of the entrance."""

from __future__ import annotations

from fastapi import APIRouter

from lakehold.web.entrance import first_runs, invites, links, new_passwords, sign_in, sign_out

ROUTERS: list[APIRouter] = [
    sign_in.routes,
    sign_out.routes,
    links.routes,
    new_passwords.routes,
    first_runs.routes,
    invites.routes,
]
