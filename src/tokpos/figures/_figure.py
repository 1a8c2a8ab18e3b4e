"""A figure: one drawing that is drawn once for each language and each set of colors, when asked."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection
from io import BytesIO
from pathlib import Path
from typing import Any

from matplotlib.text import Text

from tokpos._words import LANGUAGES_MIME, current_language, known_language, languages, say
from tokpos.figures import _svg
from tokpos.figures._canvas import Canvas, drawable_characters, use_style
from tokpos.figures._palette import MODES, Colors, Mode

PNG_SCALE = 2

Say = Callable[..., str]


class MissingGlyphError(LookupError):
    """A figure writes a character for which no font has a glyph."""


class Figure:
    """A drawing with its words in every language.

    Parameters
    ----------
    name : str
        Name of the files that `save` writes and prefix of the ids in the SVG: letters, digits
        and hyphens.
    draw : callable
        Gets a `Canvas` and draws on its sheet or plane, with words from ``canvas.say`` and colors
        from ``canvas.color``. It must draw the same each time.
    alt : callable
        Gets ``say`` and returns the text that stands for the picture.
    """

    def __init__(
        self, name: str, draw: Callable[[Canvas], object], alt: Callable[[Say], str]
    ) -> None:
        self.name = name
        self._draw = draw
        self._alt = alt
        self._drawn: dict[tuple[str, str], str] = {}

    def __repr__(self) -> str:
        return f"Figure({self.name!r})"

    def alt(self, language: str) -> str:
        """The text that stands for the picture."""
        known_language(language)
        speaker = f"figure {self.name!r}"
        return self._alt(lambda english, /, **values: say(english, language, speaker, **values))

    def svg(self, language: str, colors: Colors = "css") -> str:
        """The picture as one ``<svg>`` element.

        Parameters
        ----------
        language : str
            One of `tokpos.figures.languages()`.
        colors : {"css", "light", "dark"}
            CSS variables on a transparent ground, for a page; or one mode's colors on its paper.

        Returns
        -------
        str
            The same bytes each time.

        Raises
        ------
        MissingWordError
            A word is not in the language's catalogue.
        MissingGlyphError
            A character has no glyph.
        """
        key = (language, colors)
        if key not in self._drawn:
            if colors == "css":
                self._drawn[key] = self._for_a_page(language)
            else:
                self._drawn[key] = _svg.on_paper(self.svg(language), colors)
        return self._drawn[key]

    def _for_a_page(self, language: str) -> str:
        svg = _svg.with_variables(self._tidy(language, "css"))
        if _svg.images(svg):  # they are in the light mode's colors
            svg = _svg.with_images_of_both_modes(svg, self._tidy(language, "dark"))
        return svg

    def _tidy(self, language: str, colors: Colors) -> str:
        metadata = dict.fromkeys(["Creator", "Date", "Format", "Type"])
        raw = self._render(language, colors, format="svg", metadata=metadata).decode()
        return _svg.tidy(raw, self.name, self.alt(language))

    def png(self, language: str, mode: Mode = "light") -> bytes:
        """The picture as PNG on the mode's paper, two pixels for each CSS pixel."""
        return self._render(
            language, mode, format="png", dpi=72 * PNG_SCALE, metadata={"Software": None}
        )

    def save(self, folder: str | Path) -> list[Path]:
        """Write every language and mode as SVG and PNG, for slides; return the paths."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        for language in languages():
            for mode in MODES:
                path = folder / f"{self.name}.{language}.{mode}.svg"
                path.write_text(self.svg(language, mode), encoding="utf-8")
                path.with_suffix(".png").write_bytes(self.png(language, mode))
                paths += [path, path.with_suffix(".png")]
        return paths

    def _render(self, language: str, colors: Colors, **how: Any) -> bytes:
        known_language(language)
        canvas = Canvas(self.name, language, colors)
        with use_style(canvas):
            self._draw(canvas)
            file = BytesIO()
            paper = "none" if colors == "css" else canvas.color("paper")
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", r"Glyph \d+ .* missing")  # an error below
                canvas.drawn.savefig(file, facecolor=paper, **how)
            _demand_glyphs(canvas)  # now that the ticks have their labels
        return file.getvalue()

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, Any]:
        shown = current_language()
        return {
            LANGUAGES_MIME: {
                language: {"image/svg+xml": self.svg(language), "text/plain": self.alt(language)}
                for language in languages()
            },
            "image/svg+xml": self.svg(shown, "light"),
            "text/plain": self.alt(shown),
        }


def _demand_glyphs(canvas: Canvas) -> None:
    known = drawable_characters()
    for text in canvas.drawn.findobj(Text):
        for character in text.get_text():
            if ord(character) not in known and character != "\n":
                raise MissingGlyphError(
                    f"figure {canvas.name!r} in language {canvas.language!r}: no glyph for "
                    f"{character!r} (U+{ord(character):04X}) in {text.get_text()!r}"
                )
