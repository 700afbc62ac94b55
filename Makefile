# What people and CI run; `make help` lists it. Everything happens in .venv, which is made here.

PYTHON = .venv/bin/python

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' Makefile

# Q and REPO are read from the environment, where make puts what the command line gives: so quotes
# and spaces in them reach the command as they are.
demo: .venv/installed  ## set up, index and answer a question: make demo Q="…" REPO=…
	@echo "$$ rootle search --root \"$${REPO:-.}\" -n 2 \"$${Q:-when did a file last change, according to git}\""
	@.venv/bin/rootle search --root "$${REPO:-.}" -n 2 \
		"$${Q:-when did a file last change, according to git}" || test $$? -eq 1

# The tests start hundreds of interpreters, each of which would compile rootle anew.
unexport PYTHONDONTWRITEBYTECODE

test: .venv/developed  ## install what the tests need and run them all
	$(PYTHON) -m pytest -n auto

test-fast: .venv/developed  ## run the tests that need no server and no slow process
	$(PYTHON) -m pytest -n auto -m "not server and not slow"

lint: .venv/developed  ## check style and types
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy

fix: .venv/developed  ## repair what lint can repair by itself
	$(PYTHON) -m ruff check --fix .
	$(PYTHON) -m ruff format .

docs: .venv/developed  ## regenerate the generated parts of docs/ and the screenshot
	$(PYTHON) docs/scripts/generate_reference.py
	$(PYTHON) docs/scripts/record_terminal.py

docs-check: .venv/developed  ## fail where `make docs` would change a file
	$(PYTHON) docs/scripts/generate_reference.py --check
	$(PYTHON) docs/scripts/record_terminal.py --check

site: .venv/developed  ## build the documentation site into build/site
	$(PYTHON) -m sphinx --fail-on-warning --keep-going --quiet -c docs . build/site
	@echo "open build/site/index.html"

# The wheel is built from the source distribution, so that both are known to be whole.
wheel: .venv/developed  ## build dist/, install the wheel into an empty environment, search there
	rm -rf dist build/empty
	$(PYTHON) -m build
	$(PYTHON) -m venv build/empty
	build/empty/bin/python -m pip install --quiet dist/*.whl
	mkdir -p build/empty/sample
	cp README.md build/empty/sample/
	cd build/empty && bin/rootle search --root sample --index-dir index -n 1 "which licence is it"

# BENCH, REPOS and CORPUS: see docs/research/benchmarks.md.
bench: .venv/developed  ## quality and speed: make bench BENCH=… REPOS=… CORPUS=…
	$(PYTHON) -m benchmarks.quality.public_benchmark "$$BENCH" "$$REPOS"
	$(PYTHON) -m benchmarks.speed.tool_comparison "$$CORPUS"

golden: .venv/developed  ## rewrite the readable rankings in tests/golden; review the diff
	ROOTLE_WRITE_GOLDEN=1 $(PYTHON) -m pytest tests/golden

clean:  ## delete everything that was made here, .venv included
	rm -rf .venv build dist .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache

# The newest Python of 3.11 or later that runs and can make environments.
.venv/made:
	@for name in python3.13 python3.12 python3.11 python3; do \
		if "$$name" -c "import sys; sys.exit(sys.version_info < (3, 11))" 2>/dev/null; then \
			if "$$name" -c "import ensurepip, venv" 2>/dev/null; then \
				echo "making .venv with $$("$$name" --version)"; \
				"$$name" -m venv --clear .venv && touch .venv/made && exit 0; \
				exit 1; \
			fi; \
			found="$$name"; \
		fi; \
	done; \
	if [ -n "$$found" ]; then \
		echo "$$found cannot make environments: install its venv module" >&2; \
		echo "(on Debian and Ubuntu: apt install python3-venv)" >&2; \
	else \
		echo "rootle needs Python 3.11 or later, and none was found:" >&2; \
		echo "install it (on Debian and Ubuntu: apt install python3 python3-venv)" >&2; \
	fi; \
	exit 1

# Editable: a change in src/ needs no new installation.
.venv/installed: pyproject.toml .venv/made
	@echo "installing rootle into .venv"
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check --editable .
	@touch .venv/installed

# Dependency groups are known to pip from 25.1 on.
.venv/developed: .venv/installed
	@echo "installing what the tests need into .venv"
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check "pip>=25.1"
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check --group dev
	@touch .venv/developed

.PHONY: help demo test test-fast lint fix docs docs-check site wheel bench golden clean
