# Each command sets up what it needs first, in .venv; see scripts/setup.sh.

PORT ?= 8000
python := .venv/bin/python
node := PATH="$(CURDIR)/.venv/bin:$$PATH" NODE_USE_SYSTEM_CA=1

export PYTHONPATH := src
export PYTHONUNBUFFERED := 1
export NO_MKDOCS_2_WARNING := 1# Material's notice about MkDocs 2, which the locks exclude

.PHONY: help serve site test check format bench bench-site budget reproduce mutants figures links package published readme release reviewed translations lock update numbers clean for-site for-tests

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 20

serve: for-site  ## build both languages, serve them at http://127.0.0.1:8000/ and /zh/ (PORT=8000)
	@$(python) -m scripts.serve $(PORT)

site: for-site  ## build both languages into site/
	@$(python) -m mkdocs build --strict

test: for-tests  ## run every test (ARGS=tests/library for a part)
	@$(python) -m pytest -n auto --dist loadfile --no-loadscope-reorder $(ARGS)

check: for-tests scripts/javascript/node_modules  ## style, types, and what can be said of the pages without running them
	@$(python) -m ruff check
	@$(python) -m ruff format --check --quiet
	@$(python) -m mypy
	@$(python) -m scripts.check
	@$(node) npm --prefix scripts/javascript run --silent check

format: for-tests scripts/javascript/node_modules  ## lay out all code as make check wants it
	@$(python) -m ruff format --quiet
	@$(node) npm --prefix scripts/javascript run --silent format

bench: for-site  ## cost beside the limit and other libraries (ROW=rope CHECK=1 KEEP=1)
	@$(python) -W ignore -m scripts.bench $(if $(ROW),--row $(ROW)) $(if $(CHECK),--check) $(if $(KEEP),--keep)

bench-site: for-site  ## cost of building and serving the site, beside plain MkDocs (CHECK=1 KEEP=1)
	@$(python) -m scripts.bench_site $(if $(CHECK),--check) $(if $(KEEP),--keep)

budget: for-tests site scripts/budget/node_modules  ## how soon pages are there, how well they are made (ARGS="--pages lessons")
	@$(node) $(python) -m scripts.budget $(ARGS)

reproduce: for-site  ## build this commit in unlike ways and compare every byte
	@$(python) -m scripts.reproduce

mutants: for-tests  ## small faults in the package, and who notices (ARGS="--module rope")
	@$(python) -W ignore -m scripts.mutants $(ARGS)

figures: for-site  ## write every figure as SVG and PNG into figures/
	@$(python) -m scripts.figures

package: for-site  ## build the sdist and the wheel into dist/
	@$(python) -m scripts.package

readme: for-site  ## write README.md and README.zh.md anew from docs/readme
	@$(python) -m scripts.readme

links: for-site  ## ask every address outside that a page points to whether it is still there
	@$(python) -m scripts.visit

published: site  ## record the addresses of the present pages: they stay from now on
	@$(python) -m scripts.addresses

release: for-tests site  ## archives and books of the built site, into release/
	@$(python) -m scripts.release

reviewed: for-site  ## record that changed pairs of cells were read in both languages
	@$(python) -m scripts.review

translations: for-site  ## bring the catalogue of the docstrings up to date
	@$(python) -m scripts.translations

lock: for-site  ## make the locks from pyproject.toml (ARGS=--upgrade for newer versions)
	@scripts/lock.sh $(ARGS)

update: for-site  ## newer versions, installed, and every number on the pages that they change
	@scripts/update.sh $(ARGS)

numbers: for-site  ## what the last update has changed on the pages, old and new
	@$(python) -m scripts.numbers --since .cache/before-update.json

clean:  ## remove everything that was made, .venv included
	rm -rf .venv scripts/*/node_modules site .site-* figures dist release .release-* .cache .hypothesis .mypy_cache .pytest_cache .ruff_cache

scripts/%/node_modules: scripts/%/package-lock.json | for-tests
	@$(node) npm --prefix $(@D) ci --loglevel=error --no-audit --no-fund
	@touch $@

for-site:
	@scripts/setup.sh site

for-tests:
	@scripts/setup.sh test
