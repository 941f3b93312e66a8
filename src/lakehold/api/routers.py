"""Lists all routers, in the order of the OpenAPI document.

A router in this list is served, documented, fuzzed and crawled for leaks. Ways of working add theirs.
"""

from __future__ import annotations

from fastapi import APIRouter

from lakehold.api import access_as_code, iceberg_rest, runs
from lakehold.api.access import access_models, audit_log, checks, listings, reviews, what_if
from lakehold.api.authzen import evaluations, searches
from lakehold.api.catalog import credentials, grants, kinds, requests, resource_usage, resources, view_as, workspaces
from lakehold.api.directory import groups, invites, me, members, sign_in, tokens
from lakehold.api.lake import lineage, queries
from lakehold.workspaces import registry

CATALOG: list[APIRouter] = [
    kinds.routes,
    workspaces.routes,
    resources.routes,
    resources.move_routes,
    resources.transfer_routes,
    grants.routes,
    grants.subject_grant_routes,
    grants.who_routes,
    credentials.routes,
    requests.routes,
    requests.discovery_routes,
    view_as.routes,
    resource_usage.routes,
    resource_usage.resource_routes,
]


DIRECTORY: list[APIRouter] = [
    sign_in.first_run_routes,
    sign_in.routes,
    me.routes,
    members.routes,
    members.removal_routes,
    invites.routes,
    groups.routes,
    members.service_account_routes,
    tokens.routes,
]


PIPELINE: list[APIRouter] = [
    queries.routes,
    runs.routes,
    lineage.routes,
    queries.table_routes,
    runs.trigger_routes,
]


ROUTERS: list[APIRouter] = [
    checks.routes,
    evaluations.routes,
    searches.routes,
    evaluations.configuration_routes,
    checks.explain_routes,
    listings.who_routes,
    listings.routes,
    what_if.routes,
    access_models.routes,
    audit_log.routes,
    reviews.routes,
    *DIRECTORY,
    *CATALOG,
    access_as_code.routes,
    iceberg_rest.routes,
    *PIPELINE,
    *(router for workspace in registry.all_workspaces() for router in workspace.api_routers()),
]
