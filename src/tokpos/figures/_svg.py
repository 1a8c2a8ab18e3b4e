"""matplotlib's SVG made fit for a page: no stray ids, no styles that leak, colors by variable."""

from __future__ import annotations

import base64
import hashlib
import io
import re
from xml.sax.saxutils import quoteattr

import numpy as np
from PIL import Image

from tokpos.figures._palette import MODES, Mode, as_variable, color_of

_ROOT = re.compile(r".*?<svg [^>]*?viewBox=\"0 0 ([\d.]+) ([\d.]+)\"[^>]*>", re.DOTALL)
_UNWANTED = re.compile(
    r"<metadata>.*?</metadata>|<!--.*?-->|<defs>\s*<style.*?</style>\s*</defs>", re.DOTALL
)
_ID = re.compile(r' id="([^"]*)"')
_REFERENCE = re.compile(r'(href="#|url\(#)([^")]*)')
_COLOR = re.compile(r"#[0-9a-f]{6}(?=[;\"])")
_VARIABLE = re.compile(r"var\(--tp-([a-z-]+)\)")
_IMAGE = re.compile(r"<image [^>]*/>")
_PIXELS = re.compile(r"(?<=data:image/png;base64,)[^\"]*")
_PATH = re.compile(r'(?<= d=")[^"]*')
_LONG = re.compile(r"-?\d+\.\d{3,}")


def tidy(svg: str, name: str, alt: str) -> str:
    """One `<svg>` element that can stand in a page beside any other figure.

    Ids that nothing refers to go, the others get a prefix of the figure's name and content.
    matplotlib's style sheet would apply to the whole page: its two settings become attributes of
    the root, which only the figure inherits.
    """
    root = _ROOT.match(svg)
    if root is None:
        raise ValueError(f"figure {name!r}: not an SVG of matplotlib")
    body = _UNWANTED.sub("", svg[root.end() :])
    body = _own_ids(body, name)
    body = _PATH.sub(lambda path: _LONG.sub(_hundredths, path[0]), body)
    body = _PIXELS.sub(_with_palette, body)
    body = re.sub(r"\s*\n\s*", "\n", body.replace("xlink:href", "href")).strip()
    width, height = (f"{float(number):g}" for number in root.groups())
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="tp-figure" data-figure="{name}" '
        f'role="img" aria-label={quoteattr(alt)} width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" stroke-linejoin="round" stroke-linecap="butt">\n{body}'
    )


def _hundredths(number: re.Match[str]) -> str:
    """A coordinate to a hundredth of a pixel."""
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")


def _with_palette(pixels: re.Match[str]) -> str:
    """The same picture with a byte for each pixel, where it has few colors."""
    picture = Image.open(io.BytesIO(base64.b64decode(pixels[0]))).convert("RGBA")
    shape = (picture.height, picture.width)
    colors, places = np.unique(np.asarray(picture).reshape(-1, 4), axis=0, return_inverse=True)
    if len(colors) > 256 or (colors[:, 3] < 255).any():
        return pixels[0]
    few = Image.fromarray(places.reshape(shape).astype(np.uint8), "P")
    few.putpalette(colors[:, :3].tobytes())
    written = io.BytesIO()
    few.save(written, "PNG", optimize=True)
    return base64.b64encode(written.getvalue()).decode()


def _own_ids(body: str, name: str) -> str:
    wanted = {match[2] for match in _REFERENCE.finditer(body)}
    prefix = f"{name}-{hashlib.sha256(body.encode()).hexdigest()[:6]}-"

    def new_id(match: re.Match[str]) -> str:
        return f' id="{prefix}{match[1]}"' if match[1] in wanted else ""

    return _REFERENCE.sub(lambda match: f"{match[1]}{prefix}{match[2]}", _ID.sub(new_id, body))


def with_variables(svg: str) -> str:
    """Replace the stand-ins of the palette by CSS variables; any other color is an error."""
    return _COLOR.sub(lambda match: as_variable(match[0]), svg)


def images(svg: str) -> list[str]:
    """The raster pictures in an SVG, in order."""
    return _IMAGE.findall(svg)


def with_images_of_both_modes(light: str, dark: str) -> str:
    """Put each raster picture in twice, marked by mode; a style sheet shows one of them."""
    others = iter(images(dark))

    def both(picture: re.Match[str]) -> str:
        in_light, in_dark = picture[0], next(others)
        if in_light == in_dark:
            return in_light
        return "\n".join(
            picture.replace("<image ", f'<image class="tp-only-{mode}" ', 1)
            for mode, picture in (("light", in_light), ("dark", in_dark))
        )

    return _IMAGE.sub(both, light)


def on_paper(svg: str, mode: Mode) -> str:
    """A page's picture with one mode's colors and pixels, on its paper."""
    for other in MODES:
        if other != mode:
            svg = re.sub(rf'<image class="tp-only-{other}" [^>]*/>\n?', "", svg)
    svg = svg.replace(f' class="tp-only-{mode}"', "")
    svg = _VARIABLE.sub(lambda role: color_of(role[1], mode), svg)
    paper = f'<rect width="100%" height="100%" fill="{color_of("paper", mode)}"/>'
    return svg.replace(">\n", f">\n{paper}\n", 1)
