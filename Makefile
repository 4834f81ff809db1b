# Everything here makes its own environment on a machine that has only Python 3.10 or later and make.
#
#   make demo    run the quickstart in a real kernel and show what happens
#   make lab     open the quickstart in JupyterLab, with the other guides beside it
#   make test    run all tests                  (one folder: make test ARGS=tests/tools)
#   make unit    the tests that start no kernel, no browser and no model
#   make matrix  a notebook's cells on older and newer Jupyter, in environments of their own
#   make check   lint, formatting, types, layers
#   make front   types, formatting and tests of the front end
#   make watch   build the front end again at every change, for JupyterLab in this environment (reload the page)
#   make screenshots   make the pictures of the README anew, in a real JupyterLab (one: make screenshots ARGS=dark)
#   make soak    property tests with many more examples
#   make limits  the limits of speed, measured by themselves
#   make bench   compare speed with plain httpx, and with other libraries named in PEERS (Python 3.11 or later)
#   make clean   remove environments and build products

PYTHON ?= python3
VENV ?= .venv
ARGS ?=
PEERS ?= raw_httpx,agent_magic_agent
SCENARIOS ?= import,stream,paced,loop,parallel,parallel_async,args,long,tools,first
REPEATS ?= 5

ifeq ($(OS),Windows_NT)
BIN := Scripts
PATHS := ;
else
BIN := bin
PATHS := :
endif
IN_VENV := $(VENV)/$(BIN)/python
# Stands for a machine on which no model can run; says so.
WITHOUT_LOCAL := $(VENV)/without-local
WITHOUT_NPM := $(VENV)/without-npm
WITHOUT_BROWSER := $(VENV)/without-browser
# That of a package where there is one for the machine, so that no Node needs to be on it.
NPM = PATH='$(abspath $(VENV))/$(BIN)$(PATHS)'"$$PATH" npm
SERVED := $(VENV)/share/jupyter/labextensions/agent-magic
BUILT := agent_magic/labextension/package.json
GUIDES := $(patsubst notebooks/%,build/lab/%,$(wildcard notebooks/*.*))
FRONT_END := $(wildcard $(addprefix labextension/,*.json scripts/* settings/* style/* src/*/*))
MCP_SERVER := @modelcontextprotocol/server-everything@2026.8.31
LEFT_OUT = $(shell test ! -e $(1) || echo ' and not $(2)')
NEEDS = $(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= $(1) else "$(2)")'
PYTEST = $(IN_VENV) -m pytest --numprocesses logical --maxprocesses 4 --no-loadscope-reorder
PIP = $(IN_VENV) -m pip --disable-pip-version-check install --quiet

MATRIX := ipython7 ipykernel6 ipykernel7 latest
BASE = $(PYTHON)
# IPython 7 does not run on later Pythons.
.venv-matrix/ipython7/ready: BASE = $(shell $(PYTHON) scripts/find_python.py 3.10)
.venv-matrix/ipython7/ready: JUPYTER = 'ipython==7.34.*' 'ipykernel==6.17.*'
.venv-matrix/ipykernel6/ready: JUPYTER = 'ipykernel==6.31.*'
.venv-matrix/ipykernel7/ready: JUPYTER = 'ipykernel==7.3.*'
.venv-matrix/latest/ready: JUPYTER = ipython ipykernel

.PHONY: demo lab test unit matrix matrix-environments check front watch screenshots soak limits bench clean browser

demo: $(VENV)/ready
	$(IN_VENV) scripts/demo.py

lab: $(VENV)/lab $(GUIDES)
	$(IN_VENV) -m jupyterlab build/lab/quickstart.ipynb $(ARGS)

test: $(VENV)/local browser
	@cat $(WITHOUT_LOCAL) $(WITHOUT_NPM) $(WITHOUT_BROWSER) 2> /dev/null || true
	$(PYTEST) -m "not benchmark$(call LEFT_OUT,$(WITHOUT_LOCAL),local)$(call \
		LEFT_OUT,$(WITHOUT_NPM),npm)$(call LEFT_OUT,$(WITHOUT_BROWSER),browser)" $(ARGS)

unit: $(VENV)/ready
	$(PYTEST) -m "not benchmark and not kernel and not browser and not local and not npm" $(ARGS)

matrix: $(VENV)/ready matrix-environments
	AGENT_MAGIC_KERNELS='$(subst $(space),$(PATHS),$(MATRIX:%=$(CURDIR)/.venv-matrix/%/$(BIN)/python))' \
		$(PYTEST) tests/notebook/test_matrix.py tests/notebook/test_live_widget.py $(ARGS)

