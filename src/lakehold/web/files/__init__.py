"""Pages of files, shared by all workspaces.

- `file_pages`: list, upload, download and delete files of a volume or a storage
"""
