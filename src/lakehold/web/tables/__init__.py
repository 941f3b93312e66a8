"""Pages of tables and rows, shared by all workspaces.

- `grids`: rows as a grid of cells
- `page_frame`: access checks and template values that the views of a table share
- `table_pages`: fields and sample of a table
"""
