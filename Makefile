# Every target works on a machine that has only Python 3.11+, make and the package registries.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: audit test check venv clean

audit: $(STAMP)  ## audit the catalogue, write audit-report/index.html
	$(BIN)/dp-audit suite --html audit-report/index.html

test: $(STAMP)
	$(BIN)/python -m pytest -q -n 2

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

venv: $(STAMP)

$(STAMP): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q -e '.[dev]'
	touch $(STAMP)

clean:
	rm -rf $(VENV) audit-report build *.egg-info
