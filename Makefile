# Every target sets up what it needs; a second call installs nothing again.

PYTHON ?= python3
BIN := .venv/bin
SITE := .venv/.site
READY := .venv/.ready
export NO_MKDOCS_2_WARNING = 1
# Two workers with a thread for each core each would wait for one another.
WORKERS := OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive
# A machine unlike the usual one: what a block or a test takes for granted breaks here.
ELSEWHERE := TZ=Pacific/Kiritimati LC_ALL=C PYTHONUTF8=0 PYTHONHASHSEED=7 \
  OMP_NUM_THREADS=1 ATEN_CPU_CAPABILITY=default

.DEFAULT_GOAL := help
.PHONY: help setup serve site wheel new test blocks behaviour soak again test-gpu paddle check bench compat compiler chromium clean

help: ## List the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

setup: $(READY) ## All of .venv: the blocks need torch, the site does not

serve: $(SITE) ## The site at http://127.0.0.1:8000, rebuilt as you edit
	$(BIN)/mkdocs serve

site: $(SITE) ## Build both languages into site/
	$(BIN)/mkdocs build --strict

wheel: site ## The recipes, search and site as dist/pytorch_cookbook-….whl
	$(BIN)/python -m cookbook wheel --site site dist

new: $(SITE) ## Start a recipe: make new RECIPE=training/ema-weights
	@test -n "$(RECIPE)" || { echo "say which: make new RECIPE=training/ema-weights"; exit 1; }
	@$(BIN)/python -m cookbook new "$(RECIPE)"

test: ## Everything; all parts run, whatever fails
	@$(MAKE) --no-print-directory -j2 $(READY) compiler chromium
	@$(BIN)/python -m tests.everything

blocks: $(READY) compiler ## Every block of every page; make blocks OPTIONS=--save-runs
	$(BIN)/pytest $(OPTIONS) docs

behaviour: $(READY) compiler chromium ## All other tests, on every core
	@$(BIN)/python -m tests.everything recipes engine

soak: $(READY) compiler chromium ## What starts processes, over and over; make soak OPTIONS="--runs 60 PATH"
	$(BIN)/python -m tests.soak $(OPTIONS)

test-gpu: $(READY) ## Every block on a GPU, what pages say of one, and gains; fails where there is none
	$(BIN)/pytest --gpu --save-runs docs
	$(BIN)/pytest tests/gpu
	$(BIN)/python -m benchmarks.gains

again: $(READY) compiler ## By new interpreters, where time zone, encoding, seed and order differ
	$(ELSEWHERE) $(BIN)/python -m pytest -p tests.order --fresh docs
	$(ELSEWHERE) $(WORKERS) $(BIN)/python -m pytest -p tests.order -n auto \
	  --dist worksteal tests/snippets tests/chains

check: $(SITE) ## Lint, format, structure, workflows: the fast checks
	$(BIN)/python -m cookbook check

bench: $(READY) chromium ## Measure the search at 1,000 recipes, the build, the wheel, what recipes gain
	$(BIN)/python -m benchmarks.search
	$(BIN)/python -m benchmarks.build
	$(BIN)/python -m benchmarks.wheel
	$(BIN)/python -m benchmarks.gains

clean: ## Remove what was built, and the environment
	rm -rf site dist .venv .compat

# .venv is filled in two steps: what the site and the checks need, then torch and all
# else. A stamp is written last, so an interrupted installation starts again.
$(SITE): requirements-site.in requirements.txt
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit(\
	"Python 3.11 or newer is needed; this is %d.%d. Try: make PYTHON=python3.12" % sys.version_info[:2])'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --disable-pip-version-check -r requirements-site.in -c requirements.txt
	@touch $(SITE)

$(READY): $(SITE)
	@echo "Adding torch and all else to .venv (torch is large: allow a few minutes)"
	$(BIN)/python -m pip install --disable-pip-version-check -r requirements.txt
	@touch $(READY)

# What tests/paddle compares with. It has no wheels for Python 3.14 yet.
paddle: ## Save anew what Paddle computes, for tests/paddle
	$(PYTHON) -m venv .compat/paddle
	.compat/paddle/bin/python -m pip install --disable-pip-version-check -r tests/paddle/requirements.txt
	.compat/paddle/bin/python tests/paddle/save_with_paddle.py tests/paddle/saved

# $(call install,HOW TO SEE THAT IT IS THERE,DEBIAN PACKAGES,WHAT TO DO ELSEWHERE)
define install
if $(1) >/dev/null 2>&1; then exit 0; fi; \
if ! command -v apt-get >/dev/null; then echo "$(3)"; exit 1; fi; \
echo "Installing $(2)"; \
SUDO=$$([ "$$(id -u)" = 0 ] || echo sudo); \
$$SUDO apt-get update -q && $$SUDO apt-get install -y -q --no-install-recommends $(2)
endef

# torch.compile builds C++ on the CPU; torch.utils.cpp_extension runs ninja for it.
compiler:
	@$(call install,command -v $${CXX:-g++},g++,Install a C++ compiler and set CXX=/path/to/it)
	@$(call install,command -v ninja,ninja-build,Install ninja)

# It comes after the compiler: there is one lock for apt. pip works beside both.
# Browser tests drive the system's Chromium, or the one CHROMIUM names, and measure
# Chinese text in a real font; other systems than Debian bring one.
chromium: compiler
	@if [ -n "$$CHROMIUM" ]; then exit 0; fi; \
	$(call install,command -v chromium,chromium,Install Chromium or Chrome and set CHROMIUM=/path/to/it)
	@if ! command -v apt-get >/dev/null; then exit 0; fi; \
	$(call install,fc-list :lang=zh | grep .,fontconfig fonts-noto-cjk,)

# One environment per torch release, with the torchvision and torchaudio that belong to it.
# === takes exactly this release, also where a build with a suffix is offered. The last
# torchaudio, 2.11.1, lets pip put it beside any torch, but needs 2.13.
TORCH = newest
SPEC_newest := torch torchvision torchaudio
AUDIO = 'torchaudio<=$(if $(filter 2.12.%,$*),2.11.0,$*)'
SPEC = $(or $(SPEC_$*),torch===$* torchvision $(AUDIO))

compat: .compat/$(TORCH)/.ready ## Every block and message on the newest torch, or: make compat TORCH=2.13.0
	.compat/$(TORCH)/bin/pytest --save-runs --other-torch --unrecorded docs
	-.compat/$(TORCH)/bin/python -m pytest -p tests.wordings tests/snippets tests/chains

# All versions are pinned, so nothing is resolved; what needs a newer torch is left out.
.compat/%/.ready: requirements.txt
	@echo "Setting up .compat/$*"
	$(PYTHON) -m venv .compat/$*
	.compat/$*/bin/python -m pip install --disable-pip-version-check $(SPEC)
	(printf '^nvidia\n^cuda\n^triton\n'; .compat/$*/bin/python -m pip freeze \
	  | sed -n 's/_/-/g; s/^\(.*==\).*/^\1/p') > .compat/$*/present
	grep -vif .compat/$*/present requirements.txt > .compat/$*/requirements.txt
	.compat/$*/bin/python -m pip install --disable-pip-version-check --no-deps \
	  -r .compat/$*/requirements.txt
	.compat/$*/bin/python -m pip check | sed -n 's/ .* requires torch.*but you have.*//p' | sort -u \
	  | xargs -r .compat/$*/bin/python -m pip uninstall --yes
	@touch $@
