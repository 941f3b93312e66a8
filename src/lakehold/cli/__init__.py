"""The `lakehold` command.

- `main`: the command and its global options
- `commands`: the subcommands, a module for each topic
- `transport`: the interface through which a command sends requests of the REST API
- `remote_transport`: sends them to a server
- `local_transport`: sends them to the application inside this process
- `credentials_file`: where `lakehold login` stores address and token
- `global_options`: options that every command has
- `output`: how a command prints its results
- `resource_lookup`: finds the id of a resource by its name
- `errors`: error messages and exit codes
- `processes`: server and worker processes, and their supervisor
- `demo`: the demo company as a running platform
- `tour`: a tour of the access engine in the terminal
- `docs`: writes the generated pages of the documentation
"""

from lakehold.cli.main import app

__all__ = ["app"]
