"""Running lessons: outputs, failures with their place, what is kept and when it is run again."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from scripts import execute
from scripts.execute import Executor
from scripts.lesson import Lesson, read

LANGUAGES = ["en", "zh"]
TITLE = '# %% [markdown] lang="en"\n# # Title\n# %% [markdown] lang="zh"\n# # 标题\n'


class Project:
    """A tiny project: a package of three modules, a data file and lessons."""

    def __init__(self, root: Path):
        self.root = root
        self.write("src/pack/__init__.py", "")
        self.write("src/pack/near.py", "from pack.far import VALUE\n")
        self.write("src/pack/far.py", "VALUE = 1\n")
        self.write("src/pack/other.py", "VALUE = 1\n")
        self.write("data.txt", "1")
        self.said: list[str] = []

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def lesson(self, body: str, name: str = "one", title: str = TITLE) -> Lesson:
        self.write(f"docs/lessons/{name}.py", title + textwrap.dedent(body))
        return self.read(name)

    def read(self, name: str = "one") -> Lesson:
        return read(self.root / f"docs/lessons/{name}.py", self.root / "docs", LANGUAGES)

    def run(self, *lessons: Lesson):
        self.said = []
        executor = Executor(self.root, self.root / ".cache")
        return executor.results(list(lessons), self.said.append)

    def ran(self) -> bool:
        """Whether the last run executed anything."""
        return not self.said[0].endswith("nothing to run")


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path / "project")


def prose(text: str) -> str:
    return f'# %% [markdown] lang="en"\n# {text}\n# %% [markdown] lang="zh"\n# {text}\n'


def outputs(project: Project, body: str) -> list[dict]:
    results, errors = project.run(project.lesson(body))
    assert not errors, errors
    return [o for step in results["lessons/one"].values() for o in step.get("outputs", [])]


def test_outputs_keep_their_order_and_kind(project):
    shown = outputs(
        project,
        """\
        # %%
        from IPython.display import display
        print("a")
        display("b")
        print("c")
        "d"
        """,
    )
    kinds = [output["output_type"] for output in shown]
    assert kinds == ["stream", "display_data", "stream", "execute_result"]
    assert [shown[0]["text"], shown[2]["text"]] == ["a\n", "c\n"]
    assert shown[3]["data"]["text/plain"] == "'d'"


def test_what_a_library_writes_past_python_is_seen(project):
    shown = outputs(
        project, '# %%\nimport os\n_ = os.write(1, b"from below\\n")\nos.system("echo x")'
    )
    assert shown[0]["text"] == "from below\nx\n"


VALUES = {
    "50257": "50,257",
    "-3": "-3",
    "1 / 3": "0.3333",
    "4.1e-7": "4.1 × 10⁻⁷",
    "123456.0:.1e": "1.2 × 10⁵",
    "[2, 3, 4]": "[2, 3, 4]",
    "(1, 768)": "[1, 768]",
    "'word'": "word",
    "{'a': 1}['a']": "1",
    "[1, 2, 3][1:]": "[2, 3]",
    "1 / 3:.2f": "0.33",
    "True": "True",
    "__import__('numpy').float32(0.5)": "0.5",
}


def test_computed_prose(project):
    text = " ".join(f"{{{{ {expression} }}}}" for expression in VALUES)
    results, errors = project.run(project.lesson(prose(text)))
    assert not errors
    assert results["lessons/one"][3]["values"] == VALUES


def test_expressions_see_the_namespace_at_their_place(project):
    body = "# %%\nx = 1\n" + prose("{{ x }}") + "# %%\nx = 2\n" + prose("{{ x }} {{ x + 1 }}")
    results, _ = project.run(project.lesson(body))
    values = [step["values"] for step in results["lessons/one"].values() if "values" in step]
    assert values == [{"x": "1"}, {"x": "2", "x + 1": "3"}]


FAILURES = {
    "raise": ("# %%\nx = 1\n1 / 0\n", 7, 3, None, "ZeroDivisionError: division by zero"),
    "in a function": ("# %%\ndef f():\n    return [][1]\nf()\n", 7, 3, None, "IndexError"),
    "syntax at run time": ("# %%\nexec('a b')\n", 6, 3, None, "SyntaxError"),
    "check": ("# %% check=true\nassert 1 > 2\n" + prose("x").replace('"\n', '" role="claim"\n'),
              6, 3, None, "the check failed"),
    "showing a result": ("# %%\nclass A:\n    def _repr_mimebundle_(self, **_):\n        1 / 0\nA()\n",
                         8, 3, None, "ZeroDivisionError"),
    "did not raise": ("# %% raises=IndexError\n[1][0]\n", 6, 3, None, "did not raise IndexError"),
    "other error": ("# %% raises=IndexError\n1 / 0\n", 6, 3, None, "not IndexError"),
    "did not warn": ("# %% warns=UserWarning\n1\n", 6, 3, None, "did not warn UserWarning"),
    "another warning": ("# %% warns=UserWarning\nimport warnings\nwarnings.warn('a')\n"
                        "warnings.warn('b', RuntimeWarning)\n", 8, 3, None, "RuntimeWarning: b"),
    "only a kind of it": ("# %% raises=Exception\nx\n", 6, 3, None, "not Exception"),
    "a warning at import": ("# %%\nx = 1\nimport outside_loud\n", 6, 3, None, "UserWarning: loud"),
    "bytes that are no text": ("# %%\nimport os\nos.write(2, b'\\xff')\n", 6, 3, None, "error: \ufffd"),
    "a printing expression": (prose("{{ print('x') or 1 }}"), 6, 3, "en", "printed something"),
    "warning": ("# %%\nimport warnings\nwarnings.warn('old')\n", 7, 3, None, "UserWarning: old"),
    "warning of a library": ("# %%\nimport logging\nlogging.warning('careful')\n", 6, 3, None, "careful"),
    "expression": (prose("a\n# {{ nothing }}"), 7, 3, "en", "`nothing` raised NameError"),
    "unprintable expression": (prose("{{ {} }}"), 6, 3, "en", "dict cannot be printed"),
    "memory address": ("# %%\nobject()\n", 6, 3, None, "memory address"),
    "too much output": ("# %%\nprint('x' * 2_000_000)\n", 6, 3, None, "printed more than"),
}  # fmt: skip


@pytest.fixture(scope="module")
def failures(tmp_path_factory):
    """The errors of all failing lessons, run by one process."""
    project = Project(tmp_path_factory.mktemp("failures"))
    project.write("outside/outside_loud.py", "import warnings\nwarnings.warn('loud')\n")
    lessons = {
        case: project.lesson(body, f"case{number}")
        for number, (case, (body, *_)) in enumerate(FAILURES.items())
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(project.root / "outside"))
        _, errors = project.run(*lessons.values())
    return {case: errors.get(lesson.name) for case, lesson in lessons.items()}


@pytest.mark.parametrize("case", FAILURES)
def test_a_failure_names_its_place(failures, case):
    _, line, cell, language, message = FAILURES[case]
    (problem,) = failures[case].problems
    assert message in problem.message
    assert problem.path.startswith("docs/lessons/case") and problem.line == line
    assert (problem.cell, problem.language) == (cell, language)


def test_a_failure_is_not_kept_and_the_others_are(project):
    good, bad = project.lesson("# %%\n1\n"), project.lesson("# %%\n1 / 0\n", "two")
    results, errors = project.run(good, bad)
    assert set(results) == {"lessons/one"} and set(errors) == {"lessons/two"}
    project.run(good, bad)
    assert project.said[0] == "Lessons: 1 of 2 to run: lessons/two"


ENDS = {
    "exits": ("import os\nx = 1\nos._exit(3)", "ended here with exit 3"),
    "is killed": ("import os\nos.kill(os.getpid(), 9)", "ended here with signal 9"),
    "asks to exit": ("import sys\nsys.exit(3)", "SystemExit: 3"),
    "never ends": ("x = 1\nwhile True:\n    pass", "ran longer than 8 s"),
    "never ends and holds on": (
        "while True:\n    try:\n        sum(range(1000))\n    except Exception:\n        pass",
        "ran longer than 8 s",
    ),
    "never comes back from C": (
        "import ctypes\nctypes.PyDLL(None).pause()",
        "ran longer than 8 s",
    ),
    "eats memory": ("x = [0] * (1 << 40)", "MemoryError: a lesson may take 6 GiB"),
    "eats torch's memory bit by bit": (
        "import torch\nx = []\nwhile True:\n    x.append(torch.empty(1 << 28))",
        "can't allocate memory",
    ),
    "prints 100 MB": ("print('x' * 100_000_000)", "printed more than"),
    "writes a file": ("open('new.txt', 'w')", "writes no file of the project"),
    "writes over a file": (
        "from pathlib import Path\nPath('data.txt').write_text('2')",
        "writes no file of the project",
    ),
    "removes a file": ("import os\nos.remove('data.txt')", "writes no file of the project"),
    "moves a file": ("import os\nos.rename('data.txt', '../x')", "writes no file of the project"),
    "makes a folder": ("import os\nos.mkdir('new')", "writes no file of the project"),
    "leaves a thread": (
        "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), name='sleeper').start()",
        "left running: the thread sleeper",
    ),
    "leaves a process": (
        "import subprocess\np = subprocess.Popen(['sleep', '60'], start_new_session=True)",
        "left running: the process sleep",
    ),
}


@pytest.fixture(scope="module")
def misbehaved(tmp_path_factory):
    """The project after all these lessons, and their errors."""
    project = Project(tmp_path_factory.mktemp("misbehaved") / "project")
    lessons = {
        fault: project.lesson(f"# %%\n'well'\n# %%\n{body}\n", f"fault{number}")
        for number, (fault, (body, _)) in enumerate(ENDS.items())
    }
    good = project.lesson("# %%\n'well'\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(execute, "TIME_LIMIT", 8)
        results, errors = project.run(*lessons.values(), good)
    assert list(results) == [good.name], "a good lesson among bad ones"
    return project, {fault: errors[lesson.name] for fault, lesson in lessons.items()}


@pytest.mark.parametrize("fault", ENDS)
def test_a_lesson_that_misbehaves_fails_at_its_cell(misbehaved, fault):
    _, errors = misbehaved
    (problem,) = errors[fault].problems
    assert ENDS[fault][1] in problem.message
    assert problem.cell == 4 and problem.line >= 8


def test_lessons_that_misbehave_leave_the_project_as_it_was(misbehaved):
    project, _ = misbehaved
    assert {path.name for path in project.root.glob("*")} == {".cache", "data.txt", "docs", "src"}
    assert (project.root / "data.txt").read_text() == "1"


def test_a_thread_that_was_told_to_end_may_do_so(project):
    """transformers, having read a model's weights, does not wait for its threads."""
    body = """\
        # %%
        import time
        from concurrent.futures import ThreadPoolExecutor
        pool = ThreadPoolExecutor(1)
        _ = pool.submit(time.sleep, 0.5)
        pool.shutdown(wait=False)
        """
    assert outputs(project, body) == []


