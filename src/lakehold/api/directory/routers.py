"""The routers of the directory, in the order of the document."""

from __future__ import annotations

from fastapi import APIRouter

from lakehold.api.directory import first_runs, groups, invites, me, members, removals, service_accounts, sign_in, tokens

ROUTERS: list[APIRouter] = [
    first_runs.routes,
    sign_in.routes,
    me.routes,
    members.routes,
    removals.routes,
    invites.routes,
    groups.routes,
    service_accounts.routes,
    tokens.routes,
]
