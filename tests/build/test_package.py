"""The package as others get it: what is in its sdist and its wheel, and that the wheel is enough.

It is installed where nothing else is, then given PyTorch and what that needs, nothing more.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from email.message import Message
from email.parser import Parser
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import tokpos
from scripts import package
from tokpos import results

ROOT = Path(__file__).parents[2]
LICENSES = ("LICENSE", "bert_base_uncased_vocab.txt", "gpt2_merges.txt", "unicode.txt")

Built = tuple[Path, Path]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return package.build(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def about(built: Built) -> Message:
    with zipfile.ZipFile(built[1]) as wheel:
        name = f"tokpos-{tokpos.__version__}.dist-info/METADATA"
        return Parser().parsestr(wheel.read(name).decode())


# What is in them


def test_the_wheel_holds_the_tracked_files_of_the_package_and_no_others(built):
    inside = f"tokpos-{tokpos.__version__}.dist-info"
    with zipfile.ZipFile(built[1]) as wheel:
        names = wheel.namelist()
    tracked = [name.removeprefix("src/") for name in package.tracked(ROOT) if "/" in name]
    assert sorted(name for name in names if not name.startswith(inside)) == sorted(tracked)
    assert {"tokpos/py.typed", "tokpos/results/bench.json"} < set(names)


def test_the_sdist_holds_what_the_package_is_built_from_and_no_more(built):
    top = f"tokpos-{tokpos.__version__}/"
    with tarfile.open(built[0]) as sdist:
        files = [member.name.removeprefix(top) for member in sdist if member.isfile()]
    made = ("PKG-INFO", "setup.cfg", "src/tokpos.egg-info/")
    assert sorted(name for name in files if not name.startswith(made)) == package.tracked(ROOT)


def test_what_lies_about_gets_in_nowhere(tmp_path, monkeypatch):
    """Outside a checkout too, where git cannot say what belongs."""
    for name in ("src/tokpos/__init__.py", "src/tokpos/__pycache__/a.pyc", "README.md", "other.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert package.tracked(tmp_path) == ["README.md", "src/tokpos/__init__.py"]


def test_the_wheel_tells_its_name_version_license_and_needs(about, built):
    assert (about["Name"], about["Version"]) == ("tokpos", tokpos.__version__)
    assert about["License-Expression"] == "MIT AND Apache-2.0 AND Unicode-3.0"
    files = about.get_all("License-File")
    assert files and all(any(file.endswith(each) for file in files) for each in LICENSES)
    assert about["Requires-Python"] == ">=3.11"
    assert about.get_all("Provides-Extra") == ["figures", "transformers", "peers", "site", "test"]
    needs = [Requirement(each) for each in about.get_all("Requires-Dist", [])]
    assert [each.name for each in needs if each.marker is None] == ["torch"]
    with zipfile.ZipFile(built[1]) as wheel:
        assert {Path(name).name for name in wheel.namelist()} >= {Path(f).name for f in files}


def test_the_same_commit_gives_the_same_bytes(built, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONHASHSEED", "1")
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    mask = os.umask(0o077)
    try:
        again = package.build(tmp_path)
    finally:
        os.umask(mask)
    for first, second in zip(built, again, strict=True):
        assert first.name == second.name and first.read_bytes() == second.read_bytes(), first.name


def test_building_leaves_the_checkout_alone(built):
    made = [path.name for path in [*ROOT.iterdir(), *(ROOT / "src").iterdir()]]
    assert "build" not in made and "tokpos.egg-info" not in made


def test_the_size_that_the_readme_names_is_still_true(built):
    kept = results.load("elsewhere").data["tokpos"]
    assert built[1].stat().st_size == pytest.approx(kept["size"], rel=0.1), (
        "run python -m scripts.measure_elsewhere, then make readme"
    )


def test_a_failure_says_what_setuptools_said(tmp_path, monkeypatch):
    monkeypatch.setattr(package, "BUILD", "raise SystemExit('no version')")
    with pytest.raises(package.BuildError, match="cannot build the package:\nno version"):
        package.build(tmp_path)
    assert not list(tmp_path.iterdir())


# Installed


def install(wheel: Path, folder: Path) -> Path:
    """An environment with the wheel alone; its Python."""
    uv = [sys.executable, "-m", "uv", "--no-config", "--no-cache"]
    python = folder / "bin" / "python"
    subprocess.run([*uv, "venv", "--quiet", "--python", sys.executable, folder], check=True)
    how = ["--quiet", "--offline", "--no-deps", "--python", python]
    subprocess.run([*uv, "pip", "install", *how, wheel], check=True)
    return python


def needed(name: str, found: dict[str, metadata.Distribution]) -> dict[str, metadata.Distribution]:
    """What `name` needs in this environment, by name; itself included."""
    if name not in found:
        found[name] = metadata.distribution(name)
        for requirement in map(Requirement, found[name].requires or []):
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                needed(requirement.name, found)
    return found


@pytest.fixture(scope="module")
def bare(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(built[1], tmp_path_factory.mktemp("bare") / "venv")


@pytest.fixture(scope="module")
def with_torch(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel, and with links to PyTorch and what that needs."""
    python = install(built[1], tmp_path_factory.mktemp("torch") / "venv")
    (packages,) = (python.parents[1] / "lib").glob("*/site-packages")
    for distribution in needed("torch", {}).values():
        for top in {file.parts[0] for file in distribution.files or []} - {"..", "__pycache__"}:
            if not (packages / top).exists():
                (packages / top).symlink_to(str(distribution.locate_file(top)))
    return python


