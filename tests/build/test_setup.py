"""Set-up: the locks, what `make` says when something is missing, and what the package contains.

The Makefile runs in a copy of the files that set-up reads, with a PATH of its own, so that nothing
of the checkout is touched and nothing is downloaded.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from scripts import browser

ROOT = Path(__file__).parents[2]
LOCKS = ("requirements.txt", "requirements-test.txt")
OLDEST_PYTHON = "3.11.2"  # Debian 12's

PYTHON = Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}"

# What the Makefile and the shell scripts call, Python apart.
TOOLS = (
    *("bash", "cat", "cp", "cut", "df", "dirname", "du", "env", "expand", "flock", "grep", "id"),
    *("make", "mkdir", "rm", "sed", "sh", "sha256sum", "tail", "tr"),
)


def pins(lock: str) -> dict[str, str]:
    lines = (ROOT / lock).read_text(encoding="utf-8").splitlines()
    stated = [line.split("#")[0].strip() for line in lines]
    return dict(line.split("==") for line in stated if line)


def test_pytest_finds_this_folder(pytestconfig):
    """By default pytest passes over every folder named build."""
    assert not {"build", "site"} & set(pytestconfig.getini("norecursedirs"))


# The locks


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_holds_only_plain_pins(lock):
    """No option, index, file, local version or hash: it means the same on every machine."""
    for line in (ROOT / lock).read_text(encoding="utf-8").splitlines():
        assert re.fullmatch(r"([a-z0-9-]+==[0-9a-z.]+)? *(#.*)?", line), line
        assert not re.search(r"://|\.whl|\.txt|(^| )/", line), line


def test_torch_alone_decides_about_cuda():
    assert not [name for name in pins(LOCKS[1]) if re.match("nvidia|cuda|triton", name)]


def test_both_locks_agree():
    site, test = map(pins, LOCKS)
    assert site.items() <= test.items()


def test_the_locks_satisfy_pyproject():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    site = project["dependencies"] + extras["figures"] + extras["transformers"] + extras["site"]
    for lock, wanted in zip(LOCKS, (site, site + extras["test"]), strict=True):
        for requirement in map(Requirement, wanted):
            pin = pins(lock)[canonicalize_name(requirement.name)]
            assert requirement.specifier.contains(pin), f"{lock}: {requirement}, not {pin}"


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_is_complete(lock):
    """Whatever a pinned package needs is pinned as well, CUDA's packages apart."""
    locked = pins(lock)
    for name in locked:
        for requirement in map(Requirement, metadata.requires(name) or []):
            needed = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
            if needed and not re.match("nvidia|cuda|triton", requirement.name):
                assert canonicalize_name(requirement.name) in locked, f"{name} needs {requirement}"


def test_every_pin_takes_the_oldest_python():
    """A lock made with a later 3.11 may hold what Debian's 3.11 cannot install."""
    for name in pins(LOCKS[1]):
        python = metadata.metadata(name).get("Requires-Python")
        if python:
            assert Requirement(f"python{python}").specifier.contains(OLDEST_PYTHON), name


# What make says


class Copy:
    """The files of set-up in a folder of their own, and a PATH with nothing but the tools."""

    def __init__(self, folder: Path, tools: Path):
        self.folder, self.tools = folder, tools
        (folder / "scripts").mkdir(parents=True)
        tools.mkdir(parents=True)
        for name in ("Makefile", "scripts/setup.sh", "scripts/browser.py", "scripts/serve.py"):
            shutil.copy(ROOT / name, folder / name)
        for lock in LOCKS:
            (folder / lock).write_text("# nothing\n")
        for tool in TOOLS:
            if found := shutil.which(tool, path="/usr/bin:/bin"):
                (tools / tool).symlink_to(found)

    def tool(self, name: str, script: str) -> None:
        (self.tools / name).unlink(missing_ok=True)
        (self.tools / name).write_text(f"#!/bin/sh\n{script}\n")
        (self.tools / name).chmod(0o755)

    def add_python(self) -> None:
        """A Python whose `-m venv` takes no time: the environment is the one of this test."""
        (self.folder / "environment").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        (self.folder / "environment").chmod(0o755)
        making = 'mkdir -p "$3/bin" && cp environment "$3/bin/python"'
        self.tool("python3.11", f'[ "$2" != venv ] || {{ {making}; exit; }}\nexec {PYTHON} "$@"')

    def make(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        environment = {
            "PATH": str(self.tools),
            "HOME": str(self.tools.parent),
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_INDEX_URL": "http://127.0.0.1:9/simple",  # nothing listens there
            "PIP_RETRIES": "1",
            **environment,
        }
        return subprocess.run(
            ["make", *words],
            cwd=self.folder,
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=120,
            check=False,
        )


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path / "checkout", tmp_path / "bin")


@pytest.fixture
def ready(copy: Copy) -> Copy:
    """A copy that is set up for the tests, without a browser."""
    copy.add_python()
    copy.tool("id", "echo 1000")
    assert copy.make("for-tests").returncode == 0
    return copy


def test_help_names_every_command(copy):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    commands = re.search(r"^\.PHONY: (.*) for-site for-tests$", makefile, re.MULTILINE)
    listed = re.findall(r"^make (\w+) +\w", copy.make().stdout, re.MULTILINE)
    assert commands and sorted(listed) == sorted(commands[1].split())


def test_an_old_python_is_named(copy):
    copy.tool("python3", "echo 3.9")
    done = copy.make("site")
    assert done.returncode
    assert "Python 3.11 or newer is needed; python3 is 3.9" in done.stdout
    assert "sudo apt-get install python3.11 python3.11-venv" in done.stdout
    assert not (copy.folder / ".venv").exists()


