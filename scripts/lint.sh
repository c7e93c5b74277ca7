#!/bin/sh
# Runs clang-tidy on our C++ files: lint.sh BUILD_DIRECTORY JOBS. The build directory has the compilation database.
set -eu
cd "$(dirname "$0")/.."
[ $# = 2 ] || { echo "usage: lint.sh BUILD_DIRECTORY JOBS" >&2; exit 2; }
git ls-files -z 'src/*.cpp' 'tests/*.cpp' |
  xargs -0 -n 1 -P "$2" clang-tidy -p "$1" --quiet --extra-arg=-Wno-unknown-warning-option
