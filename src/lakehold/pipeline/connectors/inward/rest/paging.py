"""Request after request, until there are no more records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx

from lakehold.pipeline.connectors.inward.rest.client import Answer, Client, led
from lakehold.pipeline.connectors.inward.rest.settings import ByCursor, ByLink, ByPage, Endpoint, Limits
from lakehold.pipeline.errors import DataError, SourceError

_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Page:
    """The records of one answer."""

    number: int
    records: list[Any]


def pages(client: Client, endpoint: Endpoint, since: str | None, limits: Limits) -> Iterator[Page]:
    """The pages of an endpoint. More than are allowed are refused, never cut off without a word."""
    url: httpx.URL | None = client.url(endpoint.path)
    params = {**endpoint.params, **_first(endpoint), **({endpoint.since: since} if endpoint.since and since else {})}
    number, count, before = 0, 0, b""
    seen: set[str] = set()
    while url is not None:
        answer = client.get(url, params)
        number += 1
        found = at(answer.data, endpoint.records, client.where(url))
        if isinstance(endpoint.paging, ByPage) and found and answer.text == before:
            raise SourceError(
                f"The API gives the same page again, at {client.where(url)}.",
                f"It does not know the parameter {endpoint.paging.parameter!r}; choose another way of paging.",
            )
        before = answer.text
        count += len(found)
        if number > limits.most_pages or count > limits.most_records:
            raise DataError(
                f"The API has more than {limits.most_pages:,} pages or {limits.most_records:,} records,"
                f" at {client.where(url)}.",
                "Read only what is new, or allow more.",
            )
        if found:
            yield Page(number, found)
        url, params = _next(endpoint, answer, url, params, more=bool(found))
        step = f"{url} {sorted(params.items())}"
        if url is not None and step in seen:
            raise SourceError(
                f"The API leads back to a page that was read, at {client.where(url)}.", "Check how it pages."
            )
        seen.add(step)


def at(data: Any, path: str, where: str) -> list[Any]:  # noqa: ANN401 - any JSON
    """The records in an answer; one object is one record."""
    here = data
    for step in filter(None, path.split(".")):
        if not isinstance(here, dict) or step not in here:
            there = ", ".join(list(here)[:_SHOWN]) if isinstance(here, dict) else "no object"
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


def _first(endpoint: Endpoint) -> dict[str, str]:
    paging = endpoint.paging
    if not isinstance(paging, ByPage):
        return {}
    size = {paging.size_parameter: str(paging.size)} if paging.size_parameter and paging.size else {}
    return {paging.parameter: str(paging.first), **size}


def _next(
    endpoint: Endpoint, answer: Answer, url: httpx.URL, params: dict[str, str], *, more: bool
) -> tuple[httpx.URL | None, dict[str, str]]:
    match endpoint.paging:
        case ByPage() as paging if more:
            return url, {**params, paging.parameter: str(int(params[paging.parameter]) + 1)}
        case ByLink() if answer.next:
            # All that was asked for stands in the link.
            return led(url, answer.next), {}
        case ByCursor() as paging:
            value = _value(answer.data, paging.path)
            if value and value.startswith(("http://", "https://")):
                return led(url, value), {}
            return (url, {**params, paging.parameter: value}) if value else (None, params)
    return None, params


def _value(data: Any, path: str) -> str:  # noqa: ANN401 - any JSON
    here = data
    for step in path.split("."):
        here = here.get(step) if isinstance(here, dict) else None
    return str(here) if isinstance(here, str | int) and not isinstance(here, bool) and here != "" else ""