def test_no_python_at_all(copy):
    done = copy.make("site")
    assert done.returncode and "Python 3.11 or newer is needed; none was found" in done.stdout


def no_venv_module(copy: Copy) -> None:
    copy.add_python()
    script = (copy.tools / "python3.11").read_text()
    copy.tool("python3.11", f'case "$2" in *ensurepip*) exit 1 ;; esac\n{script}')


def test_a_python_without_venv_tells_the_package(copy):
    no_venv_module(copy)
    copy.tool("id", "echo 1000")
    done = copy.make("site")
    assert done.returncode and "lacks the module venv" in done.stdout
    assert "sudo apt-get install python3.11-venv" in done.stdout


def test_root_gets_the_module_venv_by_apt(copy):
    no_venv_module(copy)
    copy.tool("id", "echo 0")
    copy.tool("apt-get", 'echo "$@" >> apt.log')
    copy.make("site")
    log = (copy.folder / "apt.log").read_text().splitlines()
    assert log == ["update -qq", "install -y -qq --no-install-recommends python3.11-venv"]


def test_no_network(copy):
    copy.add_python()
    (copy.folder / "requirements.txt").write_text("no-such-package==1\n")
    done = copy.make("site")
    assert done.returncode and "The package index does not answer." in done.stdout


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "none", disk]
    if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root can mount the tiny disk that this test fills")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk(tiny_disk, tmp_path):
    copy = Copy(tiny_disk / "checkout", tmp_path / "bin")
    (copy.tools / "python3.11").symlink_to(PYTHON)
    done = copy.make("site")
    assert done.returncode and "The disk is full." in done.stdout


def test_a_full_disk_while_pip_installs(ready):
    complaint = "ERROR: Could not install: [Errno 28] No space left on device"
    python = ready.folder / ".venv" / "bin" / "python"
    python.write_text(f'#!/bin/sh\n[ "$2" != pip ] || {{ echo "{complaint}" >&2; exit 1; }}\n')
    (ready.folder / "requirements.txt").write_text("# changed\n")
    done = ready.make("site")
    assert done.returncode and "The disk is full." in done.stdout


def test_a_busy_port(ready):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        done = ready.make("serve", f"PORT={port}")
    assert done.returncode and f"Port {port} is busy" in done.stdout
    assert f"make serve PORT={port + 1}" in done.stdout
    assert "Traceback" not in done.stdout


# Set-up is done once


def test_set_up_runs_once_and_again_when_a_lock_changes(copy):
    copy.add_python()
    first, second = copy.make("for-site"), copy.make("for-site")
    assert first.returncode == 0 and "installing requirements.txt" in first.stdout
    assert second.returncode == 0 and second.stdout == ""
    (copy.folder / "requirements.txt").write_text("# changed\n")
    third = copy.make("for-site")
    assert "installing requirements.txt" in third.stdout and "making .venv" not in third.stdout


def test_a_half_made_environment_is_made_anew(copy):
    copy.add_python()
    (copy.folder / ".venv" / "bin").mkdir(parents=True)
    (copy.folder / ".venv" / ".setup").write_text("unfinished\n")
    done = copy.make("for-site")
    assert done.returncode == 0 and "making .venv" in done.stdout
    assert (copy.folder / ".venv" / "bin" / "python").exists()


def test_an_environment_of_ones_own_is_left_alone(copy):
    copy.add_python()
    (copy.folder / ".venv").mkdir()
    done = copy.make("for-site")
    assert done.returncode and "The folder .venv was not made by make." in done.stdout
    assert list((copy.folder / ".venv").iterdir()) == []


# The browser


def test_a_user_is_told_what_the_browser_tests_need(ready):
    done = ready.make("for-tests")
    assert done.returncode == 0  # the other tests run all the same
    wanted = ["chromium", "fontconfig", "fonts-wqy-microhei"]
    assert browser.what_to_install(wanted) in done.stdout


def test_root_gets_a_browser_by_apt(ready):
    ready.tool("id", "echo 0")
    ready.tool("apt-get", 'echo "$@" >> apt.log')
    ready.make("for-tests")
    assert (ready.folder / "apt.log").read_text().splitlines()[-1] == (
        "install -y -qq --no-install-recommends chromium fontconfig fonts-wqy-microhei"
    )


def test_the_browser_tests_fail_with_the_same_message(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    browser.chromium.cache_clear()
    with pytest.raises(browser.BrowserMissing) as error:
        browser.chromium()
    assert str(error.value) == browser.what_to_install(browser.missing_packages())


def test_a_stub_that_only_asks_for_a_snap_is_no_browser(monkeypatch, tmp_path):
    stub = tmp_path / "chromium-browser"
    stub.write_text("#!/bin/sh\necho 'requires the chromium snap'; exit 1\n")
    stub.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert "chromium" in browser.missing_packages()


# The package


def test_the_wheel_holds_the_data_of_the_package(tmp_path):
    source = tmp_path / "source"
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    build = "import sys; from setuptools.build_meta import build_wheel; build_wheel(sys.argv[1])"
    subprocess.run(
        [sys.executable, "-c", build, str(tmp_path)], cwd=source, check=True, capture_output=True
    )
    (wheel,) = tmp_path.glob("tokpos-*.whl")
    built = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("tokpos/")}
    package = ROOT / "src" / "tokpos"
    kept = {
        f"tokpos/{path.relative_to(package).as_posix()}"
        for path in package.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert built == kept
