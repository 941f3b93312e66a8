"""All routers of this package."""

from __future__ import annotations

from fastapi import APIRouter

from lakehold.web.profile import api_tokens, profile_page, sign_ins

ROUTERS: list[APIRouter] = [
    profile_page.routes,
    profile_page.name_routes,
    profile_page.password_routes,
    sign_ins.routes,
    api_tokens.new_token_routes,
    api_tokens.routes,
]
