# Everything runs in .venv, built once from constraints.txt and rebuilt only when it or pyproject.toml changes.
# `make demo` needs the command line and what it uses; the other targets add what they need on top.

PYTHON ?= python3
WORKERS ?= 2

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
INPUTS := pyproject.toml constraints.txt
PEERS := pyabc particles

.DEFAULT_GOAL := help
.PHONY: help demo test quick check verify bench docs clean

help:  ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-7s %s\n", $$1, $$2}'

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "vibayes needs Python 3.11 or newer; say which one: make PYTHON=python3.11 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: $(INPUTS) | $(BIN)/python
	$(PIP) -e '.[app]'
	@touch $@

$(VENV)/.dev: $(INPUTS) | $(BIN)/python
	$(PIP) -e '.[app,nuts,datasets,peers,docs,dev]'
	@touch $@ $(VENV)/.core $(VENV)/.docs

$(VENV)/.bench: $(INPUTS) | $(BIN)/python
	$(PIP) -e '.[app,nuts,datasets,peers,bench,docs,dev]'
	@touch $@ $(VENV)/.core $(VENV)/.dev $(VENV)/.docs

$(VENV)/.docs: $(INPUTS) | $(BIN)/python
	$(PIP) -e '.[plot,docs]'
	@touch $@ $(VENV)/.core

demo: $(VENV)/.core  ## identify a simulated oscillator, from a study file to a report in demo_output/
	$(BIN)/vibayes demo --out demo_output

test: $(VENV)/.dev  ## run the whole test suite, examples in the documentation included
	$(BIN)/python -m pytest -q -n $(WORKERS)

quick: $(VENV)/.dev  ## run the tests that take a moment
	$(BIN)/python -m pytest -q -n $(WORKERS) -m "not slow and not verify"

check: $(VENV)/.dev  ## format, lint, types and layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports

verify: $(VENV)/.dev  ## attack everything: fuzzing, faults, kills, long statistical tests (takes hours)
	$(BIN)/python -m pytest -q -n $(WORKERS) -m verify
	$(BIN)/python verify/run.py

# Peers that bring many packages, or need other versions of ours, get environments of their own. Where one cannot be
# installed the benchmark leaves it out and says so, and the next one tries again.
.PHONY: peers
peers:
	@for peer in $(PEERS); do \
	  input=benchmarks/$$peer-constraints.txt; place=.venv-$$peer; cmp -s $$input $$place/.installed || { \
	    rm -rf $$place && $(PYTHON) -m venv $$place \
	    && $$place/bin/python -m pip install --quiet --disable-pip-version-check -c $$input $$peer \
	    && cp $$input $$place/.installed; } \
	  || { rm -rf $$place; echo "$$peer could not be installed, for the reason above: it is left out"; }; \
	done

bench: $(VENV)/.bench peers  ## measure speed and accuracy
	$(BIN)/python benchmarks/run.py

docs: $(VENV)/.docs  ## build the documentation into site/
	$(BIN)/python -m mkdocs build --strict

clean:  ## remove everything that can be made again
	rm -rf $(VENV) $(PEERS:%=.venv-%) demo_output site build dist .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
