# One command each: run, test, check, bench, snapshots. Everything is set up on first use.
VENV   := .venv
BIN    := $(VENV)/bin
PYTHON := $(shell for p in python3.13 python3.12 python3.11 python3.14 python3 python; do \
  "$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$$p"; break; }; done)
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet
JOBS   ?= 2

.DEFAULT_GOAL := help
.PHONY: help run test check format lint types contracts bench matrix fuzz alarms snapshots clean

help: ## Show this help
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "hermes-tui needs Python 3.11 or newer on PATH."; exit 1; }
	@echo "Making $(VENV) with $(PYTHON) ..."
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.run: pyproject.toml | $(BIN)/python
	@echo "Installing hermes-tui ..."
	@$(PIP) install -e .
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	@echo "Installing hermes-tui and its test tools ..."
	@$(PIP) install -e '.[dev]'
	@touch $@ $(VENV)/.run

run: $(VENV)/.run ## Start hermes-tui (ARGS="..." passes arguments)
	@exec $(BIN)/hermes-tui $(ARGS)

test: $(VENV)/.dev ## Run the tests
	@$(BIN)/python -m pytest -n $(JOBS)

check: format lint types contracts test ## Format, lint, types, import contracts, tests

format: $(VENV)/.dev
	@$(BIN)/ruff format --check --quiet . || { echo "Run: $(BIN)/ruff format ."; exit 1; }

lint: $(VENV)/.dev
	@$(BIN)/ruff check --quiet .

types: $(VENV)/.dev
	@$(BIN)/mypy --no-error-summary

contracts: $(VENV)/.dev
	@$(BIN)/lint-imports --no-cache > $(VENV)/contracts.log || { cat $(VENV)/contracts.log; exit 1; }

bench: $(VENV)/.dev ## Measure the budgets as ratios within one run
	@$(BIN)/python -m bench

matrix: $(VENV)/.dev ## Print what a turn comes to for every fault of a model server
	@$(BIN)/python tests/support/fault_matrix.py

fuzz: $(VENV)/.dev ## Compare the gate with a real bash for MINUTES (10)
	@$(BIN)/python tests/support/gate_fuzz.py --minutes $(or $(MINUTES),10)

alarms: $(VENV)/.dev ## Print how often the gate asks about everyday commands
	@$(BIN)/python tests/support/gate_alarms.py

snapshots: $(VENV)/.dev ## Accept the screens as they are now (look at them first: snapshot_report.html)
	@$(BIN)/python -m pytest -n $(JOBS) tests/snapshot --snapshot-update
	@cp snapshots/test_readme/test_screenshot.svg docs/screenshot.svg

docs: $(VENV)/.dev ## Renew the README's tables
	@$(BIN)/python docs/update_readme.py

clean: ## Remove what was built
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .hypothesis snapshot_report.html
