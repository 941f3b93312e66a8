"""Lists all routers, in the order of the OpenAPI document.

A router in this list is served, documented, fuzzed and crawled for leaks. Ways of working add theirs.
"""

from fastapi import APIRouter

from lakehold.api import access_as_code, iceberg_rest, runs
from lakehold.api.access import access_models, audit_log, questions, reviews, what_if
from lakehold.api.authzen import evaluations, searches
from lakehold.api.catalog import grants, network_policy, requests, resource_usage, resources, workspaces
from lakehold.api.directory import invites, me, members, sign_in, tokens
from lakehold.api.lake import lineage, queries
from lakehold.workspaces import registry

ROUTERS: list[APIRouter] = [
    questions.routes,
    evaluations.routes,
    searches.routes,
    evaluations.configuration_routes,
    what_if.routes,
    access_models.routes,
    audit_log.routes,
    reviews.routes,
    sign_in.first_run_routes,
    sign_in.routes,
    me.routes,
    me.view_as_routes,
    members.routes,
    invites.routes,
    members.group_routes,
    members.service_account_routes,
    tokens.routes,
    network_policy.routes,
    workspaces.kind_routes,
    workspaces.routes,
    resources.routes,
    grants.routes,
    resources.credential_routes,
    requests.routes,
    requests.discovery_routes,
    resource_usage.routes,
    access_as_code.routes,
    iceberg_rest.routes,
    queries.routes,
    runs.routes,
    lineage.routes,
    queries.table_routes,
    runs.trigger_routes,
    *(router for workspace in registry.all_workspaces() for router in workspace.api_routers()),
]
