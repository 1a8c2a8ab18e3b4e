"""The MkDocs hook: lessons become pages, one build makes every language.

`mkdocs.yml` is the first language, at the root. Its build reads and runs the lessons, and starts
the build of each other language when its own pages are there. The site is built beside the last
one and takes its place only when everything is right.
"""

from __future__ import annotations

import errno
import logging
import os
import re
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import jinja2
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import MkDocsException, PluginError
from mkdocs.livereload import LiveReloadServer
from mkdocs.plugins import CombinedEvent, event_priority
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page
from mkdocs.utils import CountHandler, get_relative_url

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scripts import (  # noqa: E402
    addresses,
    api,
    assemble,
    assets,
    changes,
    csp,
    drawings,
    edits,
    figure_files,
    glossary,
    hints,
    inventories,
    katex,
    layout,
    links,
    origin,
    serve,
    session,
    styles,
    widgets,
)
from scripts.beside import Beside, cores  # noqa: E402
from scripts.files import write_whole  # noqa: E402
from scripts.lesson import LessonError, Problem  # noqa: E402
from scripts.machines import Machines  # noqa: E402
from scripts.places import Places  # noqa: E402
from scripts.stage import Stage, commit_time  # noqa: E402

DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES)  # faults that are not the code's

_KEPT = re.compile(
    r'(?<=<div class="drawing">)<svg .*?</svg>|(?<=<div class="tp-data">)<template .*?(?=</div>)',
    re.DOTALL,
)

log = logging.getLogger("mkdocs.plugins.tokpos")
for _chatty in ("jieba", "mkdocs.plugins.mkdocs_jupyter"):
    logging.getLogger(_chatty).setLevel(logging.WARNING)


def _root(config: MkDocsConfig) -> Path:
    return Path(config.config_file_path).resolve().parent


def _language(config: MkDocsConfig) -> str:
    return config.theme["language"] or "en"


def _is_first(config: MkDocsConfig) -> bool:
    return _language(config) == session.book.languages[0]


# Before the build


def on_startup(*, command: str, dirty: bool) -> None:
    session.command = command


@event_priority(100)
def on_config(config: MkDocsConfig) -> MkDocsConfig:
    root = _root(config)
    book = session.open_book(root)
    if session.command == "serve" and session.first is None:
        _demand_port(*config.dev_addr)
    if session.first in (None, config.config_file_path):
        session.first = config.config_file_path
        os.environ.setdefault("SOURCE_DATE_EPOCH", commit_time(root))
        _prepare()
        session.origin = origin.of(root, book.package)
        if session.command != "serve":
            session.stage = Stage(Path(config.site_dir), book.cache)
            config.site_dir = str(session.stage.folder)
    if "mkdocstrings" in config.plugins:
        inventories.resolve_paths(config)
    language = _language(config)
    session.machines[language] = Machines(book, config, language, session.origin)
    config.extra["machines"] = session.machines[language]
    config.extra["languages"] = _languages(config)
    config.nav = list(_navigation(config))
    _places(config).attach()
    session.outside = _outside(config)
    return config


def _demand_port(host: str, port: int) -> None:
    """MkDocs would find a busy port only after the whole build, and end in a traceback."""
    if not serve.is_free(host, port):
        raise PluginError(f"Port {port} is busy. Take another: mkdocs serve -a {host}:{port + 1}")


def _places(config: MkDocsConfig) -> Places:
    language = _language(config)

    def locate(page: str, message: str, quoted: str) -> Problem | None:
        return session.book.locate(page, language, message, quoted)

    session.places = Places(locate)
    return session.places


def _outside(config: MkDocsConfig) -> links.Outside:
    own = [config.extra["languages"][0]["address"], config.extra.get("repo_url") or ""]
    manuals, beside = inventories.manuals(config), links.beside(session.book.root)
    return links.Outside(session.book.links, own, manuals, beside)


def _warn(page: str, problem: Problem) -> None:
    """Say what is found late, and that a strict build fails; while serving, the page shows it."""
    log.warning(str(problem))
    session.places.problems.append((page, problem))


