"""Make the files of a release from the built site: python -m scripts.release [folder]

They are the site, the notebooks and the figures as archives, the book of each language, and the
hashes of all these. They are made beside the last ones, and take their place when all are there.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from scripts.browser import BrowserMissing
from scripts.package import BuildError
from scripts.release import files
from scripts.stage import Stage


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="make the files of a release")
    parser.add_argument("folder", nargs="?", type=Path, default=Path("release"))
    parser.add_argument("--site", type=Path, default=Path("site"), help="the built site")
    given = parser.parse_args(arguments)
    print("release: books, archives and figures; this takes some minutes")
    try:
        stage = Stage(given.folder, files.ROOT / ".cache")
        try:
            files.make(given.site.resolve(), stage.folder)
            stage.publish()
        finally:
            stage.discard()
    except (files.SiteMissing, BrowserMissing, BuildError, OSError) as error:
        sys.exit(f"release: {error}\n{given.folder}/ is as it was.")
    for path in sorted(given.folder.iterdir()):
        print(f"{path.stat().st_size / 1e6:8.2f} MB  {path}")


if __name__ == "__main__":
    main()
