"""The picture of the site in each README, docs/readme/en.webp and zh.webp, from the built site.

    python -m scripts.picture [site]

A lesson as it opens, in light mode. Browsers and fonts differ, so no test compares the picture;
take it again when the page looks different.
"""

from __future__ import annotations

import argparse
import base64
from pathlib import Path

from playwright.sync_api import sync_playwright

from scripts.browser import chromium

LESSON = "lessons/rope.html"
FOLDER = Path(__file__).resolve().parents[1] / "docs/readme"
HOMES = {"en": "", "zh": "zh/"}
WIDTH, HEIGHT = 1240, 900  # a README shows it smaller, and so sharp
BELOW = 36  # pixels below the caption of the first figure, where the picture ends
FRAME = """\
body::before, body::after {content: ""; position: fixed; z-index: 9; inset: 0}
body::before {top: auto; height: 40px; background: linear-gradient(transparent, white 80%)}
body::after {border: 1px solid #ccc}
"""
QUALITY = 84


def main() -> None:
    parser = argparse.ArgumentParser(description="take the pictures of the READMEs")
    parser.add_argument("site", nargs="?", type=Path, default=Path("site"))
    site = parser.parse_args().site.resolve()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        for language, home in HOMES.items():
            page = browser.new_page(color_scheme="light", bypass_csp=True)
            page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
            page.goto((site / home / LESSON).as_uri())
            page.wait_for_function("document.fonts.status === 'loaded'")
            caption = page.locator("figcaption").first.bounding_box()
            assert caption, f"{LESSON} has no caption"
            height = round(caption["y"] + caption["height"]) + BELOW
            page.set_viewport_size({"width": WIDTH, "height": height})
            page.add_style_tag(content=FRAME)
            page.wait_for_timeout(500)
            session = page.context.new_cdp_session(page)
            how = {"format": "webp", "quality": QUALITY}
            taken = session.send("Page.captureScreenshot", how)["data"]
            path = FOLDER / f"{language}.webp"
            path.write_bytes(base64.b64decode(taken))
            print(f"{path.stat().st_size / 1000:.0f} kB  {path}")
        browser.close()


if __name__ == "__main__":
    main()
