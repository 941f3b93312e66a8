"""The records of what happened, in commit order.

- `change_log`: the log of changed facts with its sequence numbers, which every process catches up with
- `audit`: the tamper-evident audit log: who did what, or was denied it, and who read what
- `anchor`: heads of the audit log in files outside of the database
- `outbox`: mails and webhooks that are sent after their transaction has been committed
"""
