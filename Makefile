# Every target works on a machine that has only Python 3.11+, make and the package registries.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: audit audit-full studies self-audit test check benchmarks browser-test docs libraries matrix venv clean

audit: $(STAMP)  ## the findings and the audited catalogue in one report; with what `make studies self-audit` made
	$(BIN)/dp-audit findings --json audit-report/findings.json
	$(BIN)/dp-audit suite $(SUITE) --html audit-report/index.html --with audit-report/findings.json \
	  $(addprefix --with ,$(wildcard audit-report/studies.json audit-report/self-audit.json))

audit-full: SUITE := --full  ## the same with the audits that their entries call long: more than 10 seconds each
audit-full: audit

studies: $(STAMP)  ## the least sample sizes, for the report of `make audit`; goes on where it was stopped
	$(BIN)/dp-audit study --json audit-report/studies.json --html audit-report/studies.html

self-audit: $(STAMP)  ## the auditor audited, for the report of `make audit`; about half an hour
	$(BIN)/dp-audit self-audit --json audit-report/self-audit.json --html audit-report/self-audit.html

test: $(STAMP)  ## compiled modules kept and one thread of linear algebra: the tests start hundreds of processes
	PYTHONDONTWRITEBYTECODE= OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -q -n 2 --dist worksteal

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

benchmarks: $(STAMP)  ## the quick tables of benchmarks/README.md, a quarter of an hour; `run.py --all`: every table
	$(BIN)/python benchmarks/run.py

matrix: $(STAMP)  ## oldest and newest dependencies, no fork, a project with folders of our names; half an hour
	$(BIN)/python -P tests/matrix.py

docs: $(STAMP)  ## the documentation, into build/docs; a warning is an error
	$(BIN)/python -m pip install -q -e '.[docs]'
	$(BIN)/sphinx-build -q -W --keep-going -d build/doctrees docs build/docs

libraries: .venv-libraries/.installed  ## audit diffprivlib and OpenDP in the oldest environment that is supported
	.venv-libraries/bin/python examples/libraries.py

.venv-libraries/.installed: pyproject.toml examples/libraries-constraints.txt
	test -x .venv-libraries/bin/python || $(PYTHON) -m venv .venv-libraries
	.venv-libraries/bin/python -m pip install -q -c examples/libraries-constraints.txt -e . scikit-learn opendp
	.venv-libraries/bin/python -m pip install -q -c examples/libraries-constraints.txt --no-deps diffprivlib
	touch $@

browser-test: .venv-browser/.installed  ## reports in Chromium (apt-get install chromium): widths, themes, paper, axe
	.venv-browser/bin/python -m pytest -q -s -o addopts= -p no:cacheprovider tests/browser/check_pages.py

.venv-browser/.installed: pyproject.toml
	test -x .venv-browser/bin/python || $(PYTHON) -m venv .venv-browser
	.venv-browser/bin/python -m pip install -q -e . playwright axe-playwright-python
	touch $@

venv: $(STAMP)

$(STAMP): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q -e '.[dev]'
	touch $(STAMP)

clean:
	rm -rf $(VENV) .venv-browser .venv-matrix audit-report build *.egg-info
