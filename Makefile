# The commands of a working day. Each installs what is missing first and is quick when nothing is.
STEPS ?=
ARGS ?= all
PREFIX ?= /usr/local

.PHONY: help demo build test test-all evaluate lint format docs install wheel clean

help:  ## These lines
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 12

demo: build  ## The ocean model with and without Forebay: same bytes, less time
	@tools/ci/packages.sh demo
	@tools/demo.sh

build:  ## Build what users run, in build/release
	@tools/ci/packages.sh demo
	@tools/ci/venv.sh demo
	@tools/ci/build.sh release

test:  ## All that every change has to pass; STEPS="checks unit" for some of it
	@python3 tools/ci/steps.py $(STEPS)

test-all:  ## Everything: all seeds and MPIs, TSan, CephFS, fuzzing, clang-tidy
	@python3 tools/ci/steps.py --all $(STEPS)

evaluate: build  ## The measurements of docs/performance.md; ARGS="all --quick"
	@.venv/bin/python evaluation/run.py $(ARGS)

lint:  ## Checks of the house rules, formatters, clang-tidy
	@FOREBAY_TIDY_CHECKS= python3 tools/ci/steps.py --all checks tidy

format:  ## Apply clang-format and ruff format
	@tools/ci/packages.sh test
	@tools/ci/venv.sh test
	@clang-format-19 -i $$(tools/ci/sources.sh)
	@.venv/bin/ruff format -q .

docs:  ## A site of these documents, with the manual, in build/docs/site; broken links are errors
	@tools/ci/packages.sh build
	@tools/ci/docs.sh

install: build  ## Install to PREFIX (/usr/local)
	@umask 022 && cmake --install build/release --prefix $(PREFIX) > build/release/install.log \
	    || { tail -20 build/release/install.log; exit 1; }
	@echo "Forebay is in $(PREFIX), for everyone, and serves the MPIs of:" \
	    $$(ls build/release/lib | sed -n 's/^libforebay_core_\(.*\)\.so$$/\1/p' | grep . || echo none)
	@echo "Start with: $(PREFIX)/bin/forebay doctor"

wheel:  ## One binary wheel in dist: both MPI families, every Python from 3.9 on (FOREBAY_WHEEL_ARCH=aarch64)
	@tools/ci/packages.sh build
	@packaging/make_wheel.sh dist

clean:  ## Remove what was built (keeps .venv)
	@rm -rf build dist out
