"""Seed 001_e95442de0b1bc8c7, Roles and Permissions: its tables as data, in its order and words.

Each cell is asked twice: as a decision of the model, and as a flow over REST and pages (`tests/golden/flows`).
"""

from __future__ import annotations

from tests.golden.marts_world import ADMIN, BU, TU

# Table "Who Can Invite Whom".
INVITES = {
    "Admin": [True, True, True],
    "Technical User": [False, True, True],
    "Business User": [False, False, True],
}
INVITING = {"Admin": ADMIN, "Technical User": TU, "Business User": BU}
CAN_INVITE = {"Can invite Admin": ADMIN, "Can invite Technical User": TU, "Can invite Business User": BU}
INVITE_CELLS = [
    (inviting, column, yes) for inviting, row in INVITES.items() for column, yes in zip(CAN_INVITE, row, strict=True)
]
INVITE_IDS = [f"001 Who Can Invite Whom | {inviting} | {column}" for inviting, column, _ in INVITE_CELLS]
