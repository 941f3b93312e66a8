"""Errors as the Iceberg REST standard wants them, and names as its clients take them."""

from __future__ import annotations

import json
from http import HTTPStatus
from urllib.parse import quote, unquote

from fastapi import Response

from lakehold.api.frame.problems import SHAPES, Problem

PREFIX = "/iceberg/v1"

_TYPES = {
    HTTPStatus.UNAUTHORIZED: "NotAuthorizedException",
    HTTPStatus.FORBIDDEN: "ForbiddenException",
    HTTPStatus.CONFLICT: "CommitFailedException",
    HTTPStatus.TOO_MANY_REQUESTS: "SlowDownException",
    HTTPStatus.SERVICE_UNAVAILABLE: "ServiceUnavailableException",
}


def told(problem: Problem, path: str) -> Response:
    """The problem, with the name of the exception that clients raise for it."""
    status = problem.status
    if status == HTTPStatus.UNPROCESSABLE_ENTITY:
        status = int(HTTPStatus.BAD_REQUEST)
    error = {"message": f"{problem.detail} {problem.hint}".strip(), "type": _type(status, path), "code": status}
    return Response(json.dumps({"error": error}), status_code=status, media_type="application/json")


def _type(status: int, path: str) -> str:
    if status == HTTPStatus.NOT_FOUND:
        if "/tables/" in path:
            return "NoSuchTableException"
        return "NoSuchViewException" if "/views/" in path else "NoSuchNamespaceException"
    return _TYPES.get(HTTPStatus(status), "BadRequestException")


SHAPES[f"{PREFIX}/"] = told


def in_address(name: str) -> str:
    """A workspace's name as clients put it into addresses, which they do as it is: letters, digits and a few signs."""
    plain = quote(name, safe="").replace("~", "%7E").replace(".", "%2E")
    return plain.replace("%", "~")


def out_of_address(text: str) -> str:
    """The name that was put into an address."""
    return unquote(text.replace("~", "%"))
