"""`mkdocs serve` on one port, after a look whether it is free: `python -m scripts.serve 8000`.

MkDocs would find a busy port only after the whole build, and end in a traceback.
"""

from __future__ import annotations

import os
import socket
import sys

HOST = "127.0.0.1"


def is_free(host: str, port: int) -> bool:
    with socket.socket() as probe:
        # As the server does: a port whose connections are only fading away counts as free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def main(port: int) -> None:
    if not is_free(HOST, port):
        sys.exit(
            f"make: Port {port} is busy: another program, perhaps an older `make serve`, uses it.\n"
            f"make: Stop that one, or take another port: make serve PORT={port + 1}"
        )
    mkdocs = [sys.executable, "-m", "mkdocs", "serve", "--dev-addr", f"{HOST}:{port}"]
    os.execv(sys.executable, mkdocs)


if __name__ == "__main__":
    main(int(sys.argv[1]))
