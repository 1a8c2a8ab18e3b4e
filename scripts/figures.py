"""Write every figure as SVG and PNG, light and dark, in every language, for slides.

python -m scripts.figures [folder]
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tokpos.figures import gallery


def main() -> None:
    parser = argparse.ArgumentParser(description="write every figure as SVG and PNG")
    parser.add_argument("folder", nargs="?", type=Path, default=Path("figures"))
    folder = parser.parse_args().folder
    count = sum(len(figure.save(folder)) for figure in gallery())
    print(f"{count} files in {folder}/")


if __name__ == "__main__":
    main()
