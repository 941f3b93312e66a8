"""Access as code: a tenant's people, groups, workspaces, resources, grants and settings as YAML files.

- `export`: a tenant to files, which file holds what, and files to a folder, where the tests in it stay
- `desired_state`: files to a DesiredState, or an error that names every file and line that is wrong
- `tenant_state`: that form, also as a view in memory
- `plan`: the steps that bring a tenant to the files, and their effects; takes them all in one transaction
- `plan_text`: a plan as text
- `metadata`: addresses, descriptions, settings and schedules of a tenant, which facts do not have
- `tenant_writer`: applies a plan as its caller: the rights to it, metadata, schedules, and what is missing
- `diff`, `steps`, `name_claims`: the differences, the steps that a plan has, and their order
- `assertions`, `assertion_runner`, `assertion_report`: the tests in the files, their run, and its report
- `parser`, `file_format`, `resources`: read the files
- `yaml_writer`: writes YAML
- `json_schema`: the format as a JSON Schema, for editors
"""

from lakehold.access_as_code.assertion_runner import AssertionReport, run_files, run_session
from lakehold.access_as_code.desired_state import DesiredState, parse_files, read_files
from lakehold.access_as_code.export import WrittenFile, export_tenant, write_files
from lakehold.access_as_code.plan import ChangePlan, ChangeWriter, apply_plan, make_plan
from lakehold.access_as_code.tenant_state import EntryMetadata

__all__ = [
    "AssertionReport", "ChangePlan", "ChangeWriter", "DesiredState", "EntryMetadata", "WrittenFile", "apply_plan",
    "export_tenant", "make_plan", "parse_files", "read_files", "run_files", "run_session", "write_files",
]  # fmt: skip
