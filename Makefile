# The two commands of the README are `make reproduce` and `make test`; the rest is for developers.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PASSES ?= 5

.DEFAULT_GOAL := help
.PHONY: help install reproduce quick coverage test test-models check format tables exact lists hybrid budget people labeling agents field soak bench benchservice docs figures screenshots serve demo release clean

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# Installs once; again only when the pinned versions or the package's metadata change.
$(STAMP): requirements/dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "shortlist needs Python 3.11 or newer; try: make PYTHON=python3.11 ...")'
	@echo 'installing into $(VENV): a few minutes, this once'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -r requirements/dev.txt  # complete: nothing else is wanted
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $(STAMP)

install: $(STAMP)  ## Create .venv with pinned versions (nearly every other target does this first)

# The main job needs little: where the developers' environment is not there, one of its own is made.
REPRODUCE := $(if $(wildcard $(STAMP)),$(VENV),.reproduce)
.reproduce/.installed: requirements/reproduce.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "shortlist needs Python 3.11 or newer; try: make PYTHON=python3.11 ...")'
	@echo 'installing into .reproduce: a minute, this once'
	$(PYTHON) -m venv .reproduce
	.reproduce/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r requirements/reproduce.txt  # complete
	@touch $@

reproduce: $(REPRODUCE)/.installed  ## Reproduce the paper: the main job
	PYTHONPATH=src $(REPRODUCE)/bin/python -m shortlist reproduce

# The library: rooms, and what is tested at the top but for the examples and the command.
QUICK := $(filter-out tests/test_examples.py tests/test___main__.py,$(wildcard tests/test_*.py)) \
	tests/boundaries tests/policies tests/scores tests/rounds tests/listers tests/logs tests/guarantees
quick: $(STAMP)  ## Run the tests of the library alone: no service, no browser, no figures
	$(BIN)/python -m pytest -n 2 --dist worksteal $(QUICK) --ignore=tests/rounds/test_pairs.py

test: $(STAMP)  ## Run the test suite
	$(BIN)/python -m pytest -n 2 --dist worksteal

# numba off: what it compiles cannot be followed.
coverage: $(STAMP)  ## Measure which branches of the core and the engine the tests take; fails below 95 %
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q -n 2 --dist worksteal --cov --cov-report=term tests/boundaries tests/policies tests/scores tests/rounds tests/listers tests/logs tests/test_*.py tests/service/engine tests/service/store --ignore=tests/test_examples.py

check: $(STAMP)  ## Format, lint, types, layers, words: seconds
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/house_words.py
format: $(STAMP)  ## Format the code and fix what can be fixed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

tables: $(STAMP)  ## Compute the tables of regret in README and theory again, from thousands of runs
	$(BIN)/python tools/tables.py

exact: $(STAMP)  ## Compute the exact regret of boundaries, simulate it, and search the best one: five minutes
	$(BIN)/python tools/exact.py

lists: $(STAMP)  ## Measure list lengths, compared with fixed scores, top-k and rank fusion: a minute
	$(BIN)/python tools/lists.py

hybrid: $(STAMP)  ## Measure hybrid search in three frameworks, with SQUAD=FILE: ten minutes
	$(BIN)/python tools/hybrid.py $(or $(SQUAD),--pages)

budget: $(STAMP)  ## Choose the constants of the error budget, and write the table of sizes: five minutes
	$(BIN)/python tools/budget.py

people: $(STAMP)  ## Measure users who only click, expand, cite and err, for docs/explanation/people.md: half an hour
	$(BIN)/python tools/people.py

labeling: $(STAMP)  ## Measure labeling with 1,000 classes, with NAMES=FILE, for docs/how-to/labelling.md: a minute
	$(BIN)/python tools/labeling.py $(or $(NAMES),--pages)

agents: $(STAMP)  ## Measure the gateway for agents, with servers that die and a kill, for docs/how-to/too-many-tools.md: a minute
	$(BIN)/python tools/agents.py

field: $(STAMP)  ## Run all methods of the field again, for docs/explanation/field.md
	$(BIN)/shortlist reproduce --suite field --out docs/explanation/field-tables
	rm -f docs/explanation/field-tables/*.svg

soak: $(STAMP)  ## The long versions of tests that `make test` runs short, and which branches are taken
	$(BIN)/python -m pytest -m soak -s -o faulthandler_timeout=0
	$(MAKE) coverage

# torch is large, so the models have an environment of their own too.
.models/.installed: requirements/models.txt pyproject.toml
	$(PYTHON) -m venv .models
	.models/bin/python -m pip install --quiet --disable-pip-version-check torch==2.13.0
	.models/bin/python -m pip install --quiet --disable-pip-version-check -r requirements/models.txt
	.models/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

test-models: .models/.installed  ## Run the tests that need torch
	.models/bin/python -m pytest tests/models

# The peers have an environment of their own; some of them pull in a lot.
.bench/.installed: requirements/bench.txt pyproject.toml
	$(PYTHON) -m venv .bench
	.bench/bin/python -m pip install --quiet --disable-pip-version-check -r requirements/bench.txt
	@touch $@

bench: .bench/.installed  ## Measure speed, memory and coverage, compared with other libraries; writes benchmarks/results.md
	.bench/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --force-reinstall .
	.bench/bin/python benchmarks/run.py --passes $(PASSES)

benchservice: $(STAMP)  ## Measure the service, as ratios in one run
	$(BIN)/python benchmarks/service.py

docs: $(STAMP)  ## Build the site into site/, strictly and offline
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "open site/index.html; its examples run in make test"

figures: $(STAMP)  ## Draw the figures of README and docs again
	$(BIN)/python docs/figures.py

screenshots: $(STAMP)  ## Take the pictures of the pages again
	$(BIN)/python docs/screenshots.py

demo: $(STAMP)  ## Run the demo: service, page and a corpus, with nothing to configure
	$(BIN)/shortlist demo

serve: $(STAMP)  ## Run the service on port 8000
	$(BIN)/shortlist serve

release: $(STAMP)  ## Build wheel and sdist, check them, try the wheel in an empty environment
	$(BIN)/python tools/release.py

clean:  ## Remove everything that make created
	rm -rf $(VENV) .reproduce .bench .models dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage results
