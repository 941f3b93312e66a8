"""The ways of sending, and the words for each."""

from __future__ import annotations

from lakehold.web.lakehouse.sources import databases

FILES, DATABASE, WEBHOOK, MAIL = "files", "database", "webhook", "mail"
CHAT, LIVE = "chat", "live"
LABELS = {
    FILES: "A file",
    DATABASE: "A database",
    WEBHOOK: "A webhook",
    MAIL: "A mail",
    CHAT: "A chat",
    LIVE: "Live",
}
SIGNS = {FILES: "file", DATABASE: "database", WEBHOOK: "globe", MAIL: "mail", CHAT: "message-square", LIVE: "activity"}
SHAPES = (("csv", "CSV"), ("xlsx", "Excel"), ("parquet", "Parquet"), ("jsonl", "JSON lines"))
MODES = (
    ("append", "Stay", "New ones are added to them."),
    ("overwrite", "Are replaced", "All of them, each time."),
    ("upsert", "Are changed by key", "Those with the same key; others are added."),
)
TEXTS = {
    FILES: ("volume", "file", "kind", "delimiter"),
    DATABASE: ("product", "host", "port", "database", "address", "driver", "user", "schema", "table", "mode", "keys"),
    WEBHOOK: ("address", "batch", "headers"),
    MAIL: ("receivers", "subject", "body", "file", "kind"),
    CHAT: (),
    LIVE: (),
}
"""What a form asks for each."""
SECRETS = {DATABASE: "password", WEBHOOK: "secret", CHAT: "address"}
"""What the secret of each is called, where it has one that is filled in."""
BATCH = 500
DEFAULTS = {
    FILES: {"kind": "csv", "delimiter": ","},
    DATABASE: {**databases.parts(""), "mode": "append"},
    WEBHOOK: {"batch": str(BATCH)},
    MAIL: {"kind": "xlsx"},
    CHAT: {},
    LIVE: {},
}
CHOSEN = {(FILES, "kind"): "csv", (MAIL, "kind"): "xlsx", (DATABASE, "mode"): "append"}
"""What is meant where nothing was chosen."""
