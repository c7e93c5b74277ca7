#!/usr/bin/env bash
# Everything for a while, with figures: soak.sh MINUTES. Rounds of release tests, of intervals against many simulated
# experiments, of the suite under both sanitizers and of all fuzzers with other seeds, until the time is up. A line for each
# step, a table at the end, also when it is interrupted; ends with an error when anything failed in any round.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit
[ $# = 1 ] || { echo "usage: soak.sh MINUTES" >&2; exit 2; }
deadline=$((SECONDS + 60 * $1))
declare -A runs failures seconds
mkdir -p build
step() {  # step NAME COMMAND...
  local name=$1 begin=$SECONDS result=passed
  shift
  runs[$name]=$((${runs[$name]:-0} + 1))
  if ! "$@" >"build/soak-$name.log" 2>&1; then
    result=FAILED
    failures[$name]=$((${failures[$name]:-0} + 1))
    cp "build/soak-$name.log" "build/soak-$name-failed-${runs[$name]}.log"
  fi
  seconds[$name]=$((${seconds[$name]:-0} + SECONDS - begin))
  printf 'round %d: %s %s, %d s\n' "$round" "$name" "$result" $((SECONDS - begin))
}
table() {
  local name bad=0
  printf '\n%-10s %6s %8s %10s\n' step runs failed seconds
  for name in release coverage long fuzz asan tsan; do
    printf '%-10s %6d %8d %10d\n' "$name" "${runs[$name]:-0}" "${failures[$name]:-0}" "${seconds[$name]:-0}"
    bad=$((bad + ${failures[$name]:-0}))
  done
  [ $bad = 0 ] || { echo "the logs of what failed: build/soak-*-failed-*.log"; return 1; }
}
trap 'table; exit 130' INT TERM
round=0
while [ $SECONDS -lt $deadline ]; do
  round=$((round + 1))
  step release make test
  step coverage env DTS_COVERAGE_ROUNDS=10000 timeout 1200 build/release/bin/eval_tests --gtest_filter='IntervalCoverage.*'
  for part in long fuzz asan tsan; do
    [ $SECONDS -lt $deadline ] && step "$part" env FUZZ_SEED=$round FUZZ_INPUTS=$((20000 * round)) scripts/protect.sh "$part"
  done
done
table
