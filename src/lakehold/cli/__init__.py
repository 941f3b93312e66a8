"""The `lakehold` command.

- `main`: the command and its verbs
- `errors`: how the terminal is told of an error
- `demo`: loads the demo company and walks a person through the engine
- `docs`: writes the access tables of the documentation
"""

from lakehold.cli.main import app

__all__ = ["app"]
