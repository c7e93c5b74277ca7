#!/bin/sh
# Runs clang-tidy on our C++ files: lint.sh BUILD_DIRECTORY JOBS [COMMIT]. The build directory has the compilation
# database. With a commit: only the files that changed since.
set -eu
cd "$(dirname "$0")/.."
[ $# = 2 ] || [ $# = 3 ] || { echo "usage: lint.sh BUILD_DIRECTORY JOBS [COMMIT]" >&2; exit 2; }
{
  if [ $# = 3 ]; then
    git diff -z --name-only --diff-filter=d "$3" -- 'src/*.cpp' 'tests/*.cpp'
  else
    git ls-files -z 'src/*.cpp' 'tests/*.cpp'
  fi
} |
  xargs -0 -r -n 1 -P "$2" clang-tidy -p "$1" --quiet --extra-arg=-Wno-unknown-warning-option
