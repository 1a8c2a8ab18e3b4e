"""A tiny site that is built by the project's own hook: what the tests of the build break."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.build import ready
from tests.build.ready import PROJECT

CONFIG = f"""\
site_name: Tiny
site_url: http://127.0.0.1:8000/
docs_dir: docs/en
use_directory_urls: false
hooks: [{PROJECT}/scripts/hook.py]
watch: [docs, src, mkdocs.zh.yml]
theme: {{name: material, font: false, language: en}}
extra: {{generator: false}}
plugins:
  mkdocs-jupyter: {{include: ["*.ipynb"], include_source: true, execute: false, cache: false}}
  autorefs: {{}}
  mkdocstrings:
    handlers:
      python:
        paths: [src]
        options:
          allow_inspection: false
          docstring_style: numpy
markdown_extensions:
  attr_list: {{}}
  admonition: {{}}
  md_in_html: {{}}
  pymdownx.arithmatex: {{generic: true}}
  pymdownx.blocks.caption: {{}}
  pymdownx.superfences: {{}}
validation: {{anchors: warn, omitted_files: warn, unrecognized_links: warn}}
"""
CHINESE = """\
INHERIT: mkdocs.yml
site_name: 小站
docs_dir: docs/zh
theme: {language: zh}
plugins:
  mkdocstrings:
    handlers:
      python:
        options:
          extensions:
            - scripts.translations.TranslateDocstrings: {catalogue: docs/translations/zh.po}
"""
SITE = """\
languages: [en, zh]
parts:
  - title: {en: First part, zh: 第一部分}
    lessons: [one, two]
package: pack
"""
PACKAGE = '''\
"""The pack."""

VALUE = 7
"""A value."""
'''
CATALOGUE = """\
msgid ""
msgstr ""
"Language: zh\\n"
"Content-Type: text/plain; charset=utf-8\\n"

msgid "The pack."
msgstr "这个包。"

msgid "A value."
msgstr "一个值。"
"""
GLOSSARY = """\
english: {}
groups:
  - id: text
    title: {en: Text, zh: 文本}
    terms:
      - {en: token, zh: 词元}
"""
ONE = """\
# %% [markdown] lang="en"
# # First lesson
# A plain sentence. See [the other](two.md#end).
# %% [markdown] lang="zh"
# # 第一课
# 一句话。见 [另一课](two.md#end)。
# %%
from pack import VALUE

VALUE
# %% [markdown] lang="en"
# The value is {{ VALUE }}, and $x^2$.
# %% [markdown] lang="zh"
# 值是 {{ VALUE }}，还有 $x^2$。
# %% check=true
assert VALUE > 0
# %% [markdown] lang="en" role="claim"
# It is above zero.
# %% [markdown] lang="zh" role="claim"
# 它大于零。
"""
TWO = """\
# %% [markdown] lang="en"
# # Second lesson
# Another sentence.
#
# ## The end {#end}
# %% [markdown] lang="zh"
# # 第二课
# 又一句话。
#
# ## 结尾 {#end}
# %% raises=IndexError
[][0]
"""
FILES = {
    "mkdocs.yml": CONFIG,
    "mkdocs.zh.yml": CHINESE,
    "docs/site.yml": SITE,
    "docs/moved.yml": "# nothing has moved\n",
    "docs/published.txt": "# nothing is published\n",
    "docs/links.yml": "# nothing points outside\n",
    "docs/glossary.yml": GLOSSARY,
    "docs/lessons/one.py": ONE,
    "docs/lessons/two.py": TWO,
    "docs/en/index.md": "# Home\n\nWelcome to [two](lessons/two.md).\n",
    "docs/zh/index.md": "# 首页\n\n欢迎看 [二](lessons/two.md)。\n",
    "docs/translations/zh.po": CATALOGUE,
    "src/pack/__init__.py": PACKAGE,
}
ENVIRONMENT = os.environ | {"NO_MKDOCS_2_WARNING": "1", "PYTHONUNBUFFERED": "1"}


class TinySite:
    def __init__(self, root: Path):
        self.root = root
        for name, text in FILES.items():
            self.write(name, text)
        for language in ("en", "zh"):
            name = f"docs/translations/{language}.yml"
            self.write(name, (PROJECT / name).read_text(encoding="utf-8"))

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def edit(self, name: str, old: str, new: str) -> None:
        text = (self.root / name).read_text(encoding="utf-8")
        assert old in text
        self.write(name, text.replace(old, new))

    def build(self, killed_after: float | None = None) -> subprocess.CompletedProcess[str]:
        """`mkdocs build --strict`; both streams are in `stdout`."""
        return ready.run(["build", "--strict"], self.root, ENVIRONMENT, 180, killed_after)

    def build_anew(
        self, *, alone: bool = False, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """The same by an interpreter of its own, `alone` on one processor."""
        return subprocess.run(
            [sys.executable, "-m", "mkdocs", "build", "--strict"],
            cwd=self.root,
            env=ENVIRONMENT | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=180,
            preexec_fn=(lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}))
            if alone
            else None,
        )

    def page(self, name: str) -> str:
        return (self.root / "site" / name).read_text(encoding="utf-8")

    def bytes(self) -> dict[str, bytes]:
        """Every file of the built site."""
        site = self.root / "site"
        files = sorted(path for path in site.rglob("*") if path.is_file())
        return {path.relative_to(site).as_posix(): path.read_bytes() for path in files}
