"""`mkdocs serve` of a tiny site: one rebuild for an edit, errors on their page, recovery."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from contextlib import suppress
from pathlib import Path

import pytest

from tests.build.tiny_site import ENVIRONMENT, TWO, TinySite

PATIENCE = 90  # seconds that a rebuild may take on a busy machine before the test gives up


class Server:
    """A running `mkdocs serve` and what it says."""

    def __init__(self, site: TinySite):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.site = site
        self.temporary = site.root.with_name(f"{site.root.name}-temporary")
        self.temporary.mkdir()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "mkdocs", "serve", "-a", f"127.0.0.1:{self.port}"],
            cwd=site.root, env=ENVIRONMENT | {"TMPDIR": str(self.temporary)}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        self.said: list[str] = []
        self.listener = threading.Thread(target=self._listen)
        self.listener.start()
        self.wait("Serving on")

    def _listen(self) -> None:
        for line in self.process.stdout:
            self.said.append(line)

    def wait(self, words: str, start: int = 0) -> None:
        deadline = time.monotonic() + PATIENCE
        while not any(words in line for line in self.said[start:]):
            assert time.monotonic() < deadline and self.process.poll() is None, "".join(self.said)
            time.sleep(0.05)

    def get(self, page: str) -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/{page}", timeout=60) as answer:
            return answer.read().decode()

    def bytes(self) -> dict[str, bytes]:
        """Every file that is served, read while none of them changed."""
        found = self._read()
        while found != (again := self._read()):
            found = again
        return found

    def _read(self) -> dict[str, bytes]:
        (folder,) = self.temporary.glob("mkdocs_*")
        files = [path for path in folder.rglob("*") if path.is_file()]
        with suppress(FileNotFoundError):
            return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
        return {}  # a new site took its place just now

    def epoch(self, page: str = "lessons/one.html") -> str:
        """The mark by which an open page knows that there is a newer build."""
        return re.search(r"livereload\((\d+),", self.get(page))[1]

    def edit(self, name: str, old: str, new: str) -> list[str]:
        """Save an edit, wait for its rebuild and for any further one; return what was said."""
        start = len(self.said)
        self.site.edit(name, old, new)
        self.wait("Reloading browsers", start)
        time.sleep(1)  # the server looks twice a second
        return self.said[start:]

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(20)
        self.listener.join()
        self.process.stdout.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    running = Server(TinySite(tmp_path_factory.mktemp("served")))
    yield running
    running.stop()


def rebuilds(said: list[str]) -> int:
    return sum("Reloading browsers" in line for line in said)


def runs(said: list[str]) -> list[str]:
    return [match[1] for line in said if (match := re.search(r"Lesson (\S+) (?:ran|failed)", line))]


@pytest.mark.parametrize(
    ("name", "old", "new", "executed", "english", "chinese"),
    [
        ("docs/lessons/one.py", "A plain sentence.", "A plainer sentence.", [], "A plainer sentence", "一句话"),
        ("docs/lessons/one.py", "一句话。", "一句短话。", [], "A plainer sentence", "一句短话"),
        ("docs/lessons/one.py", "{{ VALUE }}", "{{ VALUE + 1 }}", ["lessons/one"], "The value is 8", "值是 8"),
        ("src/pack/__init__.py", "VALUE = 7", "VALUE = 70", ["lessons/one"], "The value is 71", "值是 71"),
        ("docs/lessons/two.py", "[][0]", "[1][1]", ["lessons/two"], "The value is 71", "值是 71"),
        ("docs/translations/zh.yml", "本次构建已验证", "已验证", [], "Checked in this build", "已验证"),
        ("docs/zh/index.md", "欢迎看", "欢迎来看", [], "The value is 71", "值是 71"),
    ],
)  # fmt: skip
def test_an_edit_reaches_both_languages_by_one_rebuild(
    server, name, old, new, executed, english, chinese
):
    before = server.epoch(), server.epoch("zh/lessons/one.html")
    said = server.edit(name, old, new)
    assert rebuilds(said) == 1, said
    assert runs(said) == executed
    assert english in server.get("lessons/one.html")
    assert chinese in server.get("zh/lessons/one.html")
    after = server.epoch(), server.epoch("zh/lessons/one.html")
    assert after[0] > before[0] and after[1] > before[1]


ALONE = [  # edits after which the pages of the lesson are made again, and no others
    ("docs/lessons/one.py", "A plain sentence.", "A plainer sentence."),
    ("docs/lessons/one.py", "一句话。", "一句短话，讲位置。"),
    ("docs/lessons/one.py", "VALUE > 0", "VALUE > 1"),
    ("docs/lessons/two.py", "\n[][0]", "\nprint('more')\n[][0]"),
    ("docs/lessons/one.py", "\nVALUE\n", "\nVALUE + 1\n"),
]
MORE = [  # edits that other pages show too
    ("docs/lessons/one.py", "# First lesson", "# The first lesson"),
    ("docs/lessons/two.py", "{#end}", "{#end}\n#\n# ## Beyond {#beyond}"),
    ("docs/lessons/one.py", "from pack import VALUE\n", "VALUE = 7\n"),
]
SEARCH = "plugins:\n  search: {separator: '[\\s\\-]+'}\n  offline: {}\n"


def test_an_edit_makes_what_a_full_build_makes(tmp_path):
    """Only the lesson's own pages are made again; every byte is as if all had been."""
    site = TinySite(tmp_path)
    site.edit("mkdocs.yml", "plugins:\n", SEARCH)
    server = Server(site)
    try:
        for edit in ALONE:
            said = "".join(server.edit(*edit))
            assert "Made again, and nothing else: lessons/" in said, said
        served = server.bytes()
        said = "".join(server.edit("mkdocs.yml", "site_name:", "site_name: "))
        assert "Made again" not in said and server.bytes() == served
        for edit in MORE:
            said = "".join(server.edit(*edit))
            assert "Made again" not in said and "Documentation built" in said
    finally:
        server.stop()


