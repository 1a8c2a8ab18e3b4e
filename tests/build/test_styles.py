"""The one style sheet of all pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import styles


@pytest.fixture
def theme(tmp_path: Path) -> str:
    folder = tmp_path / "assets/stylesheets"
    folder.mkdir(parents=True)
    (folder / "main.12ab.min.css").write_text('@charset "UTF-8";a{b:url("data:x")}')
    (folder / "palette.34cd.min.css").write_text("p{}")
    return str(tmp_path)


def test_the_theme_comes_first_and_the_rest_in_its_order(theme: str) -> None:
    sheet = styles.bundle(
        ["/nowhere", theme], ["assets/css/z.css", "assets/a.css"], "i{{{}}}".format
    )
    assert sheet == (
        '@charset "UTF-8";\na{b:url("data:x")}\np{}\ni{assets/css/z.css}\ni{assets/a.css}'
    )


@pytest.mark.parametrize(
    ("written", "moved"),
    [
        ("url(fonts/A.woff2)", "url(vendor/fonts/A.woff2)"),
        ("url('../icon.svg')", "url('icon.svg')"),
        ("url(#arrow)", "url(#arrow)"),
        ("url(data:image/png;base64,AA==)", "url(data:image/png;base64,AA==)"),
    ],
)
def test_links_lead_to_the_same_files(theme: str, written: str, moved: str) -> None:
    sheet = styles.bundle([theme], ["assets/vendor/v.css"], lambda name: written)
    assert sheet.endswith(f"\n{moved}")


def test_a_theme_without_its_sheets_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"assets/stylesheets/main"):
        styles.bundle([str(tmp_path)], [], str)
