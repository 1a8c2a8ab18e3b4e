"""How soon a page is there, how well it is made, how smoothly a widget moves: `make budget`.

    python -m scripts.budget                    every page, and exit with 1 if a target is missed
    python -m scripts.budget --pages lessons    the lessons alone

The site is built before; `npm ci` in this folder brings Lighthouse. Pages come gzipped, from
127.0.0.1:8000, the address that the site is built for. tests/site/test_sizes.py holds the sizes.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import Page, sync_playwright

from scripts.bench_site import Target
from scripts.beside import cores
from scripts.browser import chromium

ROOT = Path(__file__).resolve().parents[2]
LIGHTHOUSE = Path(__file__).parent / "node_modules/.bin/lighthouse"
MADE_WELL = ("accessibility", "best-practices", "seo")
LESSON = "lessons/lookup"
RUNS = 3  # of each page whose times are compared
DRAGGED = {"rope": "rope", "tying": "head", "sinusoid": "sinusoidal"}
SLOW = 4  # how many times slower the processor is while a widget is dragged
PLAIN = """\
site_name: Plain
site_url: http://127.0.0.1:{port}/
use_directory_urls: false
theme: {{name: material, font: false}}
plugins: {plugins}
"""


class Gzipped(SimpleHTTPRequestHandler):
    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        if path.is_dir():
            path /= "index.html"
        if not path.is_file():
            self.send_error(404)
            return
        body = gzip.compress(path.read_bytes())
        self.send_response(200)
        kind = self.guess_type(path)
        self.send_header("Content-Type", f"{kind}; charset=utf-8" if "text" in kind else kind)
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def serving(site: Path, port: int) -> Iterator[str]:
    host = ThreadingHTTPServer(("127.0.0.1", port), partial(Gzipped, directory=str(site)))
    threading.Thread(target=host.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{port}/"
    finally:
        host.shutdown()
        host.server_close()


def audit(url: str, *categories: str) -> dict[str, Any]:
    """Lighthouse's report of a page on a phone."""
    if not LIGHTHOUSE.exists():
        sys.exit("budget: Lighthouse is not there: make budget installs it")
    done = subprocess.run(
        [
            str(LIGHTHOUSE), url, "--quiet", "--output=json",
            f"--only-categories={','.join(categories)}", "--chrome-flags=--headless --no-sandbox",
        ],
        env=os.environ | {"CHROME_PATH": str(chromium())}, capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode:
        sys.exit(f"budget: Lighthouse failed on {url}:\n{done.stderr[-2000:]}")
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def times(url: str) -> dict[str, float]:
    """Milliseconds to the first and the largest paint and of blocking, and the layout shift."""
    names = {
        "first": "first-contentful-paint", "largest": "largest-contentful-paint",
        "blocking": "total-blocking-time", "shift": "cumulative-layout-shift",
    }  # fmt: skip
    runs = [audit(url, "performance")["audits"] for _ in range(RUNS)]
    return {key: median(run[name]["numericValue"] for run in runs) for key, name in names.items()}


def plain_site(folder: Path, port: int, notebook: Path | None = None) -> Path:
    """An empty page of the theme as it comes, or a lesson's notebook in plain mkdocs-jupyter."""
    docs = folder / "docs"
    docs.mkdir(parents=True)
    (docs / "index.md").write_text("# Nothing\n", encoding="utf-8")
    plugins: dict[str, Any] = {"search": {}} | (
        {"mkdocs-jupyter": {"execute": False}} if notebook else {}
    )
    if notebook:
        (docs / notebook.name).write_bytes(notebook.read_bytes())
    config = PLAIN.format(port=port, plugins=json.dumps(plugins))
    (folder / "mkdocs.yml").write_text(config, encoding="utf-8")
    build = [sys.executable, "-m", "mkdocs", "build", "--quiet"]
    subprocess.run(build, cwd=folder, check=True, capture_output=True)
    return folder / "site"


def measure_times(address: str, site: Path, lessons: Sequence[str]) -> Iterator[Target]:
    """Of each target, the lesson that is farthest from it; beside mkdocs-jupyter, one lesson."""
    with tempfile.TemporaryDirectory() as work:
        empty = plain_site(Path(work, "empty"), 8001)
        notebook = plain_site(Path(work, "jupyter"), 8002, site / f"{LESSON}.ipynb")
        with serving(empty, 8001) as empty_at, serving(notebook, 8002) as notebook_at:
            theirs = times(f"{empty_at}index.html")
            jupyter = times(f"{notebook_at}{Path(LESSON).name}.html")
            ours = {page: times(address + page) for page in lessons}
    print(json.dumps({"empty": theirs, "mkdocs-jupyter": jupyter, **ours}, indent=1))
    same = ours[f"{LESSON}.html"]

    def worst(what: str) -> tuple[str, float]:
        page = max(ours, key=lambda page: ours[page][what])
        return page, ours[page][what]

    for paint in ("first", "largest"):
        page, time = worst(paint)
        yield Target(f"{paint} paint of {page}, beside an empty page", time / theirs[paint], 1.15)
        name = f"{paint} paint of {LESSON}, beside mkdocs-jupyter"
        yield Target(name, same[paint] / jupyter[paint], 1 / 1.5)
    page, time = worst("blocking")
    yield Target(f"blocking time of {page}, ms", time, 100)
    page, shift = worst("shift")
    yield Target(f"layout shift of {page}", shift, 0.02)


def measure_pages(address: str, pages: Sequence[str]) -> Iterator[Target]:
    """How many points of a hundred each page lacks; no time is measured, so some at once."""
    worse = 0
    with ThreadPoolExecutor(2 * cores()) as pool:
        reports = pool.map(lambda page: audit(address + page, *MADE_WELL), pages)
        for number, (page, report) in enumerate(zip(pages, reports, strict=True), 1):
            print(f"{number}/{len(pages)} {page}", flush=True)
            for category in report["categories"].values():
                lacking = 100 * (1 - category["score"])
                if lacking:
                    worse += 1
                    name = f"{page}: {category['id']} lacks: {', '.join(_failed(report, category))}"
                    yield Target(name, lacking, 0)
    yield Target("marks below 100 for accessibility, practices or SEO", worse, 0)


def _failed(report: dict[str, Any], category: dict[str, Any]) -> Iterator[str]:
    for each in category["auditRefs"]:
        found = report["audits"][each["id"]]
        if each["weight"] and found["scoreDisplayMode"] == "binary" and not found["score"]:
            yield each["id"]


def measure_dragging(address: str) -> Iterator[Target]:
    with sync_playwright() as playwright:
        for name, page in DRAGGED.items():
            browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
            longest = []
            for _ in range(RUNS):
                opened = browser.new_page()
                opened.goto(f"{address}lessons/{page}.html")
                longest.append(_drag(opened, name))
                opened.close()
            browser.close()
            # What else the machine does only adds.
            yield Target(f"{name}: longest task while it is dragged, ms", min(longest), 50)


def _drag(page: Page, name: str) -> float:
    page.locator(f"[data-widget={name}]").scroll_into_view_if_needed()
    picture = page.locator(f"[data-widget={name}] .tp-drag").first
    picture.scroll_into_view_if_needed()
    page.wait_for_timeout(1000)
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setCPUThrottlingRate", {"rate": SLOW})
    page.evaluate(
        """() => {
          window.long = [0];
          const note = (list) => {
            for (const each of list.getEntries()) window.long.push(each.duration);
          };
          new PerformanceObserver(note).observe({type: "longtask"});
        }"""
    )
    box = picture.bounding_box()
    assert box
    page.mouse.move(box["x"] + 0.8 * box["width"], box["y"] + 0.4 * box["height"])
    page.mouse.down()
    for step in range(40):
        across, up = 0.5 + 0.35 * math.cos(step / 6), 0.5 + 0.35 * math.sin(step / 6)
        page.mouse.move(box["x"] + across * box["width"], box["y"] + up * box["height"])
    page.mouse.up()
    page.wait_for_timeout(500)
    return float(max(page.evaluate("window.long")))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m scripts.budget")
    parser.add_argument("--site", type=Path, default=ROOT / "site")
    parser.add_argument("--pages", default="", help="only those with this in their path")
    asked = parser.parse_args()
    pages = sorted(path.relative_to(asked.site).as_posix() for path in asked.site.rglob("*.html"))
    pages = [page for page in pages if asked.pages in page and not page.endswith("404.html")]
    lessons = dict.fromkeys([f"{LESSON}.html", *(page for page in pages if "lessons/" in page)])
    parts: list[Callable[[str], Iterator[Target]]] = [
        partial(measure_times, site=asked.site, lessons=list(lessons)),
        measure_dragging,
        partial(measure_pages, pages=pages),
    ]
    with serving(asked.site, 8000) as address:
        targets = [target for part in parts for target in part(address)]
    for target in targets:
        verdict = "MISSED" if target.missed else "kept"
        print(f"{verdict:6} {target.value:8.3f}, at most {target.most:.3f}  {target.name}")
    return int(any(target.missed for target in targets))


if __name__ == "__main__":
    raise SystemExit(main())
