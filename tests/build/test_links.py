"""Links to the outside: the form of the list, what a page may point to, and who still answers."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from scripts import links, visit
from scripts.lesson import Problem
from scripts.links import Link, Outside

HOST = "https://example.org"


def listed(*addresses: str) -> list[Link]:
    return [Link(address, "topic", line) for line, address in enumerate(addresses, 1)]


# The list

FAULTS = {
    "http://example.org/": "begins with https://",
    "ftp://example.org/": "begins with https://",
    f"{HOST}/a ": "no blanks",
    f"{HOST}/a b": "no blanks",
    f"{HOST}/文": "no blanks",
    "https://Example.org/": "small letters",
    "https://me@example.org/": "small letters",
    "https://example.org:443/": "small letters",
    "https://localhost/": "small letters",
    HOST: "a slash",
    f"{HOST}/?utm_source=a": "`utm_source`",
    f"{HOST}/?a=b&gclid=1": "`gclid`",
    f"{HOST}/#part": "begins with #",
}


@pytest.mark.parametrize("address", FAULTS)
def test_the_form_of_an_entry(address):
    (problem,) = links.check_form(listed(address))
    assert FAULTS[address] in problem.message and problem.path == "docs/links.yml"


def test_entries_as_they_should_be(tmp_path):
    text = f"# head\na:\n  - {HOST}/%E9?q=1\n  - {HOST}/a_(b).pdf\nb: # more\n  - {HOST}/A/*\n"
    (tmp_path / "links.yml").write_text(text, encoding="utf-8")
    read = links.read(tmp_path / "links.yml")
    assert [(link.topic, link.line) for link in read] == [("a", 3), ("a", 4), ("b", 6)]
    assert not links.check_form(read)


def test_an_entry_stands_once_and_in_order():
    problems = links.check_form(listed(f"{HOST}/b", f"{HOST}/a", f"{HOST}/b"))
    assert [(problem.line, problem.message.partition(": ")[2]) for problem in problems] == [
        (2, f"in the order of the alphabet it stands before {HOST}/b"),
        (3, "it stands in line 1 already"),
    ]


# What a page points to


def outside(*addresses: str) -> Outside:
    return Outside(listed(*addresses), ["http://127.0.0.1:8000/", ""], [f"{HOST}/manual/"])


@pytest.mark.parametrize(
    "html",
    [
        f'<a href="{HOST}/a">', f'<a class="x" href="{HOST}/a#part">', f'<a href="{HOST}/q?a=1&amp;b=2">',
        f'<a href="{HOST}/manual/deep/er.html#x">', '<a href="page.html#x">', '<a href="#x">',
        '<link rel="canonical" href="http://127.0.0.1:8000/zh/index.html">',
        '<image href="data:image/png;base64,AAAA"/>',
    ],
)  # fmt: skip
def test_what_a_page_may_point_to(html):
    listing = outside(f"{HOST}/a", f"{HOST}/q?a=1&b=2", f"{HOST}/manual/*")
    assert listing.unlisted(html) == []


@pytest.mark.parametrize(
    "address",
    [
        f"{HOST}/b", f"{HOST}/a/b", f"{HOST}/a?b=c", "http://example.org/a", f"{HOST}/manual",
        "//example.org/a", "mailto:me@example.org", "javascript:go()", "http://127.0.0.1:8001/",
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "form", ['<a href="{}">', "<a href='{}'>", "<a href={}>", '<a href = "{}">']
)
def test_what_it_may_not(address, form):
    page = form.format(address) * 2
    assert outside(f"{HOST}/a", f"{HOST}/manual/*").unlisted(page) == [address]


def test_an_entry_that_no_page_needs_is_named():
    listing = outside(f"{HOST}/a", f"{HOST}/b", f"{HOST}/c/*", f"{HOST}/manual/*")
    listing.unlisted(f'<a href="{HOST}/b"><a href="{HOST}/c/d"><a href="{HOST}/manual/e">')
    said = [(problem.line, problem.message) for problem in listing.check_list()]
    assert said == [
        (1, f"{HOST}/a: no page points there; take it out"),
        (3, f"{HOST}/c/*: only manuals that mkdocs.yml names as inventories are listed with `*`"),
    ]


def test_the_readme_is_held_to_the_list_and_uses_it(tmp_path):
    text = f"[a]({HOST}/a), <{HOST}/b> and\n[c][]\n\n[c]: {HOST}/c\n\n    code {HOST}/d\n"
    (tmp_path / "README.md").write_text(text, encoding="utf-8")
    listing = listed(f"{HOST}/b")
    message = "this file points to '{}', which is not in docs/links.yml"
    assert links.check_readmes(tmp_path, listing) == [
        Problem("README.md", 1, message.format(f"{HOST}/a")),
        Problem("README.md", 4, message.format(f"{HOST}/c")),
    ]
    assert not Outside(listing, [], used=links.beside(tmp_path)).check_list()


# Who still answers


class Host(BaseHTTPRequestHandler):
    def do_HEAD(self) -> None:
        self.send_response(405 if self.path == "/get-only" else self._status())
        self.send_header(
            "Location", {"/301": "/new", "/302": "/303", "/303": "/301"}.get(self.path, "/")
        )
        self.end_headers()

    def do_GET(self) -> None:
        assert self.headers["User-Agent"].startswith("tokpos")
        self.send_response(self._status())
        self.send_header("Location", {"/301": "/new", "/303": "/301"}.get(self.path, "/"))
        self.end_headers()

    def _status(self) -> int:
        return int(self.path[1:]) if self.path[1:].isdigit() else 200

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def host() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Host)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


ANSWERS = {
    "/": "",
    "/get-only": "",
    "/302": "",  # it leads on: to 303, to 301, to a page
    "/301": "301 Moved Permanently: /new",
    "/404": "404 Not Found",
    "/410": "410 Gone",
    "/500": "500 Internal Server Error",
}


@pytest.mark.parametrize("path", ANSWERS)
def test_what_a_host_says_of_an_address(host, path):
    assert visit.fault(host + path) == ANSWERS[path]


@pytest.fixture
def nobody() -> Iterator[str]:
    """A port that is taken and that answers nothing."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


