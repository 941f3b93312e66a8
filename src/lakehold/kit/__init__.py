"""What knows nothing of data or access.

- `errors`: the one error tree; every refusal says what, where and what to do next
- `ids`: which texts may be an id or a name
- `clock`: time as whole microseconds since 1970, UTC
- `database`: SQLite or PostgreSQL behind one URL; one transaction per request or run step
- `mails`: a mail, and the server that takes it
"""