def test_what_a_lesson_starts_ends_with_it(project):
    body = (
        "# %%\nimport subprocess\np = subprocess.Popen(['sleep', '60'], start_new_session=True)\n"
        "open('../pid', 'w').write(str(p.pid))\n"
    )
    project.run(project.lesson(body))
    pid = int((project.root.parent / "pid").read_text())
    deadline = time.monotonic() + 5
    while _alive(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _alive(pid)


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split(")")[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_no_lesson_sees_the_state_of_another(project):
    first = project.lesson("# %%\nimport builtins, math\nbuiltins.leak = math.leak = 1\n")
    second = project.lesson(
        "# %%\nimport math\nhasattr(math, 'leak'), 'leak' in dir(__builtins__)\n", "two"
    )
    results, errors = project.run(first, second)
    assert not errors
    assert results["lessons/two"][3]["outputs"][0]["data"]["text/plain"] == "(False, False)"


# What a kept result depends on

BODY = (
    "# %%\nfrom pathlib import Path\nfrom pack import near\nx = near.VALUE\n"
    + prose("Prose {{ x }}")
    + "# %%\nPath('data.txt').read_text()\n"
)


@pytest.mark.parametrize(
    ("name", "old", "new", "runs_again"),
    [
        ("docs/lessons/one.py", "near.VALUE", "near.VALUE + 1", True),
        ("docs/lessons/one.py", "{{ x }}", "{{ x + 1 }}", True),
        ("docs/lessons/one.py", "# Prose", "# Other words,\n# a line more", False),
        ("docs/lessons/one.py", TITLE, TITLE + prose("A new paragraph."), False),
        ("src/pack/near.py", "\n", "\n# touched\n", True),
        ("src/pack/far.py", "1", "2", True),
        ("src/pack/other.py", "1", "2", False),
        ("data.txt", "1", "2", True),
    ],
)
def test_a_change_runs_the_lessons_it_can_change(project, name, old, new, runs_again):
    project.run(project.lesson(BODY))
    project.run(project.read())
    assert not project.ran()
    path = project.root / name
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    project.run(project.read())
    assert project.ran() == runs_again


def test_a_new_file_runs_the_lesson_that_listed_its_folder(project):
    listing = "# %%\nfrom pathlib import Path\nlen(list(Path('src/pack').glob('*.py')))\n"
    project.run(project.lesson(listing))
    project.write("src/pack/new.py", "")
    results, _ = project.run(project.read())
    assert project.ran() and results["lessons/one"][3]["outputs"][0]["data"]["text/plain"] == "5"


def test_a_file_saved_during_the_run_is_read_again(project):
    slow = (
        "# %%\nfrom pack.far import VALUE\nimport time\nopen('../ready', 'w').close()\n"
        "time.sleep(2)\nVALUE\n"
    )
    lesson = project.lesson(slow)
    executor = Executor(project.root, project.root / ".cache")
    run = threading.Thread(target=lambda: executor.results([lesson], lambda _: None))
    run.start()
    while not (project.root.parent / "ready").exists():
        assert run.is_alive()
        time.sleep(0.05)
    project.write("src/pack/far.py", "VALUE = 2\n")
    run.join()
    results, _ = project.run(lesson)
    assert project.ran() and results["lessons/one"][3]["outputs"][0]["data"]["text/plain"] == "2"


def test_an_interrupt_ends_the_lesson_too(project):
    project.lesson(
        "# %%\nimport os\nopen('../pid', 'w').write(str(os.getpid()))\nwhile True: pass\n"
    )
    script = (
        "from pathlib import Path; from scripts import execute, lesson; root = Path.cwd();"
        "one = lesson.read(root / 'docs/lessons/one.py', root / 'docs', ['en', 'zh']);"
        "execute.Executor(root, root / '.cache').results([one], print)"
    )
    home = str(Path(execute.__file__).parents[1])
    run = subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=project.root, env=os.environ | {"PYTHONPATH": home}, start_new_session=True,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    pid = project.root.parent / "pid"
    while not (pid.is_file() and pid.read_text()):
        assert run.poll() is None
        time.sleep(0.05)
    os.killpg(run.pid, signal.SIGINT)
    run.wait(120)
    deadline = time.monotonic() + 10
    while _alive(int(pid.read_text())) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _alive(int(pid.read_text()))


def test_an_option_of_a_cell_runs_it_again(project):
    project.run(project.lesson("# %%\nx = 1\n"))
    _, errors = project.run(project.lesson("# %% raises=ValueError\nx = 1\n"))
    assert "did not raise" in str(errors["lessons/one"])


@pytest.mark.parametrize("part", ["libraries", "engine"])
def test_another_library_or_engine_runs_it_again(project, monkeypatch, part):
    project.run(project.lesson("# %%\n1\n"))
    if part == "libraries":
        monkeypatch.setattr(execute, "_libraries", lambda: "torch==0.1")
    else:
        monkeypatch.setattr(execute, "ENGINE", ("zygote.py",))
    project.run(project.read())
    assert project.ran()


@pytest.mark.parametrize(
    "damage", [lambda b: b[:-20], lambda b: b"", lambda b: b.replace(b"'d'", b"'e'")]
)
def test_a_damaged_entry_is_run_again(project, damage):
    first, _ = project.run(project.lesson("# %%\n'd'\n"))
    entry = project.root / ".cache/lessons/one.json"
    entry.write_bytes(damage(entry.read_bytes()))
    second, _ = project.run(project.read())
    assert project.ran() and first == second


def test_a_kept_result_equals_the_run(project):
    body = project.lesson(BODY)
    first, _ = project.run(body)
    second, _ = project.run(body)
    assert not project.ran() and first == second


def test_results_equal_those_of_a_fresh_kernel(project):
    body = """\
        # %%
        import torch
        torch.manual_seed(0)
        x = torch.randn(2, 3)
        print(x.shape)
        x
        # %%
        [{"key": list(range(40))}, x.mean().item()]
        # %% raises=IndexError
        x[5]
        # %%
        sorted(name for name in dir() if not name.startswith("_"))
        """
    run = project.lesson(body)
    results, errors = project.run(run)
    assert not errors
    ours = [step["outputs"] for step in results["lessons/one"].values()]
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(code.source) for code in run.code]
    )
    environment = os.environ | execute.ENVIRONMENT
    NotebookClient(notebook, allow_errors=True, kernel_name="python3").execute(env=environment)
    theirs = [_comparable(cell.outputs) for cell in notebook.cells]
    assert [_comparable(outputs) for outputs in ours] == theirs


def _comparable(outputs: list) -> list:
    """Outputs without what a kernel numbers, and an error as its type and message."""
    plain = json.loads(json.dumps(outputs))
    for output in plain:
        output.pop("execution_count", None)
        output.pop("traceback", None)
    return plain


def test_two_runs_at_once_leave_whole_entries(project):
    body = project.lesson("# %%\nimport time\ntime.sleep(0.3)\n'd'\n")
    executor = Executor(project.root, project.root / ".cache")
    found: list = []
    threads = [
        threading.Thread(target=lambda: found.append(executor.results([body], lambda _: None)))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found[0] == found[1] and not found[0][1]
    project.run(body)
    assert not project.ran()
