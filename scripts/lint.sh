#!/bin/sh
# Runs clang-tidy on our C++ files: lint.sh BUILD_DIRECTORY JOBS [COMMIT]. The build directory has the compilation
# database; what it does not build (CUDA, where there is none) is left out and named. With a commit: only the files that
# changed since. LINT_SECONDS: no further file is begun after so long, and how many were left is said.
set -eu
cd "$(dirname "$0")/.."
[ $# = 2 ] || [ $# = 3 ] || { echo "usage: lint.sh BUILD_DIRECTORY JOBS [COMMIT]" >&2; exit 2; }
left=$(mktemp)
files=$(mktemp)
trap 'rm -f "$left" "$files"' EXIT
export LINT_BUILD="$1" LINT_LEFT="$left" LINT_END=$(($(date +%s) + ${LINT_SECONDS:-1000000}))
if [ $# = 3 ]; then
  git diff --name-only --diff-filter=d "$3" -- 'src/*.cpp' 'tests/*.cpp'
else
  git ls-files 'src/*.cpp' 'tests/*.cpp'
fi | while read -r file; do
  if grep -qF "\"file\": \"$PWD/$file\"" "$1/compile_commands.json"; then
    echo "$file"
  else
    echo "lint: $file is not part of this build" >&2
  fi
done > "$files"
status=0
xargs -r -n 1 -P "$2" sh -c '
  if [ "$(date +%s)" -ge "$LINT_END" ]; then echo "$0" >> "$LINT_LEFT"; exit 0; fi
  exec clang-tidy -p "$LINT_BUILD" --quiet --extra-arg=-Wno-unknown-warning-option "$0"' < "$files" || status=1
if [ -s "$left" ]; then echo "lint: after $LINT_SECONDS s $(wc -l < "$left") files were left; make lint checks all"; fi
echo "lint: $(($(wc -l < "$files") - $(wc -l < "$left"))) files checked"
exit $status
