# Every verb does its own set-up: Python 3.11 and Java 17 are all that a machine needs to have.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help demo test test-all check bench docs lock clean assets archive lint types

help: ## show the verbs
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

$(VENV)/ready: requirements.txt requirements-dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed: make PYTHON=python3.11 …") if sys.version_info < (3, 11) else None'
	@java -version >/dev/null 2>&1 || { echo "Java 17 or newer is needed: install a JDK, for example openjdk-17-jre-headless." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python -r requirements-dev.txt
	$(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python --no-deps --editable .
	@touch $@

$(VENV)/ready-bench: $(VENV)/ready requirements-bench.txt
	$(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python --no-deps -r requirements-bench.txt
	@touch $@

demo: assets ## start the server with the demo company, and print links that sign in as five of its people
	@$(BIN)/lakehold demo

# Bytecode is kept, whatever the environment says: to compile code anew takes a third of the time of collecting tests.
PYTEST = PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder

test: $(VENV)/ready ## lint, types, imports and every test but the rare ones
	@$(MAKE) --no-print-directory --jobs 2 check assets archive
	$(PYTEST) -m "not rare"

test-all: assets archive ## the long and rare tests: the wheel, bombs, all kills, every twin on PostgreSQL
	$(PYTEST) -m rare

# The files that browsers get: built when missing or stale, which takes a tenth of a second to see.
assets: $(VENV)/ready
	@$(BIN)/python -m frontend --tests

# The classes of Spark's JVM, read once for all: each of the many that tests start takes half of the time with them.
archive: $(VENV)/ready
	-@$(BIN)/python -c "from lakehold.lake.spark import runtime; runtime.build_archive()"

check: types lint ## lint, types and imports only

types: $(VENV)/ready
	$(BIN)/mypy

lint: $(VENV)/ready
	$(BIN)/ruff format --check --quiet . || { $(BIN)/ruff format --diff .; exit 1; }
	$(BIN)/ruff check --quiet .
	$(BIN)/lint-imports --no-cache
	$(BIN)/python .ci/duplicates.py

bench: $(VENV)/ready-bench ## measure speed beside peers; ONLY=access for one part
	$(BIN)/python -m benchmarks $(ONLY)

docs: $(VENV)/ready ## write the access tables into docs/access
	$(BIN)/lakehold docs

lock: $(VENV)/ready ## choose the newest versions anew
	for name in "" -dev -bench; do \
	  groups=$$(case "$$name" in -dev) echo "--group dev";; -bench) echo "--group dev --group bench";; esac); \
	  $(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --no-header --no-annotate \
	    --no-emit-index-url --no-emit-find-links $$groups pyproject.toml -o requirements$$name.txt || exit 1; \
	done
	$(BIN)/python -m frontend lock

clean: ## remove what set-up made
	rm -rf build src/lakehold/web/static $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