def _prepare() -> None:
    session.late_problems = False
    try:
        problems = session.prepared
        if problems is None:
            problems = session.book.prepare(log.info, with_faults=session.command == "serve")
    except LessonError as error:
        raise PluginError(f"{error}\nThe site is not built") from None
    for problem in problems:
        log.error(str(problem))
    if problems and session.command != "serve":
        raise PluginError(f"{len(problems)} problem(s), named above: the site is not built")


def _languages(config: MkDocsConfig) -> list[dict[str, Any]]:
    """For the theme, each language: its words, its folder, the way there from here, its address."""
    first, *others = session.book.languages
    folders = {first: "", **{other: f"{other}/" for other in others}}
    here = folders[_language(config)]
    root = (config.site_url or "").removesuffix(here)
    up = "../" if here else ""
    return [
        {
            **session.book.words(language)["theme"],
            "here": folder == here,
            "folder": folder,
            "way": up + folder,
            "address": root + folder,
        }
        for language, folder in folders.items()
    ]


def _navigation(config: MkDocsConfig) -> Iterator[dict | str]:
    book, language = session.book, _language(config)
    words = book.words(language)
    pages = [f"{name}.ipynb" for name in book.names() if "/" not in name]
    yield from [page for page in pages if page == "index.ipynb"]
    covers = [f"{part.cover}.ipynb" for part in book.parts if part.cover]
    for part in book.parts:
        inside: list[dict | str] = [f"{name}.ipynb" for name in part.pages]
        if part.cover:
            inside = [f"{part.cover}.ipynb", {part.fold[language]: inside}]
        yield {part.title[language]: inside}
    if reference := _reference(language):
        yield {words["api"]["title"]: _folded([address for address, _ in reference])}
    plain = sorted(path.name for path in Path(config.docs_dir).glob("*.md"))
    more = [page for page in pages if page not in ("index.ipynb", *covers)]
    new = [f"{changes.PAGE}.md"] if book.changes(language) else []
    yield {words["more"]: [*more, "glossary.md", *plain, *new]}


def _folded(addresses: list[str]) -> list[dict | str]:
    """Pages of the reference, those of a package inside the package in a list of their own."""
    folders: dict[str, list[str]] = {}
    for address in addresses:
        folders.setdefault(Path(address).stem.partition(".")[0], []).append(address)
    package = session.book.settings["package"]
    return [
        {f"{package}.{name}": inside} if len(inside) > 1 else inside[0]
        for name, inside in folders.items()
    ]


def _reference(language: str) -> list[tuple[str, str]]:
    """Address and Markdown of the pages of the reference."""
    book = session.book
    if "package" not in book.settings:
        return []
    words = api.Words.read(book.docs / "translations" / f"{language}.yml")
    if book.package is None:  # it cannot be read: one page, to show why
        return [(f"{api.FOLDER}/index.md", f"# {words.title}\n")]
    return api.pages(book.package, words)


# Files and pages


@event_priority(100)
def _add_files(files: Files, config: MkDocsConfig) -> Files:
    """Everything that is made, ahead of mkdocs-jupyter, which registers the notebooks."""
    book, language = session.book, _language(config)
    if _is_first(config) and session.command != "serve" and cores() > 1:
        for other in book.languages[1:]:
            session.others[other] = Beside(partial(_beside, language=other, first=config))
    for name in book.names():
        notebook = book.notebook(name, language)
        files.append(File.generated(config, f"{name}.ipynb", abs_src_path=str(notebook)))
    for address, text in _reference(language):
        files.append(File.generated(config, address, content=text))
    words = {each: book.words(each) for each in book.languages}
    terms = glossary.page(book.terms, language, words)
    files.append(File.generated(config, "glossary.md", content=terms))
    if found := book.changes(language):
        files.append(File.generated(config, f"{changes.PAGE}.md", content=changes.page(found)))
    assets.arrange(files, config, book.root, book.settings.get("widget_data", {}))
    return files


@event_priority(-50)
def _mend_files(files: Files, config: MkDocsConfig) -> Files:
    """Give back what mkdocs-jupyter's wrapper of a generated file loses."""
    for file in files:
        if inner := getattr(file, "file", None):
            file.abs_src_path = inner.abs_src_path
            file.inclusion = inner.inclusion
            file.edit_uri = None
    words, serving = session.book.words(_language(config)), session.command == "serve"
    for problem in addresses.add_moved(files, config, session.book.moves, words, serving):
        _warn("index.md", problem)
    return files


