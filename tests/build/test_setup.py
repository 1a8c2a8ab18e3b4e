"""Set-up: the locks, and what `make` says when something is missing.

The Makefile runs in a copy of the files that set-up reads, with a PATH of its own, so that nothing
of the checkout is touched and nothing is downloaded.
"""

from __future__ import annotations

import hashlib
import io
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
from urllib.request import Request

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from scripts import browser, hashes, nginx

ROOT = Path(__file__).parents[2]
LOCKS = ("requirements.txt", "requirements-test.txt")
HASHED = ("build", "site", "test", "cuda", "cpu")  # locks/*.txt: the same versions, with hashes
CUDA = re.compile("nvidia|cuda|triton")
OLDEST_PYTHON = "3.11.2"  # Debian 12's

PYTHON = Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}"

# What the Makefile and the shell scripts call, Python apart.
TOOLS = (
    *("bash", "cat", "cp", "cut", "df", "dirname", "du", "env", "expand", "flock", "grep", "id"),
    *("make", "mkdir", "rm", "sed", "sh", "sha256sum", "tail", "tee", "tr"),
)


def pins(lock: str) -> dict[str, str]:
    lines = (ROOT / lock).read_text(encoding="utf-8").splitlines()
    stated = [line.split("#")[0].strip() for line in lines]
    return dict(line.split("==") for line in stated if line)


def hashed(lock: str) -> dict[str, tuple[str, list[str]]]:
    """The version of each package of a lock with hashes, and the hashes."""
    text = (ROOT / "locks" / f"{lock}.txt").read_text(encoding="utf-8")
    entries = re.findall(r"^([a-z0-9-]+)==(\S+) \\\n((?: {4}--hash=.*\n)+)", text, re.MULTILINE)
    return {name: (version, re.findall(r"sha256:(\w+)", more)) for name, version, more in entries}


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
    assert not [name for name in pins(LOCKS[1]) if CUDA.match(name)]


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
            if needed and not CUDA.match(requirement.name):
                assert canonicalize_name(requirement.name) in locked, f"{name} needs {requirement}"


def test_every_pin_takes_the_oldest_python():
    """A lock made with a later 3.11 may hold what Debian's 3.11 cannot install."""
    for name in pins(LOCKS[1]):
        python = metadata.metadata(name).get("Requires-Python")
        if python:
            assert Requirement(f"python{python}").specifier.contains(OLDEST_PYTHON), name


# The locks with hashes


@pytest.mark.parametrize("lock", HASHED)
def test_a_lock_with_hashes_holds_nothing_else(lock):
    text = (ROOT / "locks" / f"{lock}.txt").read_text(encoding="utf-8")
    pin, last = r"[a-z0-9-]+==[0-9a-z.+]+ \\", r"    --hash=sha256:[0-9a-f]{64}"
    for line in text.splitlines():
        assert re.fullmatch(rf"{pin}|{last}( \\)?|-r site.txt|# [^/]*", line), line


def test_the_locks_with_hashes_hold_the_same_versions():
    build, site, test = (
        {name: version for name, (version, _) in hashed(lock).items()} for lock in HASHED[:3]
    )
    assert build | site == pins(LOCKS[0])
    assert build | site | test == pins(LOCKS[1])


def test_the_cuda_packages_are_in_a_lock_of_their_own():
    assert hashed("cuda") and all(map(CUDA.match, hashed("cuda")))


def test_both_builds_of_torch_are_accepted():
    (version, plain), (for_cpus, cpu) = hashed("site")["torch"], hashed("cpu")["torch"]
    assert for_cpus == f"{version}+cpu"
    assert plain and cpu and not {*plain} & {*cpu}


def test_what_is_built_finds_its_builder():
    assert list(hashed("build")) == ["setuptools", "uv"]


def mark(digit: int) -> str:
    return f"{digit}" * 64


def serve_index(monkeypatch: pytest.MonkeyPatch, pages: dict[str, list[str]]) -> None:
    """An index whose files have the hashes 000…, 111… in their order; no other index answers."""

    def answer(request: Request, timeout: float) -> io.BytesIO:
        if request.full_url not in pages:
            raise OSError("no answer")
        files = enumerate(pages[request.full_url])
        links = [
            f'<a href="https://files/x/{file}#sha256={mark(i)}">{file}</a>' for i, file in files
        ]
        return io.BytesIO("\n".join(links).encode())

    monkeypatch.setattr(hashes, "urlopen", answer)


