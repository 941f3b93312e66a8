"""The page of the tenant's network policy: its lists, what they refuse, and a confirmation if that becomes more."""

from collections.abc import Mapping

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.api.http.dependencies import FormContext
from lakehold.catalog import network_policy
from lakehold.catalog.network_policy_impact import RefusedResource, find_refused
from lakehold.catalog.resource_metadata import VersionConflictError
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.network_policy import SCHEMA, NetworkPolicy, PolicyList
from lakehold.web import confirmation, pages
from lakehold.web.form_values import FieldErrors, parse_integer, split_names, text_field
from lakehold.web.list_view import ListState
from lakehold.web.routing import FORM_METHODS, SubmittedForm, router

routes = router("/network-policy")

_PATH = "/network-policy"
_ALL, _LISTED = "all", "listed"
LABELS: Mapping[PolicyList, str] = {
    PolicyList.DESTINATIONS: "Destination hosts",
    PolicyList.MAIL: "Mail domains",
    PolicyList.SOURCES: "Source hosts",
}


@routes.api_route("", methods=FORM_METHODS)
def network_policy_page(request: Request, ctx: FormContext, sent: SubmittedForm) -> Response:
    """Show the policy with what it refuses, and save it. What a new one refuses beside that is confirmed first."""
    present = network_policy.get(ctx)
    filled, errors, version = _texts(present), FieldErrors(), network_policy.version(ctx)
    if request.method == "POST":
        filled, version = _sent_texts(sent), parse_integer(text_field(sent, "version")) or 0
        with errors.at(PolicyList.DESTINATIONS, InvalidInputError, fields={each: each for each in PolicyList}):
            policy = _parse_policy(filled, _texts(present))
            refused = find_refused(ctx, policy)
            known = set(find_refused(ctx, present))
            if new := [each for each in refused if each not in known]:
                _need_confirmed(request, sent, new)
        if not errors:
            with errors.at("version", VersionConflictError):
                network_policy.save(ctx, policy, expect_version=version)
        if not errors:
            return pages.redirect(request, _PATH, "The network policy was saved.")
    return _render(request, ctx, filled, errors, version, find_refused(ctx, present))


def _render(  # noqa: PLR0917 - the parts of a page
    request: Request,
    ctx: RequestContext,
    filled: Mapping[str, tuple[str, str]],
    errors: FieldErrors,
    version: int,
    refused: list[RefusedResource],
) -> Response:
    values: dict[str, object] = {
        "lists": [(each, LABELS[each], *filled[each]) for each in PolicyList],
        "labels": LABELS,
        "version": version,
        "refused": refused,
        "listing": ListState(path=_PATH),
        "reads_only": bool(ctx.caller.impersonator),
    }
    return pages.render_form(request, "network_policy/policy.html", values, errors)


def _need_confirmed(request: Request, sent: FormData, new: list[RefusedResource]) -> None:
    """Answer with what would be refused from now on, unless that is confirmed."""
    if sent.get(confirmation.CONFIRMED):
        return
    values: dict[str, object] = {
        "refused": new,
        "labels": LABELS,
        "fields": confirmation.repeated_fields(sent),
        "listing": ListState(path=_PATH),
    }
    raise pages.UnconfirmedError(pages.render(request, "network_policy/confirm.html", values))


def _texts(policy: NetworkPolicy) -> dict[str, tuple[str, str]]:
    """Return the choice and the entries of each list, as the form has them."""
    found = {each: policy.hosts(each).entries for each in PolicyList}
    return {each: (_ALL if entries is None else _LISTED, "\n".join(entries or ())) for each, entries in found.items()}


def _sent_texts(sent: FormData) -> dict[str, tuple[str, str]]:
    return {each: (text_field(sent, f"{each}_mode"), text_field(sent, each)) for each in PolicyList}


def _parse_policy(filled: Mapping[str, tuple[str, str]], before: Mapping[str, tuple[str, str]]) -> NetworkPolicy:
    for name, (mode, text) in filled.items():
        if mode not in {_ALL, _LISTED}:
            raise InvalidInputError("Neither all nor a list is chosen.", "Choose one.", field=name)
        # Who writes a list and leaves the choice as it is believes to be protected by it.
        if mode == _ALL and split_names(text) not in ([], split_names(before[name][1])):
            hint = "Choose “Only these”, or remove the entries."
            raise InvalidInputError("The entries have no effect while all are allowed.", hint, field=name)
    return SCHEMA.parse({name: split_names(text) for name, (mode, text) in filled.items() if mode == _LISTED})
