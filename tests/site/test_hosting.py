"""hosting/nginx.conf as it is shipped, in nginx itself, in front of the built site."""

from __future__ import annotations

import gzip
import re
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import Message
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, Request, build_opener

import pytest
import yaml

from scripts.nginx import nginx
from tests.conftest import ROOT
from tests.site.conftest import Open, collected

SHIPPED = ROOT / "hosting/nginx.conf"
# What a whole configuration needs besides, where anybody may start it, for one process.
AROUND = """\
daemon off;
master_process off;
pid {folder}/pid;
events {{ }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port};
        root {site};
        include {shipped};
    }}
}}
"""
SECURITY = {
    "Content-Security-Policy": "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
YEAR, MONTH = "max-age=31536000", "max-age=2592000"
UNKNOWN = ("nowhere.html", "lessons/", "lessons/no/where", "assets/a.0123abcd.min.js")


@dataclass
class Answer:
    status: int
    headers: Message
    body: bytes


class _AsItIs(HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


def get(address: str, **headers: str) -> Answer:
    request = Request(address, headers={k.replace("_", "-"): v for k, v in headers.items()})
    try:
        answer = build_opener(_AsItIs).open(request, timeout=30)
    except HTTPError as error:
        answer = error
    with answer:
        return Answer(answer.status, answer.headers, answer.read())


@pytest.fixture(scope="module")
def host(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address at which nginx serves the site."""
    folder = tmp_path_factory.mktemp("nginx")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = folder / "nginx.conf"
    settings.write_text(AROUND.format(folder=folder, port=port, site=site, shipped=SHIPPED))
    said = folder / "said"
    command = [nginx(), "-e", "stderr", "-p", folder, "-c", settings]
    with said.open("w") as errors:
        process = subprocess.Popen(command, stderr=errors)
    try:
        _wait(port, process, said)
        yield f"http://127.0.0.1:{port}/"
    finally:
        process.terminate()
        process.wait(20)


def _wait(port: int, process: subprocess.Popen[bytes], said: Path) -> None:
    deadline = time.monotonic() + 30
    while process.poll() is None and time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    pytest.fail(f"nginx does not answer:\n{said.read_text()}", pytrace=False)


@pytest.fixture(scope="module")
def one_of_each(site: Path) -> dict[str, str]:
    """A file of each kind that the site has, not the smallest, by its ending."""
    found = sorted(path for path in site.rglob("*") if path.is_file() and path.name != "404.html")
    found.sort(key=lambda path: path.stat().st_size < 1000)  # stable: small ones last
    kinds: dict[str, str] = {}
    for path in found:
        kinds.setdefault(path.suffix, path.relative_to(site).as_posix())
    return kinds


def test_security_headers_are_on_every_answer(host: str, one_of_each: dict[str, str]) -> None:
    assert {".html", ".css", ".js", ".ipynb", ".woff2"} <= set(one_of_each)
    with collected() as problems:
        for path in [*one_of_each.values(), "zh/index.html", *UNKNOWN, "zh/nowhere", "zh"]:
            headers = get(host + path).headers
            for name, value in SECURITY.items():
                if headers.get_all(name) != [value]:
                    problems.append(f"{path}: {name} is {headers.get_all(name)}")
            if headers["Server"] != "nginx":
                problems.append(f"{path}: the version of the server is told")


def test_every_kind_of_file_has_its_type(host: str, one_of_each: dict[str, str]) -> None:
    """With `nosniff` a browser refuses a script or a style of another type."""
    types = {
        suffix: get(host + path).headers["Content-Type"] for suffix, path in one_of_each.items()
    }
    text = "; charset=utf-8"
    assert types[".html"] == f"text/html{text}" and types[".css"] == f"text/css{text}"
    assert types[".js"] == f"text/javascript{text}" and types[".woff2"] == "font/woff2"
    unknown = {suffix for suffix, kind in types.items() if kind == "application/octet-stream"}
    assert unknown <= {"", ".inv", ".gz"}, "name the type in hosting/nginx.conf"


def test_text_is_gzipped(host: str, site: Path, one_of_each: dict[str, str]) -> None:
    packed = {".png", ".woff2", ".gz", ".inv", ".pdf", ".zip", ""}
    for suffix, path in one_of_each.items():
        answer = get(host + path, Accept_Encoding="gzip")
        if suffix in packed:
            assert "Content-Encoding" not in answer.headers, path
        else:
            assert answer.headers["Content-Encoding"] == "gzip", path
            assert answer.headers["Vary"] == "Accept-Encoding", path
            assert gzip.decompress(answer.body) == (site / path).read_bytes(), path
        assert "Content-Encoding" not in get(host + path).headers, path


def test_pages_are_asked_for_anew_and_hashed_files_are_kept(host: str, site: Path) -> None:
    names = [path.relative_to(site).as_posix() for path in site.rglob("assets/**/*.*")]
    hashed = [name for name in names if re.search(r"\.[0-9a-f]{8}\.min\.(css|js)$", name)]
    fonts = [name for name in names if name.endswith(".woff2")]
    hashed += [path.relative_to(site).as_posix() for path in site.glob("**/figures/*.svg")][:4]
    assert len(hashed) >= 8 and fonts
    kept = dict.fromkeys(hashed, YEAR) | {fonts[0]: MONTH}
    kept |= dict.fromkeys(["", "zh/", "lessons/rope.html", "assets/js/language.js"], "no-cache")
    for name, wanted in kept.items():
        answer = get(host + name)
        assert answer.headers.get_all("Cache-Control") == [wanted], name
        again = get(host + name, If_None_Match=answer.headers["ETag"], Accept_Encoding="gzip")
        assert again.status == 304 and not again.body, name


@pytest.mark.parametrize(("folder", "language"), [("", "en"), ("zh/", "zh-Hans")])
@pytest.mark.parametrize("path", UNKNOWN)
def test_an_unknown_address_is_answered_in_its_language(
    host: str, folder: str, language: str, path: str
) -> None:
    answer = get(host + folder + path)
    page = answer.body.decode()
    texts = re.findall(r'<p lang="([\w-]+)">', page)
    assert answer.status == 404
    assert f'<html lang="{language}"' in page
    assert texts[0] == language and sorted(texts) == ["en", "zh-Hans"]


def test_every_language_has_its_own_text() -> None:
    first, *others = yaml.safe_load((ROOT / "docs/site.yml").read_text("utf-8"))["languages"]
    shipped = SHIPPED.read_text(encoding="utf-8")
    for language in others:
        lines = f"location /{language}/ {{\n    error_page 403 404 =404 /{language}/404.html;\n}}"
        assert lines in shipped, f"in hosting/nginx.conf write\n{lines}"


def test_a_folder_leads_to_its_page_on_any_port(host: str) -> None:
    answer = get(f"{host}zh")
    assert answer.status == 301 and answer.headers["Location"] == "/zh/"
    assert get(f"{host}zh/").status == 200


def test_pages_of_both_languages_work_behind_it(host: str, watch: Open) -> None:
    watched = watch(host)
    assert watched.go("lessons/lookup.html") == 200
    watched.page.click(".tp-switch")
    watched.page.wait_for_url("**/zh/lessons/lookup.html")
    assert watched.page.locator("article h1").is_visible()
