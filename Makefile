# Every target creates or updates the virtual environment that it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PEERS := $(VENV)/.peers-installed
# Two test processes: the suite is held to a machine of two cores.
JOBS ?= 2

.PHONY: help paper test quick oldest lint types layers unit docs dist \
	bench bench-scale bench-peers publish clean format

help:
	@echo "make test    lint, types, layers and all tests"
	@echo "make quick   lint and the fast tests (under a minute, warm)"
	@echo "make oldest  the fast tests, with the oldest libraries that are admitted"
	@echo "make paper   the whole paper, reproduced into runs/paper"
	@echo "make docs    this documentation, its tutorials run, into docs/_build/html"
	@echo "make dist    the sdist, and the wheel that it builds, into dist"
	@echo "make bench   speed, as ratios to a baseline of the same run, and against the last commit"
	@echo "make bench-scale  a step's cost as populations and worlds grow (ten minutes)"
	@echo "make bench-peers  this package beside xcsf and tabular Q-learning"
	@echo "make publish all three, their tables written into docs/performance"
	@echo "make lint | types | layers | unit | format | clean"

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "xcskit needs Python 3.11 or newer; name one with make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $(STAMP)

# The peer is GPL: only the benchmark imports it, and only this target installs it.
$(PEERS): $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bench]'
	touch $(PEERS)

test: lint types layers unit

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy
	$(BIN)/pyright --warnings

layers: $(STAMP)
	PYTHONPATH=tests $(BIN)/lint-imports

unit: $(STAMP)
	$(BIN)/pytest -n $(JOBS) --dist worksteal

quick: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/pytest -n $(JOBS) --dist worksteal -q -m "not slow and not statistical and not paper"

# An environment of its own, with every dependency as old as pyproject.toml allows. What these use may be newer,
# and deprecate how they use it; and old figures have other pixels.
oldest:
	$(PYTHON) -m venv $(VENV)-oldest
	sed -n '/^dependencies/,/^]/s/ *"\(.*\)>=\(.*\)",/\1==\2/p' pyproject.toml > $(VENV)-oldest/oldest.txt
	$(VENV)-oldest/bin/python -m pip install --quiet --disable-pip-version-check -c $(VENV)-oldest/oldest.txt -e '.[dev]'
	$(VENV)-oldest/bin/pytest -n $(JOBS) --dist worksteal -q -W ignore::DeprecationWarning --ignore tests/unit/test_plot_pictures.py -m "not slow and not statistical and not paper"

paper: $(STAMP)
	$(BIN)/xcskit paper

docs: $(STAMP)
	$(BIN)/sphinx-build -q -W --keep-going -E -d docs/_build/doctrees -b html docs docs/_build/html

dist: $(STAMP)
	$(BIN)/python -m build --no-isolation --outdir dist

bench: $(STAMP)
	PYTHONPATH=tests $(BIN)/python benchmarks/run.py $(OPTIONS)

bench-scale: $(STAMP)
	$(BIN)/python benchmarks/scale.py $(OPTIONS)

# Threads that wait must not take the core from the one that works.
bench-peers: $(PEERS)
	OMP_WAIT_POLICY=passive $(BIN)/python benchmarks/peers.py $(OPTIONS)

publish:
	$(MAKE) bench bench-scale bench-peers OPTIONS=--publish

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) $(VENV)-oldest build dist runs docs/_build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
