"""REST endpoints of the access engine, under `/api/v1/access`.

A question is not an attempt: a question about something that the caller may not see is answered 404, and not recorded
in the audit log.

- `question_scope`: who may ask about whom, and what they may see
- `questions`: check and explain; who may do something, and with which resources
- `what_if`: the effect of changes, and facts as JSON
- `access_models`: list, read, try and adopt access models
- `audit_log`: read, export and verify the audit log
- `reviews`: every member × resource × action, as a background job
"""