def example(readme: str) -> tuple[str, str]:
    """The example of a README, and what it says that comes out."""
    text = (ROOT / readme).read_text(encoding="utf-8")
    found = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```\n", text, re.DOTALL)
    assert found, f"{readme} has no example with its output"
    return found[1], found[2]


# Run after the example: what was loaded, what the data are, what an extra lacks.
BESIDES = """
import sys
print([name for name in ("jaxtyping", "matplotlib", "numpy", "transformers") if name in sys.modules])
print(tokpos.__version__, len(tokpos.gpt2().encode("token and position").ids))
from tokpos import results
print([results.load(path.stem).name for path in sorted(results.FOLDER.glob("*.json"))])
for use in ("import tokpos.figures.road", "tokpos.bert._read_tensors(None)"):
    try:
        exec(use)
    except ModuleNotFoundError as error:
        print(error)
"""


def test_the_example_of_the_readme_runs_with_pytorch_alone(with_torch, tmp_path):
    code, said = example("README.md")
    (tmp_path / "example.py").write_text(code + BESIDES)
    quiet = ["-W", "error", "-W", "ignore:Failed to initialize NumPy"]  # by PyTorch, without it
    done = subprocess.run(
        [with_torch, "-I", *quiet, tmp_path / "example.py"],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    names = sorted(path.stem for path in results.FOLDER.glob("*.json"))
    count = len(tokpos.gpt2().encode("token and position").ids)
    assert done.stdout.removeprefix(said).splitlines() == [
        "[]",
        f"{tokpos.__version__} {count}",
        str(names),
        "No module named 'matplotlib'; install tokpos with its extra 'figures'",
        "No module named 'safetensors'; install tokpos with its extra 'transformers'",
    ]


def test_both_readmes_show_the_same_example():
    assert example("README.md") == example("README.zh.md")


TYPED = """\
import tokpos

reveal_type(tokpos.sinusoidal_table(2, 4))
reveal_type(tokpos.bert_base_uncased().encode("a").ids)
tokpos.sinusoidal_table("2", 4)
"""
# Enough of PyTorch to tell its tensors from the rest; the whole takes mypy 20 s.
STUB = "from typing import Any\nclass Tensor: ...\ndef __getattr__(name: str) -> Any: ...\n"


def test_type_checkers_see_the_types(bare, tmp_path):
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch/__init__.pyi").write_text(STUB)
    (tmp_path / "typed.py").write_text(TYPED)
    mypy = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.devnull]
    done = subprocess.run(
        [*mypy, "--python-executable", bare, "typed.py"],
        cwd=tmp_path, env=os.environ | {"MYPYPATH": str(tmp_path)}, capture_output=True, text=True,
    )  # fmt: skip
    *seen, total = done.stdout.splitlines()
    assert [line.partition(": ")[2] for line in seen] == [
        'note: Revealed type is "torch.Tensor"',
        'note: Revealed type is "list[int]"',
        'error: Argument 1 to "sinusoidal_table" has incompatible type "str"; expected "int"  [arg-type]',
    ], done.stdout + done.stderr
    assert total.startswith("Found 1 error")
