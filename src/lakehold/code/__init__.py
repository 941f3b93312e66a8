"""Access as code: a tenant's people, groups, workspaces, resources, grants and settings as YAML files.

- `exporting`: a tenant to files, and files to a folder, where the tests in it stay
- `declared`: files to a `Declared` company, or an error that names every file and line that is wrong
- `plans`: what would have to be done to make a tenant what the files say, and what that does to whom
- `applying`: does it, in one transaction, unless the tenant or the files have changed since
- `running`: the assertions in the files, asked of the files alone or of a tenant; `reports` tells how it went
- `showing`: a plan as people read it
- `schema`: the format as a JSON Schema, for editors

Below these: `company` is the form in which files and tenants are compared, with what is `told` beside the facts.
`nodes`, `words`, `things`, `cases` and `sound` read it from files, `present` from a tenant, and `world` asks it in
memory; `refs` and `times` say how files write ids and moments. `layout` and `emit` write it. `differences`, `making`,
`slots` and `steps` are what a plan is made of, `trial` finds its order, and `reasons` says why a test failed.
"""

from lakehold.code.applying import Work, apply
from lakehold.code.declared import Declared, loads, read
from lakehold.code.exporting import Written, export, write
from lakehold.code.plans import Plan, plan
from lakehold.code.running import Report, run_files, run_session
from lakehold.code.told import Told

__all__ = [
    "Declared", "Plan", "Report", "Told", "Work", "Written", "apply", "export", "loads", "plan", "read", "run_files",
    "run_session", "write",
]  # fmt: skip