on_files = CombinedEvent(_add_files, _mend_files)


def on_nav(nav: Navigation, config: MkDocsConfig, files: Files) -> Navigation:
    session.nav = nav
    return nav


def on_env(env: jinja2.Environment, config: MkDocsConfig, files: Files) -> jinja2.Environment:
    if session.command == "serve":
        index = getattr(edits.search(config), "search_index", None)
        session.built[_language(config)] = edits.Built(config, files, session.nav, env, index)
    return env


def _lesson_of(page: Page) -> str | None:
    name, _, kind = page.file.src_uri.rpartition(".")
    return name if kind == "ipynb" else None


@event_priority(-50)
def on_pre_page(page: Page, config: MkDocsConfig, files: Files) -> Page:
    if _lesson_of(page):
        del page.render  # mkdocs-jupyter's own; MkDocs renders the assembled Markdown
        vars(page).pop("nb_url", None)  # Material's download button; the lesson has its own link
    page.edit_url = session.machines[_language(config)].edit_url(page.file.src_uri)
    return page


@event_priority(100)
def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    machines = session.machines[_language(config)]
    plain = machines.markdown(page.file.src_uri, markdown)
    write_whole(Path(page.file.abs_dest_path).with_suffix(".md"), plain.encode())
    if name := _lesson_of(page):
        language = _language(config)
        page.meta["description"] = session.book.description(name, language)
        return _without_drawings(session.book.markdown(name, language), page)
    page.meta.setdefault("description", assemble.opening(markdown))
    return assemble.link(markdown, page.file.src_uri, set(session.book.names()))


def _without_drawings(text: str, page: Page) -> str:
    """Keep drawings and data until the page is finished: Markdown and search would read them."""
    kept: list[str] = []

    def keep(match: re.Match[str]) -> str:
        kept.append(match[0])
        return f"<!--drawing {len(kept) - 1}-->"

    session.kept_drawings[page.file.abs_dest_path] = kept
    return _KEPT.sub(keep, text)


@event_priority(-50)
def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    language = _language(config)
    try:
        html = katex.typeset(html)
    except katex.FormulaError as error:
        return _formula_failed(error, html, page, language)
    if _lesson_of(page):
        target = get_relative_url("glossary.html", page.url)
        html = hints.add(html, session.book.terms, language, target)
        html = widgets.with_scripts(html, page.url)
    return layout.prepare(html)


def on_page_context(
    context: dict[str, Any], page: Page, config: MkDocsConfig, nav: Navigation
) -> dict[str, Any]:
    return {**context, **session.machines[_language(config)].context(page)}


def _formula_failed(error: katex.FormulaError, html: str, page: Page, language: str) -> str:
    """Stop the build; while serving, put the message at the top of the page."""
    address, message = page.file.src_uri, str(error)
    problem = session.book.locate(address, language, message, error.tex)
    problem = problem or Problem(address, 1, message, language=language)
    if session.command != "serve":
        raise PluginError(f"{problem}: the site is not built")
    log.error(str(problem))
    return assemble.error_html(problem, session.book.words(language)) + html


@event_priority(-100)
def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    if session.beside:
        session.beside.end_if_orphaned()
    kept = session.kept_drawings.pop(page.file.abs_dest_path, [])
    output = re.sub(r"<!--drawing (\d+)-->", lambda match: kept[int(match[1])], output)
    output = drawings.put(output, session.book.drawings, _language(config))
    site = Path(config.site_dir)
    output = figure_files.apart(output, site, lambda name: get_relative_url(name, page.url))
    _check_links(output, page.file.src_uri, _language(config))
    return _protected(output, page.file.src_uri)


def _check_links(output: str, page: str, language: str) -> None:
    for address in session.outside.unlisted(output):
        message, book = links.unlisted(address), session.book
        _warn(
            page,
            book.locate(page, language, message, address)
            or book.locate_in_docstrings(language, message, address)
            or Problem(page, 1, message, language=language),
        )


