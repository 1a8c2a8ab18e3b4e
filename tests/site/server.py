"""A host for the built site, as plain as any: files, and the root's 404 page for the rest."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

# A browser that sends this gets every script empty.
NO_SCRIPTS = {"X-Scripts": "none"}


class Host(SimpleHTTPRequestHandler):
    """Serves a folder; the sitemap's addresses become those of this host.

    Instant navigation goes by the sitemap, and the port is known only after the build. Assets are
    kept by the browser: a test visits hundreds of pages that share them.
    """

    extensions_map = {**SimpleHTTPRequestHandler.extensions_map, ".ipynb": "application/json"}

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        if path.is_dir():
            path /= "index.html"
        if not path.is_file():
            self._send(HTTPStatus.NOT_FOUND, "text/html", Path(self.directory, "404.html"))
        else:
            self._send(HTTPStatus.OK, self.guess_type(path), path)

    def _send(self, status: HTTPStatus, kind: str, path: Path) -> None:
        empty = path.suffix == ".js" and NO_SCRIPTS.items() <= dict(self.headers).items()
        body = b"" if empty else path.read_bytes()
        if path.name == "sitemap.xml":
            here = f"http://{self.headers['Host']}/".encode()
            body = body.replace(published_at(Path(self.directory)).encode(), here)
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        if "assets" in path.parts:
            self.send_header("Cache-Control", "max-age=3600")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def published_at(site: Path) -> str:
    """The address that the site was built for."""
    sitemap = (site / "sitemap.xml").read_text(encoding="utf-8")
    first = re.search(r"<loc>(.*?)</loc>", sitemap)
    assert first, "the sitemap has no page"
    return f"http://{urlsplit(first[1]).netloc}/" if first[1].startswith("http:") else first[1]


@contextmanager
def serving(site: Path) -> Iterator[str]:
    """The address at which `site` is served until the block ends."""
    host = ThreadingHTTPServer(("127.0.0.1", 0), partial(Host, directory=str(site)))
    thread = threading.Thread(target=host.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{host.server_port}/"
    finally:
        host.shutdown()
        host.server_close()
        thread.join()
