"""Pages of the access models: the list, and the adoption of a custom one after its effects were seen."""

from fastapi import Request, Response

from lakehold.access import Adopt
from lakehold.access.model.loader import parse_model
from lakehold.access.model.policy import MANAGE_MODELS
from lakehold.api.http.dependencies import FormContext, ReadContext
from lakehold.catalog import change_preview
from lakehold.directory.access_models import builtin_models
from lakehold.kit.errors import LakeholdError
from lakehold.web import pages
from lakehold.web.components import PageAction
from lakehold.web.confirmation import ConfirmationPrompt, need_confirmed_effects, summarize_effects
from lakehold.web.form_values import FieldErrors
from lakehold.web.list_view import ListState
from lakehold.web.people.member_actions import MemberActions
from lakehold.web.routing import FORM_METHODS, SubmittedForm, router

routes = router("/models")


@routes.get("")
def models_page(request: Request, ctx: ReadContext) -> Response:
    """Show the list of models, built-in and custom."""
    ctx.need_visible(ctx.caller.tenant)
    shipped = {each.name for each in builtin_models()}
    models = ctx.session.read_view(lambda view: sorted(view.policy.models.values(), key=lambda model: model.title))
    adopt = PageAction("Adopt model", "/models/adopt", icon="plus")
    values: dict[str, object] = {
        "listing": ListState(path="/models"),
        "rows": [(model, model.name in shipped, f"/models/adopt?name={model.name}") for model in models],
        "adopt": MemberActions(ctx).offer(adopt, MANAGE_MODELS),
    }
    return pages.render(request, "models/models.html", values)


@routes.api_route("/adopt", methods=FORM_METHODS)
def adopt_model(request: Request, ctx: FormContext, sent: SubmittedForm, name: str = "") -> Response:
    """Show who would gain and lose what by a model, then adopt it."""
    ctx.need(MANAGE_MODELS, ctx.caller.tenant)
    source, errors = ctx.view.sources.get(name, ""), FieldErrors()
    if request.method == "POST":
        # Browsers end lines with two characters.
        source = str(sent.get("source", "")).replace("\r\n", "\n")
        with errors.at("source", LakeholdError):
            model = parse_model(source)
            effects = change_preview.preview_model(ctx, source)
            asking = ConfirmationPrompt(f"Adopt {model.title}?", do="Adopt model")
            need_confirmed_effects(request, sent, asking, lambda: summarize_effects(ctx.view.policy, effects))
            ctx.make(Adopt(source))
            return pages.redirect(request, "/models", f"{model.title} was adopted.")
    return pages.render_form(request, "models/adopt.html", {"source": source}, errors)
