"""The few mails that the directory sends: plain words and one link. They wait in the outbox, encrypted."""

from __future__ import annotations

from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment, format_moment
from lakehold.kit.settings import Settings
from lakehold.ledger import outbox

INVITE, SIGN_IN, PASSWORD = "invite", "sign_in", "password"

_PATHS = {INVITE: "invite", SIGN_IN: "link", PASSWORD: "password"}
_SUBJECTS = {
    INVITE: "{who} invites you to {tenant}",
    SIGN_IN: "Your link to sign in to {tenant}",
    PASSWORD: "Set your password for {tenant}",
}
_BODIES = {
    INVITE: "{who} invites you to {tenant} on Lakehold. Open this link to accept:",
    SIGN_IN: "Open this link to sign in to {tenant} on Lakehold:",
    PASSWORD: "Open this link to set a new password for {tenant} on Lakehold:",
}
_END = "It can be used once, until {until} UTC.\nIf you did not expect this mail, leave it: nothing happens."


def can_be_sent(settings: Settings) -> bool:
    """Whether this installation sends mails."""
    return bool(settings.smtp.get_secret_value())


def address_of(settings: Settings, about: str, secret: str) -> str:
    """The link that carries a secret to its owner."""
    return f"{settings.base_url}/{_PATHS[about]}/{secret}"


def post(ctx: RequestContext, about: str, receiver: str, link: str, until: Moment) -> None:
    """Let the mail be sent after the commit."""
    view = ctx.view
    words = {
        "tenant": view.names.get(view.resource(ctx.caller.tenant)) or ctx.caller.tenant,
        "who": view.names.get(view.ids.get(ctx.caller.member) or 0) or "Somebody",
        "until": format_moment(until)[:16],
    }
    body = f"{_BODIES[about].format(**words)}\n\n{link}\n\n{_END.format(**words)}\n"
    outbox.enqueue(
        ctx.session.transaction,
        ctx.session.tenant,
        ctx.at,
        receiver=receiver,
        subject=_SUBJECTS[about].format(**words),
        body=ctx.keys.encrypt(body),
    )
