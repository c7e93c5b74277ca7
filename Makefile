# From a fresh clone: `make run` answers a question, `make test` runs the tests. Both install what is missing.
#
#   make run ARGS='-m model.gguf "Why is the sky blue?"'
#   make test PRESET=asan
#   make build CMAKE_ARGS='-DDTS_LLAMA=system -DCMAKE_PREFIX_PATH=/opt/llama.cpp'

PRESET ?= release
JOBS ?= $(shell nproc)
BUILD := build/$(PRESET)
# What `dts run` is given.
ARGS ?= --example
# For the first configuration of a build directory; `make configure` applies them to an existing one.
CMAKE_ARGS ?=

.PHONY: build run test configure format lint lint-changed soak wheel package package-check clean help
.DEFAULT_GOAL := build

build: $(BUILD)/build.ninja  ## compile everything
	@cmake --build $(BUILD) --parallel $(JOBS)

run: $(BUILD)/build.ninja  ## answer an example question; ARGS='...' to ask another
	@cmake --build $(BUILD) --parallel $(JOBS) --target dts_cli
	$(BUILD)/bin/dts run $(ARGS)

test: $(BUILD)/build.ninja  ## compile everything and run the tests
	@cmake --build $(BUILD) --parallel $(JOBS)
	@ctest --preset $(PRESET) --parallel $(JOBS) --label-exclude long

configure: packages  ## run CMake again, with CMAKE_ARGS
	@cmake --preset $(PRESET) $(CMAKE_ARGS)

format: packages  ## rewrite the C++ files in the project's format
	@scripts/format.sh

lint: packages  ## check the C++ files with clang-tidy
	@cmake --preset $(PRESET) -B build/lint -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DDTS_TOGETHER=OFF -DDTS_PAGE=OFF $(CMAKE_ARGS) > /dev/null
	@scripts/lint.sh build/lint $(JOBS)

BASE ?= HEAD~1
lint-changed: packages  ## check the C++ files that changed since BASE
	@cmake --preset $(PRESET) -B build/lint -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DDTS_TOGETHER=OFF -DDTS_PAGE=OFF $(CMAKE_ARGS) > /dev/null
	@scripts/lint.sh build/lint $(JOBS) $(BASE)

soak: packages  ## everything for an hour: tests again and again, sanitizers, fuzzers; SOAK_MINUTES=60
	@scripts/soak.sh $${SOAK_MINUTES:-60}

# What others install: for any CPU, with kernels for newer ones chosen at run time.
OUT ?= dist
PORTABLE := build/portable
PYTHON ?= /usr/bin/python3
wheel: packages  ## a Python wheel, into OUT=dist; PYTHON=/usr/bin/python3 is the Python it is for
	@DTS_BUILD_DIR=$(CURDIR)/$(PORTABLE) DTS_CMAKE_ARGS='-DDTS_PORTABLE=ON $(CMAKE_ARGS)' \
	  $(PYTHON) packaging/python/dts_build.py $(OUT)

package: packages  ## a Debian package that needs nothing else, into OUT=dist
	@cmake --preset portable $(CMAKE_ARGS)
	@cmake --build $(PORTABLE) --parallel $(JOBS) --target dts_cli dts_c
	@packaging/deb.sh $(PORTABLE) $(OUT)

package-check: package  ## install and use the package in a bare Debian; needs root and debootstrap
	@packaging/check_deb.sh $(OUT)/dts_*.deb

clean:  ## remove the build directories; llama.cpp stays in the user's cache
	@rm -rf build

help:  ## list these commands
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/make \1\t\2/p' Makefile | expand -t 18

# Which Debian packages a command needs.
PACKAGES := build
test format: PACKAGES := test
lint lint-changed: PACKAGES := lint
wheel package: PACKAGES := package
soak: PACKAGES := ci
.PHONY: packages
packages:
	@scripts/setup.sh $(PACKAGES)

$(BUILD)/build.ninja: | packages
	@cmake --preset $(PRESET) $(CMAKE_ARGS)