def test_what_is_wrong_is_told_and_a_dead_host_is_asked_once(host, nobody, monkeypatch):
    asked = []
    fault = visit.fault
    monkeypatch.setattr(visit, "fault", lambda *what: asked.append(what[0]) or fault(*what))
    addresses = [f"{host}/404", f"{nobody}/a", f"{host}/", f"{nobody}/b", f"{host}/410"]
    told = dict(visit.visit(addresses, pause=0))
    assert (
        told.pop(f"{nobody}/a")
        == told.pop(f"{nobody}/b")
        == "no answer: [Errno 111] Connection refused"
    )
    assert told == {f"{host}/404": "404 Not Found", f"{host}/410": "410 Gone"}
    assert sorted(asked) == sorted([*addresses[:3], addresses[4]])


def test_without_a_network_that_is_said_once(nobody, monkeypatch, capsys, tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / links.SHOWN).write_text(f"a:\n  - {nobody}/a\n  - {nobody}/*\n", encoding="utf-8")
    monkeypatch.setattr(visit, "ROOT", tmp_path)
    assert visit.main() == 1
    said = capsys.readouterr()
    assert said.err == "No address answers. Is there a network that leads outside?\n"
    assert "no answer" not in said.out


def test_the_command_counts_and_names(host, monkeypatch, capsys, tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / links.SHOWN).write_text(f"a:\n  - {host}/a\n  - {host}/404\n", encoding="utf-8")
    monkeypatch.setattr(visit, "ROOT", tmp_path)
    monkeypatch.setattr(visit.time, "sleep", lambda seconds: None)
    assert visit.main() == 1
    assert f"{host}/404: 404 Not Found\n1 of 2 are there" in capsys.readouterr().out
    (tmp_path / links.SHOWN).write_text(f"a:\n  - {host}/a\n", encoding="utf-8")
    assert visit.main() == 0
