"""The processes of an installation, and how they are started and stopped.

- `supervisor`: `lakehold up`: a server and a worker, one log, one Ctrl-C
- `child`: one process that is kept running: started again when it dies, with growing patience
- `lifeline`: how a child notices that whoever started it is gone
- `serving`, `working`: what the two do; `answering`: what a worker answers on this machine
"""
