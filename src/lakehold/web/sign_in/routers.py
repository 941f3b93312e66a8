"""All routers of this package."""

from __future__ import annotations

from fastapi import APIRouter

from lakehold.web.sign_in import onboarding, password_reset, sign_in

ROUTERS: list[APIRouter] = [
    sign_in.sign_in_routes,
    sign_in.sign_out_routes,
    sign_in.link_routes,
    password_reset.routes,
    onboarding.first_run_routes,
    onboarding.invite_routes,
]
