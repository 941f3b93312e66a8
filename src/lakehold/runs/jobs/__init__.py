"""Background jobs of the platform, such as exports, that take longer than a request.

- `service`: start, read and list jobs, and fetch their results; the kinds of jobs, their rights and their options
- `table`: the table of jobs, and the writes to it
- `runner`: the steps of a job; only a worker imports it
- `exports`: the audit log and the access review as files; only a worker imports it
"""
