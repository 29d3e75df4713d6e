.PHONY: setup check lint test bench results docs lock schema
PY := .venv/bin/python

setup: ## a virtual environment with everything that development needs
	python3 -m venv --without-pip .venv
	python3 -m pip --python $(PY) install -q -c requirements.lock pip -e '.[dev]'

check: ## what the gate does
	bash .ci/run

lint:
	$(PY) -m ruff format --check . && $(PY) -m ruff check . && $(PY) -m mypy

test:
	$(PY) -m pytest

bench: ## the measured bounds, by hand: see bench/README.md
	$(PY) -m bench

results: ## play the studies of docs/results.md and make its tables and figures
	$(PY) -m bench.results

docs: ## write the help of each command into docs/cli.md
	PYTHONPATH=. $(PY) docs/regenerate.py

lock: ## pins of every dependency, without addresses (decision 002)
	uv pip compile pyproject.toml --all-extras --universal --python-version 3.11 --no-header --no-annotate --no-emit-index-url -o requirements.lock
