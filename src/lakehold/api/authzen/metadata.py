"""Where everything is."""

from __future__ import annotations

from pydantic import Field

from lakehold.api.frame.models import Answer
from lakehold.api.frame.routes import router
from lakehold.api.frame.works import House

routes = router("/.well-known", "AuthZEN")

_BASE = "http://127.0.0.1:8400"


class Metadata(Answer):
    """The addresses of the decision point."""

    policy_decision_point: str = Field(examples=[_BASE])
    access_evaluation_endpoint: str = Field(examples=[f"{_BASE}/access/v1/evaluation"])
    access_evaluations_endpoint: str = Field(examples=[f"{_BASE}/access/v1/evaluations"])
    search_subject_endpoint: str = Field(examples=[f"{_BASE}/access/v1/search/subject"])
    search_resource_endpoint: str = Field(examples=[f"{_BASE}/access/v1/search/resource"])
    search_action_endpoint: str = Field(examples=[f"{_BASE}/access/v1/search/action"])


@routes.get("/authzen-configuration")
def authzen_configuration(platform: House) -> Metadata:
    """Where the decision point's endpoints are."""
    base = platform.settings.base_url
    return Metadata(
        policy_decision_point=base,
        access_evaluation_endpoint=f"{base}/access/v1/evaluation",
        access_evaluations_endpoint=f"{base}/access/v1/evaluations",
        search_subject_endpoint=f"{base}/access/v1/search/subject",
        search_resource_endpoint=f"{base}/access/v1/search/resource",
        search_action_endpoint=f"{base}/access/v1/search/action",
    )
