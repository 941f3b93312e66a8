"""Access as code: a tenant's people, groups, workspaces, resources, grants and settings as YAML files.

- `export`: a tenant to files, and files to a folder, where the tests in it stay
- `file_layout`: which file holds what
- `desired_state`: files to a DesiredState, or an error that names every file and line that is wrong
- `tenant_state`: that form, also as a view in memory
- `plan`: the steps that bring a tenant to the files, and their effects
- `plan_text`: a plan as text
- `diff`, `steps`, `dry_run`: the differences, the steps that a plan has, and their order
- `apply`: takes all steps of a plan in one transaction, unless the tenant or the files have changed since
- `assertions`, `assertion_runner`, `assertion_report`: the tests in the files, their run, and its report
- `parser`, `file_format`, `resources`, `metadata`, `validation`: read and check the files
- `yaml_writer`: writes YAML
- `json_schema`: the format as a JSON Schema, for editors
"""

from lakehold.access_as_code.apply import ChangeWriter, apply_plan
from lakehold.access_as_code.assertion_runner import AssertionReport, run_files, run_session
from lakehold.access_as_code.desired_state import DesiredState, parse_files, read_files
from lakehold.access_as_code.export import WrittenFile, export_tenant, write_files
from lakehold.access_as_code.metadata import EntryMetadata
from lakehold.access_as_code.plan import ChangePlan, make_plan

__all__ = [
    "AssertionReport", "ChangePlan", "ChangeWriter", "DesiredState", "EntryMetadata", "WrittenFile", "apply_plan",
    "export_tenant", "make_plan", "parse_files", "read_files", "run_files", "run_session", "write_files",
]  # fmt: skip
