"""Iterates over the pages of an endpoint until there are no more records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx

from lakehold.connectors.api.client import ApiClient, ApiResponse, resolve_link
from lakehold.connectors.api.settings import ApiEndpoint, ApiLimits, CursorPaging, LinkHeaderPaging, PageNumberPaging
from lakehold.lake.errors import DataError, SourceError

_EXAMPLES = 10


@dataclass(frozen=True, slots=True)
class ApiPage:
    """The records of one response."""

    number: int
    records: list[Any]


def iterate_pages(client: ApiClient, endpoint: ApiEndpoint, since: str | None, limits: ApiLimits) -> Iterator[ApiPage]:
    """Yield the pages of an endpoint. More than allowed are refused, never silently cut off."""
    url: httpx.URL | None = client.endpoint_url(endpoint.path)
    params = {
        **endpoint.params,
        **_first_page_params(endpoint),
        **({endpoint.since: since} if endpoint.since and since else {}),
    }
    number, count, before = 0, 0, b""
    seen: set[str] = set()
    while url is not None:
        answer = client.get(url, params)
        number += 1
        found = extract_records(answer.data, endpoint.records, client.describe_url(url))
        if isinstance(endpoint.paging, PageNumberPaging) and found and answer.text == before:
            raise SourceError(
                f"The API gives the same page again, at {client.describe_url(url)}.",
                f"It does not know the parameter {endpoint.paging.parameter!r}; choose another way of paging.",
            )
        before = answer.text
        count += len(found)
        if number > limits.most_pages or count > limits.most_records:
            raise DataError(
                f"The API has more than {limits.most_pages:,} pages or {limits.most_records:,} records,"
                f" at {client.describe_url(url)}.",
                "Read only what is new, or allow more.",
            )
        if found:
            yield ApiPage(number, found)
        url, params = _next_page(endpoint, answer, url, params, more=bool(found))
        step = f"{url} {sorted(params.items())}"
        if url is not None and step in seen:
            raise SourceError(
                f"The API leads back to a page that was read, at {client.describe_url(url)}.", "Check how it pages."
            )
        seen.add(step)


def extract_records(data: Any, path: str, where: str) -> list[Any]:  # noqa: ANN401 - any JSON
    """Return the records in a response; a single object is one record."""
    here = data
    for step in filter(None, path.split(".")):
        if not isinstance(here, dict) or step not in here:
            there = ", ".join(list(here)[:_EXAMPLES]) if isinstance(here, dict) else "no object"
            raise SourceError(
                f"There is no {path!r} in what the API answers at {where}.", f"Where {step!r} should be is: {there}."
            )
        here = here[step]
    if here is None:
        return []
    if isinstance(here, list):
        return here
    if isinstance(here, dict):
        return [here]
    raise SourceError(f"What stands at {path!r} is no list of records, at {where}.", "Check where the records are.")


def _first_page_params(endpoint: ApiEndpoint) -> dict[str, str]:
    paging = endpoint.paging
    if not isinstance(paging, PageNumberPaging):
        return {}
    size = {paging.size_parameter: str(paging.size)} if paging.size_parameter and paging.size else {}
    return {paging.parameter: str(paging.first), **size}


def _next_page(
    endpoint: ApiEndpoint, answer: ApiResponse, url: httpx.URL, params: dict[str, str], *, more: bool
) -> tuple[httpx.URL | None, dict[str, str]]:
    match endpoint.paging:
        case PageNumberPaging() as paging if more:
            return url, {**params, paging.parameter: str(int(params[paging.parameter]) + 1)}
        case LinkHeaderPaging() if answer.next:
            # The link contains all parameters.
            return resolve_link(url, answer.next), {}
        case CursorPaging() as paging:
            value = _text_at(answer.data, paging.path)
            if value and value.startswith(("http://", "https://")):
                return resolve_link(url, value), {}
            return (url, {**params, paging.parameter: value}) if value else (None, params)
    return None, params


def _text_at(data: Any, path: str) -> str:  # noqa: ANN401 - any JSON
    here = data
    for step in path.split("."):
        here = here.get(step) if isinstance(here, dict) else None
    return str(here) if isinstance(here, str | int) and not isinstance(here, bool) and here != "" else ""
