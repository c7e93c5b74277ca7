#!/bin/sh
# Runs one test program against the clock: run_tests.sh BUILD_DIRECTORY GTEST_FILTER PROGRAM. Its output comes in one piece.
set -u
[ $# = 3 ] || { echo "usage: run_tests.sh BUILD_DIRECTORY GTEST_FILTER PROGRAM" >&2; exit 2; }
log=$1/$3.log
begin=$(date +%s)
timeout 900 "$1/bin/$3" --gtest_brief=1 --gtest_filter="$2" > "$log" 2>&1
status=$?
tail -n 60 "$log"
echo "$3: exit $status after $(($(date +%s) - begin)) s"
# A filter that fits nothing tests nothing.
grep -q ' 0 tests from' "$log" && { echo "$3: no tests"; exit 1; }
exit $status