def test_wheels_for_linux_are_locked(monkeypatch):
    files = [
        "tool-1.0-cp311-cp311-manylinux_2_28_x86_64.whl",
        "tool-1.0-cp313-cp313-manylinux_2_17_aarch64.manylinux2014_aarch64.whl",
        "tool-1.0-cp39-abi3-manylinux2014_x86_64.whl",
        "tool-1.0-py3-none-any.whl",
        "tool-1.0-cp310-cp310-manylinux_2_28_x86_64.whl",
        "tool-1.0-cp311-cp311-win_amd64.whl",
        "tool-1.0-cp311-cp311-musllinux_1_2_x86_64.whl",
        "tool-1.0.tar.gz",
        "tool-1.1-py3-none-any.whl",
    ]
    serve_index(monkeypatch, {"https://index/tool/": files})
    assert hashes.listed("https://index/", "tool", "1.0") == [mark(i) for i in range(4)]


def test_a_source_is_locked_where_there_is_no_wheel(monkeypatch):
    files = ["tool-1.0-cp311-cp311-win_amd64.whl", "tool-1.0.tar.gz", "tool-1.1.tar.gz"]
    serve_index(monkeypatch, {"https://index/tool/": files})
    assert hashes.listed("https://index", "tool", "1.0") == [mark(1)]


def test_builds_for_cpus_are_those_of_pytorch(monkeypatch, tmp_path):
    files = [
        "torch-2.0%2Bcpu-cp311-cp311-manylinux_2_28_x86_64.whl",
        "torch-2.1%2Bcpu-cp311-cp311-manylinux_2_28_x86_64.whl",
    ]
    serve_index(monkeypatch, {f"{hashes.CPU_INDEX}/torch/": files})
    assert hashes.for_cpus("2.1+cpu", tmp_path / "cpu.txt") == [mark(1)]


@pytest.mark.parametrize(("version", "kept"), [("2.1", [mark(3), mark(4)]), ("2.2", [])])
def test_out_of_reach_the_locked_builds_stay(monkeypatch, tmp_path, version, kept):
    serve_index(monkeypatch, {})
    hashes.write(tmp_path / "cpu.txt", {"torch": "2.1+cpu"}, {"torch": [mark(3), mark(4)]})
    assert hashes.for_cpus(f"{version}+cpu", tmp_path / "cpu.txt") == kept


# What make says


class Copy:
    """The files of set-up in a folder of their own, and a PATH with nothing but the tools."""

    def __init__(self, folder: Path, tools: Path):
        self.folder, self.tools = folder, tools
        (folder / "scripts").mkdir(parents=True)
        (folder / "locks").mkdir()
        tools.mkdir(parents=True)
        for name in ("Makefile", "scripts/setup.sh", "scripts/browser.py", "scripts/serve.py"):
            shutil.copy(ROOT / name, folder / name)
        nginx = (ROOT / "scripts/nginx.py").read_text(encoding="utf-8")
        nothing = nginx.replace('"/usr/sbin:/usr/local/sbin"', '""')  # what this machine has
        (folder / "scripts/nginx.py").write_text(nothing, encoding="utf-8")
        for lock in HASHED:
            self.lock(lock)
        for tool in TOOLS:
            if found := shutil.which(tool, path="/usr/bin:/bin"):
                (tools / tool).symlink_to(found)

    def lock(self, name: str, text: str = "# nothing") -> None:
        (self.folder / "locks" / f"{name}.txt").write_text(f"{text}\n")

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
            "UV_HTTP_RETRIES": "0",
            **environment,
        }
        return subprocess.run(
            ["make", *words],
            cwd=self.folder,
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=300,
            check=False,
        )


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path / "checkout", tmp_path / "bin")


