# `make demo` and `make test` work on a bare Debian or Ubuntu with Python 3.11 or newer: they install what is
# missing, system packages too, and make a virtual environment in .venv.

BIN := .venv/bin
export PIP_DISABLE_PIP_VERSION_CHECK = 1
# Tests start the program hundreds of times: it is compiled once.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test tests test-engines fuzz lint bench paper schemas clean

# How many times as many random examples `make fuzz` tries as a property asks for; `make test` tries 15 % of them.
N = 10

help:
	@echo "make demo     audit the shipped German credit model and leave a report in demo/"
	@echo "make test     everything that CI checks"
	@echo "make test-engines  the same counts from CSV, Parquet, DuckDB, SQLite, Postgres and Spark, MLflow and scorecards"
	@echo "make fuzz     the tests' properties on N times as many random models, always new ones: make fuzz N=100"
	@echo "make lint     style, types and import rules only"
	@echo "make bench    speed, growth and memory of the engine"
	@echo "make paper    the source paper's tables and figures anew, in examples/paper; DATA=FOLDER has the data"
	@echo "make schemas  write schemas/ anew from the document classes"
	@echo "make clean    remove what these made, the virtual environment too"

# A finding exits 1 and is a fine end of a demonstration; anything above is not.
demo: .venv/installed
	@mkdir -p demo
	$(BIN)/auditor audit examples/german.json --delta 0.1 || test $$? -eq 1
	@for form in html pdf json; do \
		$(BIN)/auditor audit examples/german.json --delta 0.1 -o demo/german.$$form || test $$? -eq 1 || exit; \
	done

# mypy takes one processor: the tests begin beside it.
test: .venv/installed-test .venv/tools
	$(MAKE) --jobs 2 lint tests

# Lines are counted while the tests run; whether they are enough is said afterwards.
tests: .venv/installed-test
	$(BIN)/python -W ignore::RuntimeWarning:slipcover.importer -m slipcover --json --out .coverage.json \
		-m pytest --numprocesses auto --dist worksteal --durations 10
	$(BIN)/slipcover --merge .coverage.json --out .coverage.json --fail-under 95

test-engines: .venv/installed-test
	.ci/test-engines

fuzz: .venv/installed-test
	$(BIN)/pytest -m hypothesis --fuzz $(N) --numprocesses auto --dist worksteal

lint: .venv/installed-test
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

bench: .venv/installed-test
	$(BIN)/python -m tests.benchmarks

paper: .venv/installed
	$(BIN)/python -m examples.paper $(DATA)

schemas: .venv/installed
	$(BIN)/python -m auditor.documents.schemas

clean:
	rm -rf .venv demo dist .coverage.json .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache

# The environment is made once and mended when the project's requirements change.
.venv/made: .ci/make-venv .ci/install
	.ci/make-venv
	@touch $@

.venv/installed: .venv/made pyproject.toml
	$(BIN)/pip install --quiet --editable .
	@touch $@

# Programs that tests check PDF and HTML with; a test whose program is missing is skipped and says so.
.venv/tools: .venv/made
	.ci/install qpdf poppler-utils chromium || echo "Some tests will be skipped." >&2
	@touch $@

.venv/installed-test: .venv/made pyproject.toml
	$(BIN)/pip install --quiet --editable '.[test]'
	@touch $@ .venv/installed
