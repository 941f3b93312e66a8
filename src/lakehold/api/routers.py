"""Lists all routers, in the order of the OpenAPI document.

A router in this list is served, documented, fuzzed and crawled for leaks. Ways of working add theirs.
"""

from __future__ import annotations

from fastapi import APIRouter

from lakehold.api import access_as_code, iceberg_rest, runs
from lakehold.api.access import access_models, audit_log, questions, reviews, what_if
from lakehold.api.authzen import evaluations, searches
from lakehold.api.catalog import grants, requests, resource_usage, resources, workspaces
from lakehold.api.directory import invites, me, members, sign_in, tokens
from lakehold.api.lake import lineage, queries
from lakehold.workspaces import registry

CATALOG: list[APIRouter] = [
    workspaces.kind_routes,
    workspaces.routes,
    resources.routes,
    grants.routes,
    resources.credential_routes,
    requests.routes,
    requests.discovery_routes,
    resource_usage.routes,
    resource_usage.resource_routes,
]


DIRECTORY: list[APIRouter] = [
    sign_in.first_run_routes,
    sign_in.routes,
    me.routes,
    me.view_as_routes,
    members.routes,
    invites.routes,
    members.group_routes,
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
    questions.routes,
    evaluations.routes,
    searches.routes,
    evaluations.configuration_routes,
    questions.explain_routes,
    questions.who_routes,
    questions.can_routes,
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
