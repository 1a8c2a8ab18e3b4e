"""What may befall a build: a clear message, the last site untouched, and the next build right."""

import os
import random
import shutil
import subprocess
import sys
import time

import pytest

from tests.build.tiny_site import ENVIRONMENT, ONE, TinySite

BUILD = [sys.executable, "-m", "mkdocs", "build", "--strict"]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A built site that each test leaves as it was."""
    site = TinySite(tmp_path_factory.mktemp("faults"))
    done = site.build()
    assert done.returncode == 0, done.stdout
    return site


@pytest.fixture(autouse=True)
def last_site_stays(site):
    before = site.bytes()
    yield
    assert site.bytes() == before, "the last good site is another"
    done = site.build()
    assert done.returncode == 0, done.stdout
    assert site.bytes() == before, "the next build is another"
    assert not list(site.root.glob(".site*"))


def isolated(site, script, *options):
    """Run a shell script in a namespace of its own, where it may mount and has no network."""
    command = ["unshare", "--map-root-user", "--mount", *options]
    try:
        subprocess.run([*command, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"the kernel gives no namespace to try it in: {error}")
    return subprocess.run(
        [*command, "sh", "-c", script], cwd=site.root, text=True, timeout=180,
        env=ENVIRONMENT | {"BUILD": " ".join(BUILD)}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


def test_a_full_disk(site, tmp_path):
    size = sum(map(len, site.bytes().values())) * 3 // 2
    done = isolated(
        site,
        f"mount -t tmpfs -o size={size} tmpfs {tmp_path} && cp -r site {tmp_path} && "
        f"$BUILD --site-dir {tmp_path}/site; status=$?; "
        f"diff -r site {tmp_path}/site && echo the last site stays; exit $status",
    )
    assert done.returncode, done.stdout
    assert "No space left on device" in done.stdout and "The site is not built" in done.stdout
    assert "the last site stays" in done.stdout and "Traceback" not in done.stdout


def test_no_room_for_kept_results(site):
    shutil.rmtree(site.root / ".cache")
    (site.root / ".cache").mkdir()
    done = isolated(site, "mount -t tmpfs -o size=4k tmpfs .cache && $BUILD")
    assert done.returncode, done.stdout
    assert "No space left on device" in done.stdout and "The site is not built" in done.stdout
    assert "Traceback" not in done.stdout


def test_a_read_only_cache(site):
    done = isolated(site, "mount --bind .cache .cache && mount -o remount,ro,bind .cache && $BUILD")
    assert done.returncode, done.stdout
    assert "Read-only file system" in done.stdout and "The site is not built" in done.stdout
    assert "Traceback" not in done.stdout


def test_no_network(site):
    shutil.rmtree(site.root / ".cache")
    done = isolated(site, "$BUILD", "--net")
    assert done.returncode == 0, done.stdout


def test_a_damaged_cache(site):
    damages = [lambda b: b[:-9], lambda b: b"", lambda b: b[::-1]]
    entries = sorted(path for path in (site.root / ".cache").rglob("*") if path.is_file())
    assert len(entries) >= len(damages)
    for number, path in enumerate(entries):
        path.write_bytes(damages[number % 3](path.read_bytes()))
    done = site.build()
    assert done.returncode == 0 and "Lessons: 2 of 2 to run" in done.stdout, done.stdout


def test_a_package_that_is_missing(site):
    site.edit(
        "docs/lessons/one.py", "VALUE\n\nVALUE", "VALUE\nimport a_model_not_installed\n\nVALUE"
    )
    done = site.build()
    site.write("docs/lessons/one.py", ONE)
    assert done.returncode and "docs/lessons/one.py:9: cell 3" in done.stdout, done.stdout
    assert "No module named 'a_model_not_installed'" in done.stdout


def test_a_lesson_that_is_not_utf8(site):
    path = site.root / "docs/lessons/one.py"
    path.write_bytes(ONE.encode().replace("一句话".encode(), "一句话".encode("gb18030")))
    done = site.build()
    site.write("docs/lessons/one.py", ONE)
    assert done.returncode and "docs/lessons/one.py:6" in done.stdout, done.stdout
    assert "UTF-8" in done.stdout and "Traceback" not in done.stdout


def test_line_ends_of_windows(site):
    for path in site.root.glob("docs/**/*.*"):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    done = site.build()
    for path in site.root.glob("docs/**/*.*"):
        path.write_bytes(path.read_bytes().replace(b"\r\n", b"\n"))
    assert done.returncode == 0, done.stdout  # and the site is the same, as after each test here


def test_a_clock_that_was_set_back(site):
    """Every file is from the future, and what was kept as well."""
    future = time.time() + 10 * 365 * 86400
    for path in site.root.rglob("*"):
        os.utime(path, (future, future))
    assert "nothing to run" in site.build().stdout
    site.edit("src/pack/__init__.py", "VALUE = 7", "VALUE = 8")
    assert "Lessons: 1 of 2 to run" in site.build().stdout
    assert "The value is 8" in site.page("lessons/one.html")
    site.edit("src/pack/__init__.py", "VALUE = 8", "VALUE = 7")
    assert site.build().returncode == 0


def test_killed_at_random_moments(site):
    before = site.bytes()
    start = time.monotonic()
    assert site.build().returncode == 0
    usual, chance = time.monotonic() - start, random.Random(0)
    site.edit("docs/lessons/one.py", "A plain sentence", "A plainer sentence")
    after = None
    for kill in range(20):
        site.build(killed_after=chance.uniform(0.1, 1.05) * usual)
        if kill % 5 == 0:
            shutil.rmtree(site.root / ".cache", ignore_errors=True)
        whole = site.bytes()
        if whole != before:
            assert b"A plainer sentence" in whole["lessons/one.html"]
            assert whole == (after or whole), f"kill {kill} left half a site"
            after = whole
    done = site.build()
    assert done.returncode == 0 and site.bytes() == (after or site.bytes()), done.stdout
    site.write("docs/lessons/one.py", ONE)
    assert site.build().returncode == 0
