"""Pages of files, shared by all workspaces.

- `file_pages`: list, upload, download and delete the files of a resource
"""
