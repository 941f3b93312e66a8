"""Questions to the access engine over HTTP, under `/api/v1/access`.

- `asking`: who may ask about whom, and what they may be told; everything here goes through it
- `facts`: grants, attributes, edges and changes as JSON
- `checks`, `explains`, `members`, `abilities`, `what_ifs`: may they, why, who, what, and what would a change do
- `models`: the tenant's access models: list, read, try, adopt
- `audits`: the audit log: page, export, verify
- `reviews`: every member × resource × action, as a job

Asking is no attempt: a question about something that the caller may not see is answered 404, and not written down.
"""
