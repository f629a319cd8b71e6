# The two commands of the README are `make reproduce` and `make test`; the rest is for developers.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PASSES ?= 5

.DEFAULT_GOAL := help
.PHONY: help install reproduce test soak test-models check format measure bench docs release clean

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

# Three workers on two cores: many tests wait for a browser, a disk or a process.
test: $(STAMP)  ## Run the test suite: ten minutes on two cores; ends with its ten slowest tests
	$(BIN)/python -m pytest -n 3 --dist worksteal --durations=10

# Clients of the field that the service is tried with: one needs other versions of what the tests need.
.peers/.installed: requirements/peers.txt
	$(PYTHON) -m venv .peers
	.peers/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r requirements/peers.txt  # complete
	@touch $@

# numba off for the branches: what it compiles cannot be followed.
soak: $(STAMP) .peers/.installed  ## The long versions of tests, and which branches of the core and the engine are taken: hours
	$(BIN)/python -m pytest -m soak -n 2 --dist worksteal -rP -o faulthandler_timeout=0
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

# A script of that name in tools, docs or benchmarks; each says in its first lines what it measures and how long it takes.
SCRIPT := $(firstword $(wildcard $(NAME:%=tools/%.py) $(NAME:%=docs/%.py) $(NAME:%=benchmarks/%.py)))
measure: $(STAMP)  ## Measure what a page says again: NAME=agents, budget, exact, field, figures, hybrid, labeling, lists, people, product_limit, screenshots, service, situations, tables
	@test -n "$(SCRIPT)" || { echo 'there is no measurement "$(NAME)": make help lists their names'; exit 2; }
	$(BIN)/python $(SCRIPT) $(ARGS)

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

docs: $(STAMP)  ## Build the site into site/, strictly and offline
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "open site/index.html; its examples run in make test"

release: $(STAMP)  ## Build wheel and sdist, check them, try the wheel in an empty environment
	$(BIN)/python tools/release.py

clean:  ## Remove everything that make created
	rm -rf $(VENV) .reproduce .bench .models .peers dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage results
