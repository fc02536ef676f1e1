# Two commands do everything; each first makes what is missing or out of date, and nothing else.
#
#   make lab     JupyterLab with lesson 1 open        (on a server: make lab ARGS=--no-browser)
#   make test    every test, on every core            (a few, on one: make test ARGS="tests/engine -x -n0")
#
# They need python3 with its venv module (another one: make PYTHON=python3.13 test). Node comes as a Python package. All that
# is made stays inside this folder: .venv (Python packages), node_modules, the built bundles, and .make, which holds one empty
# file for each thing that stands. `make clean` removes them.

PYTHON ?= python3
LESSON := notebooks/01_step_through_backward.ipynb

BIN := .venv/bin
MADE := .make
export PATH := $(CURDIR)/$(BIN):$(PATH)
export VIRTUAL_ENV := $(CURDIR)/.venv
export PIP_DISABLE_PIP_VERSION_CHECK := 1

INSTALL := install --quiet --editable ".[dev]" --constraint constraints.txt
LABEXTENSION := .venv/share/jupyter/labextensions/tensorlab-extension
AS_ROOT := $(shell test "$$(id -u)" = 0 && echo --allow-root)

PACKAGES := package.json package-lock.json widgets/package.json extension/package.json
SOURCES := $(wildcard widgets/*.mjs) extension/build.mjs extension/install.json \
	$(shell find widgets/shared widgets/tensorlab_widgets extension/src extension/style extension/schema -type f \
	-not -path '*/static/*' -not -path '*/states/*' -not -name '*.py' -not -name '*.test.ts' -not -name '*.pyc' 2>/dev/null) \
	$(wildcard extension/src/*/*.py)

.PHONY: help lab test bundles browser clean

help:
	@sed -n 's/^# \{0,1\}//p' Makefile | head -9

lab: $(MADE)/bundles
	jupyter lab --LabApp.default_url=/lab/tree/$(LESSON) $(AS_ROOT) $(ARGS)

test: $(MADE)/bundles $(MADE)/browser
	python -m pytest -n auto --dist loadgroup $(ARGS)

bundles: $(MADE)/bundles

# The Python environment: pip brings uv if it is not there, and uv brings the rest in a quarter of the time, without a network
# from what it kept before; where uv cannot, pip does. The bundles are built below, so the package's own build hook need not.
$(MADE)/python: pyproject.toml constraints.txt
	@echo "== .venv: Python packages"
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@mkdir -p $(MADE) extension/labextension
	@export SKIP_JUPYTER_BUILDER=1; \
	command -v uv >/dev/null || python -m pip install --quiet uv || true; \
	uv pip $(INSTALL) || uv pip $(INSTALL) --offline || python -m pip $(INSTALL)
	@touch $@

$(MADE)/node: $(PACKAGES) | $(MADE)/python
	@echo "== node_modules: TypeScript packages"
	@npm ci --loglevel=error
	@touch $@

$(MADE)/bundles: $(SOURCES) $(MADE)/node $(MADE)/python
	@echo "== widget bundles and JupyterLab extension"
	@npm run --silent build
	@rm -rf $(LABEXTENSION) && mkdir -p $(LABEXTENSION) && cp -R extension/labextension/. $(LABEXTENSION)
	@touch $@

# Tried once; without a Chromium the browser tests say that they were skipped. `make browser` tries again.
$(MADE)/browser: | $(MADE)/python
	@$(MAKE) --no-print-directory browser

browser: $(MADE)/python
	@echo "== a Chromium for the browser tests"
	@python tests/browser/chromium.py
	@touch $(MADE)/browser

clean:
	rm -rf .venv .make node_modules build dist artifacts extension/lib extension/labextension widgets/tensorlab_widgets/static
