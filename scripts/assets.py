"""Which files both languages' sites carry beside their pages."""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from scripts import palette, widgets

ASSETS = Path(__file__).parent.parent / "docs/assets"

# KaTeX itself works in the build only; its style sheet and fonts go out.
_BUILD_ONLY = {"vendor/katex/katex.min.js"}

# Material's source maps, and its word splitters for languages that this site does not have.
_UNUSED = re.compile(r"assets/(?:javascripts|stylesheets)/(?:lunr/.*|.*\.map)")


def arrange(files: Files, config: MkDocsConfig, root: Path, data: dict[str, str]) -> None:
    """Add docs/assets, the colors and the widgets' data as `assets/...`, and no unused file.

    `data` names the data files of the project that a widget loads.
    """
    for file in [file for file in files if _UNUSED.fullmatch(file.src_uri)]:
        files.remove(file)
    for path in sorted(ASSETS.rglob("*")):
        name = path.relative_to(ASSETS).as_posix()
        if path.is_file() and name not in _BUILD_ONLY:
            files.append(File.generated(config, f"assets/{name}", abs_src_path=str(path)))
    colors = palette.stylesheet()
    files.append(File.generated(config, "assets/css/palette.css", content=colors))
    for name, source in data.items():
        script = widgets.data_script(name, root / source)
        files.append(File.generated(config, f"assets/widgets/data/{name}.js", content=script))
