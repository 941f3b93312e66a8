"""Tenants, members and groups: whom access is about, how they prove who they are, and what they do.

- `model.yaml`: the tenant's own access model, on which those of the workspaces stand
- `installation`, `caller`, `work`: the way in for everybody who does something; `errors`: refusals that are attempts
- `tenants`, `first_run`: worlds of their own, and how the first one begins
- `members`, `accounts`, `roles`, `groups`, `service_accounts`: who is there
- `standing`: who may act for whom; `choosing`: members by what they are
- `removal`, `ownership`: how a member leaves, and what becomes of what they own
- `invitations`, `invites`, `accepting`: who invites whom to what, the invite, and its acceptance
- `sign_in`, `magic_link`, `links`: the ways in; `passwords`, `new_passwords`, `throttle`, `emails`: what they rest on
- `sign_ins`, `tokens`, `narrowing`: with what somebody calls
- `credentials`, `holders`, `uses`: secrets that are shown once, whose they are, and when they were last used
- `mails`, `visit`, `tidy`: the few mails, where a visitor comes from, and what is dropped
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from lakehold.access.model.loader import load_model
from lakehold.access.model.schema import AccessModel


@cache
def model() -> AccessModel:
    """The tenant's access model."""
    return load_model(Path(__file__).with_name("model.yaml"))
