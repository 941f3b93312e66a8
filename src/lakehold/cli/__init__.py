"""The `lakehold` command.

- `main`: the command and its global options
- `commands`: the subcommands, a module for each topic
- `transport`: requests of the REST API and their responses; resources by their name
- `http_transport`: sends requests to a server
- `local_transport`: sends requests to the application inside this process
- `credentials_file`: where `lakehold login` stores address and token
- `output`: the global options and the context of a command; how it prints its results
- `errors`: error messages and exit codes
- `supervisor`: runs a server and workers as child processes, and restarts one that dies
- `server_process`: the server process
- `demo`: the demo company as a running platform
- `demo_branch`: its branch: a PostgreSQL with the gateway that reads it
- `tour`: a tour of the access engine in the terminal
"""

from lakehold.cli.main import app

__all__ = ["app"]
