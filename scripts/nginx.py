"""Where nginx is, for the test of hosting/, or what to install to have it.

`python -m scripts.nginx` says that sentence where there is none; its exit status is 1 then.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

# Where scripts/setup.sh unpacks it; installed, it would be a running service.
UNPACKED = Path(__file__).resolve().parent.parent / ".cache/nginx/usr/sbin"
INSTALLED = "/usr/sbin:/usr/local/sbin"  # not in everybody's PATH
WHAT_TO_INSTALL = """\
The test of hosting/nginx.conf needs nginx. Install with
    sudo apt-get install --no-install-recommends nginx-light"""


class ServerMissing(RuntimeError):
    """No nginx; the message says what to install."""


@cache
def nginx() -> Path:
    folders = os.pathsep.join([os.environ.get("PATH", ""), INSTALLED, str(UNPACKED)])
    found = shutil.which("nginx", path=folders)
    if found is None or subprocess.run([found, "-v"], capture_output=True).returncode:
        raise ServerMissing(WHAT_TO_INSTALL)
    return Path(found)


if __name__ == "__main__":
    try:
        nginx()
    except ServerMissing as error:
        sys.exit(str(error))
