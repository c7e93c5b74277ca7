#!/bin/sh
# Rewrites our C++ files in the project's format. --check only reports the lines that differ, and fails if there are
# any; it exits with 77 where it cannot tell: without clang-format 14 (other versions differ) or a git checkout.
set -eu
cd "$(dirname "$0")/.."
cannot() {
  echo "format: $1" >&2
  exit 77
}

case "${1:-}" in
  '') mode='-i' ;;
  --check) mode='--dry-run -Werror' ;;
  *) echo "format: '$1' should be --check or nothing" >&2; exit 2 ;;
esac
case "$(clang-format --version 2>&1)" in
  *'version 14.'*) ;;
  *) cannot 'clang-format 14 is needed (Debian 12: apt-get install clang-format)' ;;
esac
git rev-parse --is-inside-work-tree >/dev/null 2>&1 || cannot 'not a git checkout'
# Word splitting is meant: the mode holds several words.
# shellcheck disable=SC2086
git ls-files -z '*.h' '*.cpp' | xargs -0 clang-format $mode --
