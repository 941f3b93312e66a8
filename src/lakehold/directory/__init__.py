"""Tenants, members and groups: who they are, how they authenticate, and the context in which they act.

- `platform`: the assembled application services, shared by all requests of a process; when secrets were last used
- `request_context`, `caller`: one caller's questions and changes in one transaction
- `errors`: audited refusals
- `read_recorder`: who read what, collected in memory and written to the audit log in batches
- `audit_anchors`: the anchors of the audit logs, and their acknowledgement after a restored backup
- `tenants`: tenants, and the setup of the first one
- `access_models`: the built-in access models, and which others a tenant may adopt
- `model_upgrade`: the upgrade of a platform to the installed release: tables, and shipped access models
- `members`: members, service accounts and roles on the tenant; members by role, group or sort
- `groups`: groups and their members
- `act_for`: who may act for a member
- `member_removal`: what a member owns, and their removal
- `invites`, `invite_acceptance`: the invite with what it gives, and its acceptance
- `accounts`, `passwords`: e-mail addresses, mails to members, and password hashes
- `authentication`: sign-in by password or magic link, and password changes
- `throttle`: limits of attempts
- `sign_ins`: devices on which a member is signed in
- `links`: one-time links and the mails that carry them
- `tokens`: API tokens and their scope
- `secret_tokens`: the format of secrets, and the lookup of their rows

model.yaml is the tenant's own access model, which those of the workspaces extend; model.versions lists its releases.
"""

from functools import cache
from pathlib import Path

from lakehold.access.model.loader import load_model
from lakehold.access.model.schema import AccessModel


@cache
def model() -> AccessModel:
    """Return the tenant's access model."""
    return load_model(Path(__file__).with_name("model.yaml"))
