# Targets for contributors and CI; `make help` lists them. All of them run in .venv.

PYTHON = .venv/bin/python

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' Makefile

# Q and REPO are passed as environment variables, which preserves quotes and spaces in them.
demo: .venv/installed  ## set up, index and answer a question: make demo Q="…" REPO=…
	@echo "$$ rootle search --root \"$${REPO:-.}\" -n 2 \"$${Q:-how are secrets masked before a text is indexed}\""
	@.venv/bin/rootle search --root "$${REPO:-.}" -n 2 \
		"$${Q:-how are secrets masked before a text is indexed}" || test $$? -eq 1

# Without the bytecode cache, each of the hundreds of interpreters in the tests would compile
# rootle.
unexport PYTHONDONTWRITEBYTECODE
# Many tests wait for another process, so twice as many workers as processors are faster.
WORKERS = -n $$($(PYTHON) -c "import os; print(2 * (os.cpu_count() or 1))")
# Fast tests do not wait, and each worker takes several seconds to collect all tests.
FAST_WORKERS = -n $$($(PYTHON) -c "import os; print(os.cpu_count() or 1)")

test: .venv/developed  ## install the development dependencies and run the tests
	$(PYTHON) -m pytest $(WORKERS) -m "not agents"

test-fast: .venv/developed  ## run the tests that start no server and no slow process
	$(PYTHON) -m pytest $(FAST_WORKERS) -m "not server and not agents and (fast or not slow)"

test-agents: .venv/developed  ## run real coding agents from npm against a local model server
	$(PYTHON) -m pytest -m agents tests/agent_programs

lint: .venv/developed  ## check style and types
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy

fix: .venv/developed  ## fix style problems automatically
	$(PYTHON) -m ruff check --fix .
	$(PYTHON) -m ruff format .

docs: .venv/developed  ## regenerate the generated parts of docs/ and the screenshot
	$(PYTHON) docs/scripts/generate_reference.py
	$(PYTHON) docs/scripts/record_terminal.py

docs-check: .venv/developed  ## fail if `make docs` would change a file
	$(PYTHON) docs/scripts/generate_reference.py --check
	$(PYTHON) docs/scripts/record_terminal.py --check

site: .venv/developed  ## build the documentation site into build/site
	$(PYTHON) -m sphinx --fresh-env --fail-on-warning --keep-going --quiet -c docs . build/site
	@echo "open build/site/index.html"

# Building the wheel from the source distribution proves that both are complete.
wheel: .venv/developed  ## build dist/, install the wheel into an empty environment, search there
	rm -rf dist build/empty
	$(PYTHON) -m build
	$(PYTHON) -m venv build/empty
	build/empty/bin/python -m pip install --quiet dist/*.whl
	mkdir -p build/empty/sample
	cp README.md build/empty/sample/
	cd build/empty && bin/rootle search --root sample --index-dir index -n 1 "which license is it"

# BENCH, REPOS and CORPUS: see docs/research/benchmarks.md.
bench: .venv/developed  ## quality and speed: make bench BENCH=… REPOS=… CORPUS=…
	$(PYTHON) -m benchmarks.quality.public_benchmark "$$BENCH" "$$REPOS"
	$(PYTHON) -m benchmarks.speed.tool_comparison "$$CORPUS"

# MINUTES or ROUNDS, SEED and EXAMPLES: see benchmarks/README.md.
torture: .venv/developed  ## edits, kills, faults, fuzzing: make torture MINUTES=… SEED=…
	$(PYTHON) -m benchmarks.reliability.edit_sequences --sequences 20 --kills 100 \
		$(if $(SEED),--seed $(SEED))
	$(PYTHON) -m benchmarks.reliability.torture --minutes $(or $(MINUTES),5) \
		$(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(SEED),--seed $(SEED))
	ROOTLE_FUZZ_EXAMPLES=$(or $(EXAMPLES),1000) $(PYTHON) -m pytest -q -p no:cacheprovider \
		--capture=sys $(if $(SEED),--hypothesis-seed=$(SEED)) tests/fuzz

golden: .venv/developed  ## rewrite the rankings in tests/golden; review the diff
	ROOTLE_WRITE_GOLDEN=1 $(PYTHON) -m pytest tests/golden

clean:  ## delete all generated files, including .venv
	rm -rf .venv build dist .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache

# The newest Python, 3.11 or later, that can create virtual environments.
.venv/made:
	@for name in python3.13 python3.12 python3.11 python3; do \
		if "$$name" -c "import sys; sys.exit(sys.version_info < (3, 11))" 2>/dev/null; then \
			if "$$name" -c "import ensurepip, venv" 2>/dev/null; then \
				echo "creating .venv with $$("$$name" --version)"; \
				"$$name" -m venv --clear .venv && touch .venv/made && exit 0; \
				exit 1; \
			fi; \
			found="$$name"; \
		fi; \
	done; \
	if [ -n "$$found" ]; then \
		echo "$$found cannot create virtual environments: install its venv module" >&2; \
		echo "(on Debian and Ubuntu: apt install python3-venv)" >&2; \
	else \
		echo "rootle needs Python 3.11 or later, which was not found:" >&2; \
		echo "install it (on Debian and Ubuntu: apt install python3 python3-venv)" >&2; \
	fi; \
	exit 1

# An editable installation: changes in src/ take effect immediately.
.venv/installed: pyproject.toml .venv/made
	@echo "installing rootle into .venv"
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check --editable .
	@touch .venv/installed

# pip supports dependency groups since version 25.1.
.venv/developed: .venv/installed
	@echo "installing the development dependencies into .venv"
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check "pip>=25.1"
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check --group dev
	@touch .venv/developed

.PHONY: help demo test test-fast test-agents lint fix docs docs-check site wheel bench torture golden clean
