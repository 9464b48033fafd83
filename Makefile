# Two commands do everything: `make demo` and `make test`; the rest is for those who work here.

PYTHON ?= python3
# Each interpreter that is named has an environment of its own: one is never taken for another.
VENV ?= .venv$(if $(filter python3,$(PYTHON)),,-$(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])'))
BIN := $(VENV)/bin
READY := $(VENV)/.ready
SITE := build/site
SBOM := build/sbom

.PHONY: help ready demo test test-slow test-all test-part check style types format bench mutants pictures docs sbom freeze lock clean

help:
	@echo "make demo       a decision and its replay, a day of six workflows, and a coding agent"
	@echo "make test       format, lint, types, import contracts, and all tests that are not slow"
	@echo "make test-slow  the slow tests, and every property with more examples"
	@echo "make test-all   both at once"
	@echo "make test-part  a small part of the tests; with PYTHON=python3.13 under another interpreter, as all of these"
	@echo "make bench      measures speed and writes docs/performance.md"
	@echo "make mutants    puts 300 small errors into the kernel; its tests have to find nine of ten"
	@echo "make pictures   takes the pictures of the pages in docs/ with Chromium"
	@echo "make docs       builds the site of these pages in build/site/site; a dead link ends it"
	@echo "make sbom       writes build/sbom/preflights-es.cdx.json: what an installation with all extras holds"
	@echo "make format     mends format and what lint can mend"
	@echo "make freeze     writes the statements and tables of SQLite anew, and records what is newly published"
	@echo "make lock       writes constraints.txt anew"

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Preflights needs Python 3.11 or newer; $(PYTHON) is older: set PYTHON=..."; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet uv || true
	@if $(BIN)/python -m uv --version >/dev/null 2>&1; then \
	  $(BIN)/python -m uv pip install --quiet --python $(BIN)/python -c constraints.txt -e '.[dev]'; \
	else \
	  $(BIN)/python -m pip install --quiet -c constraints.txt -e '.[dev]'; \
	fi
	@touch $(READY)

ready: $(READY)

demo: $(READY)
	@BIN="$(CURDIR)/$(BIN)" sh docs/demo.sh
	@BIN="$(CURDIR)/$(BIN)" sh docs/demo-day.sh
	@BIN="$(CURDIR)/$(BIN)" sh docs/demo-agent.sh

# What Python compiles is kept, as many tests start programs. Each worker would rewrite every assertion,
# which takes seconds: it is only done for tests that fail, which are run again to say more.
PYTEST := env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest
WORKERS := -n auto --dist worksteal --assert=plain
QUICK := -m "not slow and not live" --hypothesis-profile=few
# Half of the time slow tests wait (for locks, kills, servers and browsers): twice as many as there are processors.
WAITING := -n $$((2 * $$(nproc 2>/dev/null || echo 2)))
# Another interpreter breaks what is close to the language and to SQLite: these rooms, and how commands run.
PART := tests/kernel tests/words tests/runtime tests/store tests/test_laws.py tests/cli/test_accept.py tests/cli/test_today.py

# mypy needs one core for half a minute, so the tests begin beside it; it speaks after them.
# Both kinds in one run: what waits leaves its processor to what computes, and tests are collected once.
test: CHOSEN = $(QUICK)
test-all: CHOSEN = $(WAITING) -m "not live"
test test-all: $(READY) style
	@$(BIN)/mypy >$(VENV)/types.txt 2>&1 & types=$$!; trap "kill $$types 2>/dev/null" INT TERM; \
	echo '$(PYTEST) $(WORKERS) $(CHOSEN)'; \
	$(PYTEST) $(WORKERS) $(CHOSEN); tests=$$?; \
	[ $$tests -ne 1 ] || $(PYTEST) --last-failed; \
	wait $$types; types=$$?; echo "$(BIN)/mypy"; cat $(VENV)/types.txt; \
	exit $$((tests || types))

test-slow: $(READY)
	$(PYTEST) $(WORKERS) $(WAITING) -m "(slow or hypothesis) and not live"

test-part: $(READY)
	$(PYTEST) $(WORKERS) $(QUICK) $(PART)

check: style types

style: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	PYTHONPATH=.:cli $(BIN)/lint-imports
	$(BIN)/python tests/plain_english.py

types: $(READY)
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(READY)
	$(BIN)/python -m tests.benchmarks
	$(BIN)/python docs/compare/run.py $(VENV)/compared --sessions 20 --each 1 --rounds 1 --calls 20 --dry-run

mutants: $(READY)
	$(BIN)/python -m tests.house.mutants

pictures: $(READY)
	PYTHONPATH=.:cli $(BIN)/python docs/pictures.py
	$(BIN)/python docs/picture.py

# The generator follows no links to folders: the tree is laid out anew, and each record gets a line of the contents.
docs: $(READY)
	rm -rf $(SITE)
	mkdir -p $(SITE)/pages
	cp README.md CHANGELOG.md CONTRIBUTING.md $(SITE)/pages
	cp -R docs $(SITE)/pages/docs
	{ cat docs/site/mkdocs.yml; ls docs/decisions/0*.md | sed 's/^/      - /'; } > $(SITE)/mkdocs.yml
	$(BIN)/zensical build --strict --config-file $(SITE)/mkdocs.yml

# The tool has an environment of its own: it would bring thirty packages into that of the tests.
sbom: $(READY)
	rm -rf $(SBOM)
	$(BIN)/python -m build --no-isolation --wheel --outdir $(SBOM) .
	$(BIN)/python -m uv venv --quiet --python $(BIN)/python $(SBOM)/installed
	$(BIN)/python -m uv pip install --quiet --python $(SBOM)/installed/bin/python -c constraints.txt \
	  "$$(echo $(SBOM)/*.whl)[distributed,mcp,metrics,postgres,record,view]"
	version=$$($(SBOM)/installed/bin/preflights --version | cut -d" " -f2); \
	  sed "s/^dynamic = .*/version = \"$$version\"/" pyproject.toml > $(SBOM)/pyproject.toml
	$(BIN)/python -m uv tool run --quiet --from cyclonedx-bom==7.5.0 cyclonedx-py environment --output-reproducible \
	  --pyproject $(SBOM)/pyproject.toml -o $(SBOM)/preflights-es.cdx.json $(SBOM)/installed

freeze: $(READY)
	$(BIN)/python -m tests.store.freeze
	$(BIN)/python -m tests.frozen

lock: $(READY)
	$(BIN)/python -m uv pip compile --quiet --universal --no-annotate --no-header \
	  --python-version 3.11 --extra dev pyproject.toml -o constraints.txt

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
