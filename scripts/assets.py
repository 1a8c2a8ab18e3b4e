"""Which files both languages' sites carry beside their pages."""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from scripts import palette, styles, widgets

ASSETS = Path(__file__).parent.parent / "docs/assets"

# KaTeX itself works in the build only; its style sheet and fonts go out.
_BUILD_ONLY = {"assets/vendor/katex/katex.min.js"}

# Material's style sheets, which are bundled, its source maps, and its word splitters for languages
# that this site does not have.
_UNUSED = re.compile(r"assets/(?:stylesheets/.*|javascripts/(?:lunr/.*|.*\.map))")

_REFERENCE = "assets/_mkdocstrings.css"  # main.html links it where it is used


def arrange(files: Files, config: MkDocsConfig, root: Path, data: dict[str, str]) -> None:
    """Add docs/assets, the style sheet and the widgets' data as `assets/...`, and no unused file.

    `data` names the data files of the project that a widget loads.
    """
    for file in [file for file in files if _UNUSED.fullmatch(file.src_uri)]:
        files.remove(file)
    for path in sorted(ASSETS.rglob("*")):
        name = f"assets/{path.relative_to(ASSETS).as_posix()}"
        if path.is_file() and name not in (*_BUILD_ONLY, *config.extra_css):
            files.append(File.generated(config, name, abs_src_path=str(path)))
    files.append(File.generated(config, styles.ADDRESS, content=sheet(config)))
    config.extra_css = [styles.ADDRESS]
    config.extra_javascript = [_theme_script(files), *config.extra_javascript]
    for name, source in data.items():
        script = widgets.data_script(name, root / source)
        files.append(File.generated(config, f"assets/widgets/data/{name}.js", content=script))


def sheet(config: MkDocsConfig) -> str:
    """All of the site's one style sheet."""
    names = [name for name in config.extra_css if name != _REFERENCE]
    return styles.bundle(config.theme.dirs, names, _sheet)


def _theme_script(files: Files) -> str:
    """Material's own script; its name holds a hash."""
    named = re.compile(r"assets/javascripts/bundle\.\w+\.min\.js")
    return next(file.src_uri for file in files if named.fullmatch(file.src_uri))


def _sheet(name: str) -> str:
    """A style sheet by its address; the one of the colors is made."""
    if name == "assets/css/palette.css":
        return palette.stylesheet()
    return (ASSETS.parent / name).read_text(encoding="utf-8")
