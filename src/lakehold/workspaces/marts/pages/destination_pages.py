"""The pages of a destination: its form and test; reports and deliveries; its live secret; delivered files."""

from collections.abc import Mapping
from dataclasses import asdict
from urllib.parse import urlencode

from fastapi import Request, Response

from lakehold.api.catalog import resource_usage
from lakehold.api.http.dependencies import CurrentPlatform, ReadContext, WriteContext, read_transaction
from lakehold.api.lake.files import send_file
from lakehold.catalog import credentials, resource_metadata
from lakehold.catalog.resource_view import ResourceRef, ResourceView, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import FOREVER, Moment
from lakehold.kit.errors import ConflictError
from lakehold.kit.settings import Settings
from lakehold.lake.volumes import VolumeEntry
from lakehold.runs import worker_client
from lakehold.runs.service import Run
from lakehold.web import one_time_secret, pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.confirmation import need_confirmation
from lakehold.web.connections.form import ResourceForm, load_design
from lakehold.web.connections.form_page import ConnectionTest, form_routers, probe_as_caller, workspace_id
from lakehold.web.cookies import Flash
from lakehold.web.routing import SubmittedForm
from lakehold.web.runs import RUNS, labels
from lakehold.workspaces.marts import insights, live, mart_probe, pipelines, storages
from lakehold.workspaces.marts.mart_probe import ProbeTarget
from lakehold.workspaces.marts.pages import page_frame
from lakehold.workspaces.marts.pages.page_frame import ProjectFormPage
from lakehold.workspaces.marts.settings import DESTINATION, DESTINATION_KIND, LIVE_TYPE


class MartDestinationFormPage(ProjectFormPage):
    """The form page of a project's destination."""

    kind, design = DESTINATION_KIND, load_design(page_frame.FORMS, "destination", DESTINATION.records)
    new_part, edit_part, list_view = "destinations/new", "destination/edit", "destination"

    @classmethod
    def need_workspace(cls, ctx: RequestContext, uid: str) -> None:
        """Refuse unless the workspace is a project that the caller sees."""
        page_frame.need_project(ctx, uid)

    def test(self, filled: ResourceForm, secrets: Mapping[str, str]) -> ConnectionTest:
        """Test the connection through a worker."""
        return _test(self.request, ProbeTarget(self.uid, self.within, filled.settings(), secrets))

    def saved(self, filled: ResourceForm, uid: str) -> tuple[str, str]:
        """Return to the page of the destination."""
        message = "Saved. Applies from the next run." if self.found else f"{filled.name} was created."
        return urls.resource(uid, "destination"), message


_MAX_FILES, _MAX_RUNS = 50, 8

new, routes = form_routers(MartDestinationFormPage)


@routes.post("/{uid:path}/destination/try")
def test_destination(request: Request, uid: str) -> Response:
    """Test the saved destination."""
    found = read_transaction(request).run(lambda ctx: MartDestinationFormPage.need_resource(ctx, uid))
    tested = _test(request, ProbeTarget(uid, workspace_id(found), dict(found.settings or {})))
    flash = Flash(str(tested.error), tone="bad") if tested.error else Flash(tested.message)
    return pages.redirect(request, urls.resource(uid, "destination"), flash)


def _test(request: Request, target: ProbeTarget) -> ConnectionTest:
    """Test a destination through a worker. Missing rights are raised."""
    message, error = probe_as_caller(
        request,
        lambda ctx: mart_probe.need_destination_check(ctx, target),
        lambda platform, caller: worker_client.check_connection(platform, caller, "marts.destination", asdict(target)),
    )
    return ConnectionTest(message or "", error)


