"""Foundations that know nothing of data or access.

- `errors`: the error hierarchy; every error says what is wrong, where, and what to do next
- `ids`: validation and comparison of ids and names
- `certificates`: an own certificate authority, and certificates of the server
- `clock`: moments as whole microseconds since 1970, UTC
- `daemon_pool`: threads for work that may never end
- `database`: SQLite or PostgreSQL behind one URL; one transaction per request or run step
- `jdbc_address`: JDBC addresses in their parts, and the databases that the installation allows
- `keys`: the key ring that encrypts secrets and seals the audit log
- `mail`: mail messages, and the SMTP server that they are sent to
- `parent_watch`: ends a process whose parent has gone
- `plugins`: packages with a descriptor, found by their folders or named by an environment variable
- `network_policy`: lists of hosts and mail domains, and how a host is compared with them
- `secret_headers`: HTTP headers whose values are credentials
- `settings_schema`: schemas of the settings of resources, and errors that name the setting
- `slots`: bounds how much slow work is under way at once
- `settings`: the platform's settings, from environment variables
"""
