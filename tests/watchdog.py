"""Runs a server until its parent is gone, and takes its folder away.

`python watchdog.py FOLDER USER COMMAND...`: it prints the server's process id, and ends the server
when its own stdin ends, which happens when its parent dies, however that dies. USER may be empty.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading


def watch(folder: str, user: str, command: list[str]) -> None:
    """Until stdin ends; the server may be killed and is then simply not there any more."""
    with open(os.path.join(folder, "server.log"), "ab") as log:
        server = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            user=user or None,
            group=user_group(user),
            extra_groups=[] if user else None,
        )
    print(server.pid, flush=True)
    threading.Thread(target=server.wait, daemon=True).start()
    keeps = sys.stdin.read() == "keep"
    if server.poll() is None:
        server.send_signal(signal.SIGQUIT)
        server.wait()
    if not keeps:
        shutil.rmtree(folder, ignore_errors=True)


def user_group(user: str) -> int | None:
    """The group that a user has at first."""
    if not user:
        return None
    import pwd

    return pwd.getpwnam(user).pw_gid


if __name__ == "__main__":
    watch(sys.argv[1], sys.argv[2], sys.argv[3:])
