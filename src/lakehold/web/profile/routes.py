"""All routers of the profile."""

from __future__ import annotations

from fastapi import APIRouter

from lakehold.web.profile import names, new_tokens, page, passwords, sign_ins, tokens

ROUTERS: list[APIRouter] = [
    page.routes,
    names.routes,
    passwords.routes,
    sign_ins.routes,
    new_tokens.routes,
    tokens.routes,
]
