"""Which files both languages' sites carry beside their pages."""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from scripts import palette

ASSETS = Path(__file__).parent.parent / "docs/assets"

# KaTeX itself works in the build only; its style sheet and fonts go out.
_BUILD_ONLY = {"vendor/katex/katex.min.js"}

# Material's source maps, and its word splitters for languages that this site does not have.
_UNUSED = re.compile(r"assets/(?:javascripts|stylesheets)/(?:lunr/.*|.*\.map)")


def arrange(files: Files, config: MkDocsConfig) -> None:
    """Add docs/assets and the generated colors as `assets/...`; leave out what nobody asks for."""
    for file in [file for file in files if _UNUSED.fullmatch(file.src_uri)]:
        files.remove(file)
    for path in sorted(ASSETS.rglob("*")):
        name = path.relative_to(ASSETS).as_posix()
        if path.is_file() and name not in _BUILD_ONLY:
            files.append(File.generated(config, f"assets/{name}", abs_src_path=str(path)))
    colors = palette.stylesheet()
    files.append(File.generated(config, "assets/css/palette.css", content=colors))
