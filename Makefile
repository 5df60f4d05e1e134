# Every target sets up what it needs; a second call installs nothing again.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
export NO_MKDOCS_2_WARNING = 1

.DEFAULT_GOAL := help
.PHONY: help serve site test test-gpu check bench chromium clean

help: ## List the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

serve: $(READY) ## The site at http://127.0.0.1:8000, rebuilt as you edit
	$(BIN)/mkdocs serve --strict

site: $(READY) ## Build both languages into site/
	$(BIN)/mkdocs build --strict

test: $(READY) chromium ## Everything: checks, blocks, behaviour, site, browser
	$(BIN)/python -m cookbook check
	$(BIN)/pytest

test-gpu: $(READY) ## The blocks marked gpu; fails where there is no GPU
	$(BIN)/pytest --gpu -m gpu docs

check: $(READY) ## Lint, format, structure, workflows: the fast checks
	$(BIN)/python -m cookbook check

bench: $(READY) chromium ## Measure what the README and DESIGN claim
	$(BIN)/python -m benchmarks

clean: ## Remove what was built, and the environment
	rm -rf site .venv .cache

# The stamp is written last, so an interrupted installation starts again.
$(READY): requirements.txt
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit(\
	"Python 3.11 or newer is needed; this is %d.%d. Try: make PYTHON=python3.12" % sys.version_info[:2])'
	@echo "Setting up .venv (torch is large: allow a few minutes the first time)"
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --disable-pip-version-check -r requirements.txt
	@touch $(READY)

# Browser tests drive the system's Chromium, or the one CHROMIUM names.
chromium:
	@if [ -n "$$CHROMIUM" ] || command -v chromium >/dev/null; then exit 0; fi; \
	if ! command -v apt-get >/dev/null; then \
	  echo "Install Chromium or Chrome and set CHROMIUM=/path/to/it"; exit 1; fi; \
	echo "Installing Chromium for the browser tests"; \
	SUDO=$$([ "$$(id -u)" = 0 ] || echo sudo); \
	$$SUDO apt-get update -q && $$SUDO apt-get install -y -q --no-install-recommends chromium
