#!/bin/sh
# Rewrites our C++ files in the project's format; --check only reports the lines that differ, and fails if there are any.
set -eu
cd "$(dirname "$0")/.."
case "${1:-}" in
  '') mode='-i' ;;
  --check) mode='--dry-run -Werror' ;;
  *) echo "format: '$1' should be --check or nothing" >&2; exit 2 ;;
esac
# Word splitting is meant: the mode holds several words.
# shellcheck disable=SC2086
git ls-files -z '*.h' '*.cpp' | xargs -0 clang-format $mode --