FAULTS = {
    "a cell that raises": ("docs/lessons/two.py", "[1][1]", "1 / 0", "not IndexError"),
    "a cell that cannot be read": ("docs/lessons/two.py", "# %% raises", "# %% rises", "unknown"),
    "a missing translation": ("docs/lessons/two.py", 'lang="zh"', 'lang="xx"', "languages are"),
    "a dead anchor and an unlisted link": ("docs/lessons/two.py", "{#end}", "{#end}\n# [1](one.md#none) [2](https://a.org/)", "(?s)not in docs/links.yml.*no.* anchor"),
    "a broken formula": ("docs/lessons/two.py", "{#end}", "{#end}\n# $\\nope$", "typeset"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_an_error_shows_on_its_page_and_the_next_save_recovers(server, fault):
    name, good, bad, message = FAULTS[fault]
    server.edit(name, good, bad)
    pages = ["lessons/two.html", "zh/lessons/two.html"]
    for page in pages:
        shown = server.get(page)
        assert "build-error" in shown and re.search(message, shown), shown[-3000:]
    assert "build-error" not in server.get("lessons/one.html")
    server.edit(name, bad, good)
    for page in pages:
        assert "build-error" not in server.get(page)


def test_a_fault_of_a_page_shows_there_and_one_of_the_site_on_the_home_page(server):
    server.edit("docs/zh/index.md", "欢迎", "欢迎\n\n欢迎")
    assert "blocks" in server.get("zh/index.html") and "build-error" in server.get("zh/index.html")
    server.edit("docs/zh/index.md", "欢迎\n\n欢迎", "欢迎")
    server.edit("docs/glossary.yml", "english: {}", "english: {")
    assert "docs/glossary.yml" in server.get("index.html")
    server.edit("docs/glossary.yml", "english: {", "english: {}")
    assert "build-error" not in server.get("index.html")


def test_one_process_is_kept_ready_and_replaced_when_it_is_gone(server):
    def ready() -> list[int]:
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                parent = (entry / "stat").read_text().rpartition(")")[2].split()[1]
                if b"scripts.zygote" in (entry / "cmdline").read_bytes():
                    found += [int(entry.name)] if int(parent) == server.process.pid else []
        return found

    def run(old, new):
        return runs(server.edit("docs/lessons/two.py", old, new))

    (first,) = ready()
    assert run("[1][1]", "[1][2]") == ["lessons/two"] and ready() == [first]
    os.kill(first, signal.SIGKILL)
    assert run("[1][2]", "[1][1]") == ["lessons/two"]


def test_serving_starts_with_a_fault(tmp_path):
    site = TinySite(tmp_path)
    site.edit("docs/site.yml", "[one, two]", "[one, two, three]")
    site.edit("docs/lessons/two.py", "[][0]", "1 / 0")
    server = Server(site)
    try:
        assert "there is no such file" in server.get("lessons/three.html")
        assert "not IndexError" in server.get("zh/lessons/two.html")
        start = len(server.said)
        site.write("docs/lessons/three.py", TWO)
        server.wait("Reloading browsers", start)
        assert "Another sentence" in server.get("lessons/three.html")
    finally:
        server.stop()


def test_a_module_that_cannot_be_read_shows_where_it_is_used(server):
    server.edit("src/pack/__init__.py", "VALUE = 70", "VALUE = = 70")
    for page in ("lessons/one.html", "zh/lessons/one.html", "api/index.html", "zh/api/index.html"):
        assert "SyntaxError" in server.get(page)
    server.edit("src/pack/__init__.py", "VALUE = = 70", "VALUE = 70")
    assert "The value is 71" in server.get("lessons/one.html")


def test_a_busy_port_is_said_before_the_build(server):
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "serve", "-a", f"127.0.0.1:{server.port}"],
        cwd=server.site.root, env=ENVIRONMENT, text=True, timeout=PATIENCE,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert done.returncode and f"Port {server.port} is busy" in done.stdout
    assert "Traceback" not in done.stdout and "Lessons:" not in done.stdout
