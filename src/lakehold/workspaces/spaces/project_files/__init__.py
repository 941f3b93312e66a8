"""A data project as one YAML file: exported, planned and applied, perhaps in another data space.

- `file_format`: reads and writes the file
- `references`: connections and tasks in settings, as ids and as names
- `export`: a project to a file
- `project_import`: what a file changes in a data space, and the changes
"""