@pytest.fixture(scope="module")
def set_up(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """A copy that is set up for the tests, without a browser, to be copied by each of them."""
    folder = tmp_path_factory.mktemp("ready")
    copy = Copy(folder / "checkout", folder / "bin")
    copy.add_python()
    copy.tool("id", "echo 1000")
    assert copy.make("for-tests").returncode == 0
    return copy


@pytest.fixture
def ready(set_up: Copy, copy: Copy) -> Copy:
    for whole, part in ((set_up.folder, copy.folder), (set_up.tools, copy.tools)):
        shutil.rmtree(part)
        shutil.copytree(whole, part, symlinks=True)
    return copy


def test_help_names_every_command(copy):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    commands = re.search(r"^\.PHONY: (.*) for-site for-tests$", makefile, re.MULTILINE)
    listed = re.findall(r"^make ([\w-]+) +\w", copy.make().stdout, re.MULTILINE)
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
    copy.lock("site", f"no-such-package==1 --hash=sha256:{mark(0)}")
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
    ready.lock("site", "# changed")
    done = ready.make("site")
    assert done.returncode and "The disk is full." in done.stdout


def test_a_busy_port(ready):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        done = ready.make("serve", f"PORT={port}")
    assert done.returncode and f"Port {port} is busy" in done.stdout
    assert f"make serve PORT={port + 1}" in done.stdout
    assert "Traceback" not in done.stdout


# Which builds are installed


def wheel(folder: Path, name: str, version: str, *needs: str) -> str:
    """A wheel with nothing in it; its hash."""
    folder.mkdir(exist_ok=True)
    inside = f"{name.replace('-', '_')}-{version}"
    needed = "".join(f"Requires-Dist: {need}\n" for need in needs)
    path = folder / f"{inside}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as file:
        head = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        file.writestr(f"{inside}.dist-info/METADATA", head + needed)
        tag = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        file.writestr(f"{inside}.dist-info/WHEEL", tag)
        file.writestr(f"{inside}.dist-info/RECORD", "")
    return hashlib.sha256(path.read_bytes()).hexdigest()


def wheel_of_uv(folder: Path) -> str:
    """The uv of this environment as the wheel that it came in; a line of a lock."""
    installed = metadata.distribution("uv")
    path = folder / f"uv-{installed.version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as file:
        for part in installed.files or []:
            script = part.parts[-2:] == ("bin", "uv")
            name = f"uv-{installed.version}.data/scripts/uv" if script else str(part)
            if script or not part.parts[0] == "..":
                file.write(Path(str(installed.locate_file(part))), name)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return f"uv=={installed.version} --hash=sha256:{digest}"


@pytest.fixture
def builds(copy: Copy) -> Copy:
    """Two builds of torch in folders of their own, one of which needs a CUDA package; the locks."""
    (copy.tools / "python3.11").symlink_to(PYTHON)
    plain, cpu = copy.folder / "plain", copy.folder / "cpu"
    plain.mkdir()
    cpu.mkdir()
    for folder in (plain, cpu):
        copy.lock("build", wheel_of_uv(folder))
    needs = "nvidia-nothing==3; platform_system == 'Linux'"
    copy.lock("site", f"torch==9.0 --hash=sha256:{wheel(plain, 'torch', '9.0', needs)}")
    copy.lock("cpu", f"torch==9.0+cpu --hash=sha256:{wheel(cpu, 'torch', '9.0+cpu')}")
    copy.lock("cuda", f"nvidia-nothing==3 --hash=sha256:{wheel(plain, 'nvidia-nothing', '3')}")
    return copy


@pytest.mark.parametrize(
    ("folders", "version", "needs_cuda"), [("plain", "9.0", True), ("plain cpu", "9.0+cpu", False)]
)
def test_each_build_of_torch_gets_what_it_needs(builds, folders, version, needs_cuda):
    done = builds.make("for-site", PIP_NO_INDEX="1", PIP_FIND_LINKS=folders)
    assert done.returncode == 0, done.stdout
    installed = {path.name for path in (builds.folder / ".venv").glob("**/*.dist-info")}
    assert f"torch-{version}.dist-info" in installed
    assert ("nvidia_nothing-3.dist-info" in installed) == needs_cuda
    assert ("installing locks/cuda.txt" in done.stdout) == needs_cuda
    assert builds.make("for-site").stdout == ""


def test_a_file_that_is_not_locked_is_refused(builds):
    wheel(builds.folder / "cpu", "torch", "9.0+cpu", "something")
    done = builds.make("for-site", PIP_NO_INDEX="1", PIP_FIND_LINKS="cpu")
    assert done.returncode and "The lock does not know this file" in done.stdout
    assert not list((builds.folder / ".venv").glob("**/torch*"))


def test_what_a_lock_lacks_is_named(builds):
    builds.lock("cuda")
    done = builds.make("for-site", PIP_NO_INDEX="1", PIP_FIND_LINKS="plain")
    assert done.returncode and "torch 9.0 requires nvidia-nothing" in done.stdout
    assert "The locks lack what is named above." in done.stdout


# Set-up is done once


def test_set_up_runs_once_and_again_when_a_lock_changes(copy):
    copy.add_python()
    first, second = copy.make("for-site"), copy.make("for-site")
    assert first.returncode == 0 and "installing locks/site.txt" in first.stdout
    assert second.returncode == 0 and second.stdout == ""
    copy.lock("site", "# changed")
    third = copy.make("for-site")
    assert "installing locks/site.txt" in third.stdout and "making .venv" not in third.stdout


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


# Newer versions


@pytest.fixture
def updating(ready: Copy) -> Copy:
    """A copy whose Python says what it is asked, and whose new lock differs."""
    python = ready.folder / ".venv" / "bin" / "python"
    python.write_text('#!/bin/sh\n[ "$1" = -c ] || echo "python $*"\n')
    shutil.copy(ROOT / "scripts" / "update.sh", ready.folder / "scripts")
    lock = ready.folder / "scripts" / "lock.sh"
    lock.write_text('#!/bin/sh\necho "lock $*"\necho "# newer" > locks/site.txt\n')
    lock.chmod(0o755)
    return ready


def test_an_update_keeps_the_numbers_first_and_compares_them_last(updating):
    done = updating.make("update")
    assert done.returncode == 0, done.stdout
    said = [
        line for line in done.stdout.splitlines() if re.match("python .*numbers|lock|.*ins", line)
    ]
    assert said == [
        "python -m scripts.numbers --keep .cache/before-update.json",
        "lock --upgrade",
        "make: installing locks/test.txt into .venv (some minutes; PyTorch is the largest)",
        "python -m scripts.numbers --since .cache/before-update.json",
    ]


def test_an_update_of_one_package(updating):
    assert (
        "\nlock --upgrade-package tqdm\n"
        in updating.make("update", "ARGS=--upgrade-package tqdm").stdout
    )


def test_an_update_that_fails_tells_the_way_back(updating):
    with (updating.folder / "scripts" / "lock.sh").open("a") as lock:
        lock.write("exit 1\n")
    done = updating.make("update")
    assert done.returncode and "The update has ended half way." in done.stdout
    assert "git checkout requirements.txt requirements-test.txt locks" in done.stdout
    assert "--since" not in done.stdout


# The browser


def test_a_user_is_told_what_the_browser_tests_need(ready):
    done = ready.make("for-tests")
    assert done.returncode == 0  # the other tests run all the same
    wanted = [browser.PACKAGE, "fontconfig", "fonts-wqy-microhei"]
    assert browser.what_to_install(wanted) in done.stdout


def test_root_gets_a_browser_by_apt(ready):
    ready.tool("id", "echo 0")
    ready.tool("apt-get", 'echo "$@" >> apt.log')
    ready.make("for-tests")
    assert (
        "install -y -qq --no-install-recommends chromium-headless-shell fontconfig fonts-wqy-microhei"
    ) in (ready.folder / "apt.log").read_text().splitlines()


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
    assert browser.PACKAGE in browser.missing_packages()


# nginx


def test_a_user_is_told_what_the_test_of_hosting_needs(ready):
    done = ready.make("for-tests")
    assert done.returncode == 0 and nginx.WHAT_TO_INSTALL in done.stdout


def test_nginx_is_unpacked_and_not_installed(ready):
    """As a service it would answer the whole network."""
    ready.tool("apt-get", 'echo "$@" >> ../../apt.log\n[ "$1" != download ] || : > nginx_1_all.deb')
    server = "usr/sbin && printf '#!/bin/sh' > usr/sbin/nginx && chmod +x usr/sbin/nginx"
    ready.tool("dpkg-deb", f'[ "$*" = "--extract nginx_1_all.deb ." ] && mkdir -p {server}')
    (ready.tools / "printf").symlink_to("/usr/bin/printf")
    (ready.tools / "chmod").symlink_to("/usr/bin/chmod")
    first, second = ready.make("for-tests"), ready.make("for-tests")
    assert (ready.folder / "apt.log").read_text() == "download -qq nginx\n"
    assert "unpacking nginx" in first.stdout and "nginx" not in second.stdout


def test_the_test_of_hosting_fails_with_the_same_message(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(nginx, "INSTALLED", "")
    monkeypatch.setattr(nginx, "UNPACKED", tmp_path)
    nginx.nginx.cache_clear()
    with pytest.raises(nginx.ServerMissing) as error:
        nginx.nginx()
    assert str(error.value) == nginx.WHAT_TO_INSTALL