@routes.post("/{uid:path}/destination/secret")
def make(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Create the secret, or rotate it after a confirmation."""
    found, back = page_frame.need_edit(ctx, uid, DESTINATION_KIND), urls.resource(uid, "destination")
    if live.get_secret(ctx, uid) is not None:
        text = "The current secret stops working immediately."
        need_confirmation(request, sent, f"Rotate the secret of {found.name}?", text, do="Rotate", back=back)
    try:
        secret = live.create_secret(ctx, uid)
    except ConflictError as error:
        return pages.redirect(request, back, Flash(str(error), tone="bad"))
    words = "BI tools use it to pull reports. Keep it secret."
    one_time = one_time_secret.OneTimeSecret(f"Secret of {found.name}", "Secret", secret.text, words, FOREVER, back)
    return one_time_secret.redirect_to_secret(request, ctx.caller, one_time)


@routes.post("/{uid:path}/destination/secret/revoke")
def revoke(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Revoke the secret, after a confirmation."""
    found, back = page_frame.need_edit(ctx, uid, DESTINATION_KIND), urls.resource(uid, "destination")
    text = "Reports cannot be pulled until a new secret is created."
    need_confirmation(request, sent, f"Revoke the secret of {found.name}?", text, do="Revoke", back=back)
    try:
        live.revoke_secret(ctx, uid)
    except ConflictError as error:
        return pages.redirect(request, back, Flash(str(error), tone="bad"))
    return pages.redirect(request, back, Flash("The secret was revoked."))


def live_section(
    ctx: RequestContext, settings: Settings, found: ResourceView, reports: list[ResourceRef]
) -> dict[str, object] | None:
    """Return the secret of a live destination, and where each report is pulled, for those who may use or edit it."""
    uid, may_edit = found.uid, "edit" in found.actions
    if resource_metadata.load(ctx, uid).settings.get("to") != LIVE_TYPE or not (may_edit or "use" in found.actions):
        return None
    secret = live.get_secret(ctx, uid) if may_edit else None
    base = f"{settings.base_url}/api/v1/live/{urls.segment(uid)}"
    pulled = [(each, f"{base}/{urls.segment(each.uid)}") for each in reports]
    example = f'curl -H "Authorization: Bearer $SECRET" "{pulled[0][1]}?format=csv"' if pulled else ""
    here = urls.resource(uid, "destination/secret")
    asked = "Rotate the secret? The current one stops working immediately."
    fresh = (
        PageAction("Rotate", here, "post", "refresh-cw", confirm=asked)
        if secret
        else PageAction("Create secret", here, "post", "key-round")
    )
    end = PageAction("Revoke", f"{here}/revoke", "post", "x", confirm="Revoke the secret?", danger=True)
    return {
        "secret": secret,
        "made_by": VisibleRefs(ctx).ref(secret.made_by) if secret else None,
        "addresses": pulled,
        "example": example,
        "make": page_frame.action_of(ctx, uid, "edit", fresh),
        "revoke": end if secret else None,
    }


@routes.get("/{uid:path}/destination/file")
def download(ctx: ReadContext, platform: CurrentPlatform, uid: str, path: str = "") -> Response:
    """Download a delivered file."""
    volume, file = storages.FILES.open_file(ctx, platform, uid, path)
    resource_usage.record(platform, ctx, "use", uid)
    return send_file(volume, file)


DeliveredFile = tuple[str, str, str, Moment]
"""Name, address, size and time of a file."""


def delivered_files(ctx: RequestContext, settings: Settings, found: ResourceView) -> list[DeliveredFile] | None:
    """Return the delivered files, newest first; None if the caller may not use them or there are none."""
    if "use" not in found.actions or resource_metadata.load(ctx, found.uid).settings.get("to") != "files":
        return None
    some = [each for each in storages.FILES.list_files(ctx, settings, found.uid) if not each.is_folder]
    newest = sorted(some, key=lambda each: each.changed_at, reverse=True)[:_MAX_FILES]
    return [_delivered_file(found.uid, each) for each in newest]


def last_delivered_file(ctx: RequestContext, settings: Settings, report: str) -> DeliveredFile | None:
    """Return the file of a report's last delivery, if it exists and the caller may use it."""
    delivered = insights.report_insight(ctx, report)
    to, places = delivered.destination, delivered.delivered.places
    if to is None or not places or not ctx.session.check(ctx.principal, "use", to.uid):
        return None
    if resource_metadata.load(ctx, to.uid).settings.get("to") != "files":
        return None
    there = (each for each in storages.FILES.list_files(ctx, settings, to.uid) if each.path == places[0])
    return next((_delivered_file(to.uid, each) for each in there), None)


def _delivered_file(uid: str, file: VolumeEntry) -> DeliveredFile:
    here = f"{urls.resource(uid, 'destination/file')}?{urlencode({'path': file.path})}"
    return file.name, here, labels.format_size(file.size), file.changed_at


@routes.get("/{uid:path}/destination")
def destination_page(request: Request, ctx: ReadContext, platform: CurrentPlatform, uid: str) -> Response:
    """Render the page of a destination."""
    found = page_frame.need_resource(ctx, uid, DESTINATION_KIND)
    resource_usage.record(platform, ctx, "see", uid)
    reports = page_frame.visible_sources(ctx, uid, "destination")
    filled = MartDestinationFormPage.design.from_resource(found)
    values: dict[str, object] = {
        **page_frame.resource_frame(ctx, found, "destination"),
        "may": resource_header.actions_of(ctx, uid),
        "deleted": pipelines.is_deleted(ctx, uid),
        "is_set": found.settings is None or bool(found.settings.get("to")),
        "where": None if found.settings is None else filled.describe(credentials.list_names(ctx, uid), "As"),
        "reports": reports,
        "went": _latest_runs(ctx, reports),
        "live": live_section(ctx, platform.settings, found, reports),
        "files": delivered_files(ctx, platform.settings, found),
        **_destination_actions(ctx, found),
    }
    return pages.render(request, "marts/destination.html", values)


def _latest_runs(ctx: RequestContext, reports: list[ResourceRef]) -> list[tuple[str, Run, int]]:
    """Return the newest visible runs of the reports that go to the destination, each with its report and rows."""
    names = {each.uid: each.name for each in reports}
    newest = RUNS.page(ctx, among=[*names], limit=_MAX_RUNS)
    return [(names[run.resource], run, sum(step.rows for step in RUNS.get(ctx, run.id).steps)) for run in newest]


def _destination_actions(ctx: RequestContext, found: ResourceView) -> dict[str, object]:
    here, uid = urls.resource, found.uid
    asked = f"Delete {found.name}? Its reports are read-only until it is restored."
    candidates = {
        "change": ("edit", PageAction("Edit", here(uid, "destination/edit"), icon="pencil")),
        "trial": ("edit", PageAction("Test connection", here(uid, "destination/try"), "post", "zap")),
        "restore": ("restore", PageAction("Restore", here(uid, "restore"), "post", "undo-2")),
        "delete": ("delete", PageAction("Delete", here(uid, "delete"), "post", "trash-2", confirm=asked, danger=True)),
    }
    actions: dict[str, object] = {
        name: page_frame.action_of(ctx, uid, right, act) for name, (right, act) in candidates.items()
    }
    actions["menu"] = [actions["change"], page_frame.copy_credentials_action(ctx, uid), actions["delete"]]
    return actions