matrix-environments: $(MATRIX:%=.venv-matrix/%/ready)

check: $(VENV)/check
	$(IN_VENV) -m ruff check
	$(IN_VENV) -m ruff format --check
	$(IN_VENV) -m mypy
	$(IN_VENV) scripts/check_layers.py

front: $(VENV)/local
	@test -d labextension/node_modules || $(NPM) install --prefix labextension
	$(NPM) --prefix labextension run check
	$(NPM) --prefix labextension run format:check
	$(NPM) --prefix labextension test

# Lab is to serve the built files themselves and not the copy that pip made.
watch: $(VENV)/local
	rm -rf $(SERVED)
	ln -s $(CURDIR)/$(dir $(BUILT)) $(SERVED)
	@test -d labextension/node_modules || $(NPM) install --prefix labextension
	$(NPM) --prefix labextension run watch

screenshots: $(VENV)/browser
	$(IN_VENV) scripts/find_chromium.py --install
	$(IN_VENV) -m scripts.screenshots $(ARGS)

soak: $(VENV)/ready
	$(IN_VENV) -m pytest --hypothesis-profile=soak -m "not benchmark and not kernel and not browser and not local and not npm" $(ARGS)

# One after the other, since each test would slow down the others.
limits: $(VENV)/local browser
	$(IN_VENV) -m pytest -m "benchmark$(call LEFT_OUT,$(WITHOUT_BROWSER),browser)" $(ARGS)

bench:
	@$(call NEEDS,(3$(comma) 11),make bench needs Python 3.11 or later; name one with PYTHON=...)
	@mkdir -p build
	$(PYTHON) tests/benchmarks/run.py --setup --venvs .venv-bench --out build/bench.json \
		--peers $(PEERS) --scenarios $(SCENARIOS) --repeats $(REPEATS)

clean:
	rm -rf $(VENV) .venv-matrix .venv-bench build dist
	rm -rf agent_magic/labextension agent_magic/static labextension/lib labextension/node_modules labextension/*.tsbuildinfo

# A stamp stands for what is installed; a change of pyproject.toml makes it stale.

# What is older than its sources goes, and pip builds it again.
$(BUILT): $(FRONT_END)
	@rm -rf $(@D)

$(VENV)/ready: pyproject.toml $(BUILT)
	@$(call NEEDS,(3$(comma) 10),agent_magic needs Python 3.10 or later; name one with PYTHON=...)
	$(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade 'pip>=25.1'
	$(PIP) --editable . --group test
	@test -e $(BUILT) || echo "The front end could not be built, so that runs are drawn as plain HTML; \
	$(IN_VENV) -m pip install --verbose --editable . says why."
	@touch $@

$(VENV)/local: $(VENV)/ready
	@rm -f $(WITHOUT_LOCAL)
	$(PIP) --only-binary :all: --no-deps --group local || \
		echo "No wheel of xllamacpp fits this machine: the tests of a model in it are left out." > $(WITHOUT_LOCAL)
	@rm -f $(WITHOUT_NPM)
	$(PIP) --only-binary :all: --group node && \
		$(NPM) install --prefix $(VENV)/npm --no-audit --no-fund --ignore-scripts --loglevel error $(MCP_SERVER) || \
		echo "There is no Node for this machine, or no npm registry: the tests of a server from npm are left out." > $(WITHOUT_NPM)
	@touch $@

$(VENV)/browser: $(VENV)/ready
	$(PIP) --group browser
	@touch $@

# Looked for each time, since what is missing may have been installed meanwhile.
browser: $(VENV)/browser
	@rm -f $(WITHOUT_BROWSER)
	@test -e $(BUILT) || echo "There is no front end here: the browser tests are left out." > $(WITHOUT_BROWSER)
	@$(IN_VENV) scripts/find_chromium.py --install 2>&1 > /dev/null | cat >> $(WITHOUT_BROWSER); \
		test -s $(WITHOUT_BROWSER) || rm -f $(WITHOUT_BROWSER)

.venv-matrix/%/ready: pyproject.toml
	@test -n '$(BASE)'
	$(BASE) -m venv $(@D)
	$(@D)/$(BIN)/python -m pip --disable-pip-version-check install --quiet --editable . matplotlib $(JUPYTER)
	@touch $@

$(VENV)/check: $(VENV)/ready
	$(PIP) --group check
	@touch $@

$(VENV)/lab: $(VENV)/ready
	$(PIP) --editable '.[lab]'
	@touch $@

# Copies, so that what is tried out changes nothing of the repository.
build/lab/%: notebooks/%
	@mkdir -p $(@D)
	@cp $< $@

comma := ,
empty :=
space := $(empty) $(empty)
