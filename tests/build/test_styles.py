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


@pytest.mark.parametrize(
    ("written", "left"),
    [
        ("/* one */.a,.b .c{x:y}", ".a{x:y}"),
        (".a:not(.b){x:y}.a:is(.b,.c){x:y}", ".a:not(.b){x:y}.a:is(.b,.c){x:y}"),
        ("[dir=rtl] .a{x:y}[dir=ltr] .a{x:y}[dir] i{x:y}", "[dir=ltr] .a{x:y}[dir] i{x:y}"),
        ("@media print{.b{x:y}}@media print{.b{x:y}.a{x:y}}", "@media print{.a{x:y}}"),
        (".a--b:not(.c){x:y}", ""),
        (".a--d:not(.c){x:y}", ".a--d:not(.c){x:y}"),
        (
            ':root{--u:url(\'data:,<a b="1;2">\');--v:url("x;");--w:1;--s:2}i{x:var(--v)}',
            ':root{--v:url("x;");--s:2}i{x:var(--v)}',
        ),
        ("@font-face{src:url(data:font/woff2;base64,AA==)}", None),
        ("@keyframes b{from{x:0}50%{x:1}}", None),
    ],
)
def test_what_no_page_needs_goes(written: str, left: str | None) -> None:
    names = {"a", "a--d", "ltr", "--s"}
    assert styles.trimmed(written, names) == (written if left is None else left)


def test_names_come_from_the_pages_and_scripts_of_the_site_alone(tmp_path: Path) -> None:
    for name, text in {
        "one.html": '<p class="a b" style="fill: var(--f)">.prose</p>',
        "assets/s.js": 'x.className = "made"',
        "zh/one.html": '<p class="other">',
        styles.ADDRESS: ":root{--f:1;--g:1}.a{}.b{}.made{}.other{}.prose{}",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    styles.trim(tmp_path, ["en", "zh"])
    assert (tmp_path / styles.ADDRESS).read_text() == ":root{--f:1;}.a{}.b{}.made{}"