def on_post_template(output_content: str, template_name: str, config: MkDocsConfig) -> str:
    if not template_name.endswith(".html"):
        return output_content
    return _protected(output_content, template_name)


def _protected(output: str, name: str) -> str:
    try:
        return csp.protect(output, serving=session.command == "serve")
    except csp.PolicyError as error:
        if session.command != "serve":
            raise PluginError(f"{name}: {error}") from None
        log.error(f"{name}: {error}")
        return output


# After the build


@event_priority(-100)
def on_post_build(config: MkDocsConfig) -> None:
    session.machines[_language(config)].publish(Path(config.site_dir), session.nav)
    _check_addresses(config)
    if session.command == "serve":
        _show_late_problems(config)
    else:
        styles.trim(Path(config.site_dir), session.book.languages)
    if not _is_first(config):
        return
    for language in session.book.languages[1:]:
        if language not in session.others:
            _build_language(language, config)
        elif not session.others[language].succeeded():
            raise PluginError(f"Language {language}: see above. The site is not built")
    if session.stage:
        if _warned():
            return  # MkDocs stops with its count of the warnings
        session.stage.publish()
        config.site_dir = str(session.stage.site)
        session.stage = None


def _check_addresses(config: MkDocsConfig) -> None:
    """What is known when all pages are made: which address has gone, which link is not needed."""
    site, published = Path(config.site_dir), session.book.published
    problems = addresses.gone(site, published, _language(config))
    if _is_first(config):  # the other languages have the same links
        problems += session.outside.check_list()
    for problem in problems:
        _warn("index.md", problem)


def _show_late_problems(config: MkDocsConfig) -> None:
    """Put what no lesson shows at its cell, such as a dead link, on top of its page."""
    book, language, shown = session.book, _language(config), set()
    for address, problem in [*session.places.problems, *book.addressed(language)]:
        page = Path(config.site_dir, address).with_suffix(".html")
        if problem not in shown and page.is_file():
            shown.add(problem)
            session.late_problems = True
            before, heading, after = page.read_text(encoding="utf-8").partition("<h1")
            error = assemble.error_html(problem, book.words(language))
            page.write_text(f"{before}{error}{heading}{after}", encoding="utf-8")


def _build_language(language: str, first: MkDocsConfig) -> None:
    """Build another language into its folder of the same site."""
    name = f"mkdocs.{language}.yml"
    other = load_config(
        str(_root(first) / name),
        site_dir=str(Path(first.site_dir, language)),
        site_url=f"{first.site_url.rstrip('/')}/{language}/" if first.site_url else None,
        strict=first.strict,
    )
    if _language(other) != language:  # as the first, it would start the others again
        raise PluginError(f"{name} must say `theme: {{language: {language}}}`")
    log.info(f"Building language {language}")
    build(other, serve_url=first.site_url if session.command == "serve" else None)


def _beside(fork: Beside, language: str, first: MkDocsConfig) -> None:
    session.beside, session.others = fork, {}
    session.stage = None  # the process that waits for this one publishes or discards
    try:
        _build_language(language, first)
    except MkDocsException as error:
        log.error(f"Language {language}: {error}")
        raise SystemExit(1) from None


def _warned() -> bool:
    """Whether a strict build has warned, and so will fail, although it is at its end."""
    handlers = logging.getLogger("mkdocs").handlers
    return any(handler.get_counts() for handler in handlers if isinstance(handler, CountHandler))


def on_serve(
    server: LiveReloadServer, config: MkDocsConfig, builder: Callable[[], None]
) -> LiveReloadServer:
    watched = [config.docs_dir, config.config_file_path, *config.watch]
    server.builder = edits.Rebuild(watched, builder)
    session.book.executor.keep_ready([page.lesson for page in session.book.pages.values()])
    return server


def on_build_error(error: Exception) -> None:
    _discard()
    if isinstance(error, OSError) and error.errno in DISK:
        raise PluginError(f"{error}. The site is not built") from error


def on_shutdown() -> None:
    _discard()


def _discard() -> None:
    for fork in session.others.values():
        fork.stop()
    session.others = {}
    if session.stage:
        session.stage.discard()
        session.stage = None
