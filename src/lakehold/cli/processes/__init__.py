"""The processes of an installation, and how they are started and stopped.

- `supervisor`: runs a server and a worker as child processes, and restarts one that dies
- `server_process`: the server process
"""
