#!/usr/bin/env bash
# What `make test` does not see: protect.sh STAGE..., stages being fuzz, asan, tsan, lint and long. Says what each took, and ends
# with an error when any found something.
#   FUZZ_INPUTS  inputs for each fuzzer (20000)
#   LINT_SECONDS how long files are linted (120)
#   PROTECT_UNTIL  no stage begins that would not be done by this second (of date +%s); those left out are named
#   LINT_BASE    the commit since which changed files are linted (where this branch left origin/main, else the last one)
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit
[ $# -gt 0 ] || { echo "usage: protect.sh STAGE...: fuzz, asan, tsan, lint, long" >&2; exit 2; }
jobs=$(nproc)
scripts/setup.sh ci || exit

# Every edge that takes bytes from outside, for a fixed number of inputs from its corpus.
fuzz() {
  # clang alone is not enough: its runtime is a package of its own.
  if ! echo 'extern "C" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }' |
    clang++ -x c++ -fsanitize=fuzzer,address - -o /dev/null; then
    echo 'protect: clang cannot link a fuzzer: its packages are clang and libclang-rt-dev (scripts/setup.sh ci)'
    return 1
  fi
  cmake --preset fuzz > /dev/null && cmake --build build/fuzz --parallel "$jobs" --target fuzzers &&
    scripts/fuzz.sh build/fuzz "${FUZZ_INPUTS:-20000}"
}

# sanitized PRESET FILTER PROGRAM...: builds test programs and runs them, two at a time, each with a deadline. Our invariants
# are on in every build. Little debug information: a stack needs no more, and linking is short. What runs in node or a
# browser is left out: nothing of ours in there can be sanitized.
sanitized() {
  local preset=$1 filter=$2
  shift 2
  cmake --preset "$preset" -DDTS_PAGE=OFF -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_FLAGS_RELWITHDEBINFO='-O1 -g1' \
    -DCMAKE_C_FLAGS_RELWITHDEBINFO='-O1 -g1' > /dev/null || return
  cmake --build "build/$preset" --parallel "$jobs" --target "$@" || return
  printf '%s\n' "$@" | UBSAN_OPTIONS=print_stacktrace=1 TSAN_OPTIONS="suppressions=$PWD/cmake/tsan.supp" \
    xargs -n 1 -P 2 scripts/run_tests.sh "build/$preset" "$filter"
}

# The suite, but for what is only longer here: coverage of intervals is arithmetic, every type of weights is llama.cpp's own
# code, the scenarios of a network repeat one test two thousand times, the native engine's plain loops are ten times as
# slow (one family is tried for all four), and some go to the end of a large budget.
to_the_end='ChatTemplate.ExpressionsAreBoundedToo:HostileCosts.NoNumberOfAClientEndsOrStallsTheServer'
asan() {
  local only_longer='IntervalCoverage.*:*LlamaWeightTypes*:*RemoteScenarios*'
  only_longer+=':*NativeAgainstLlama*:*NativeEightBits*:*NativeSuspend*'
  only_longer+=':*NativeEngineProperty*/qwen3:*NativeEngineProperty*/llama:*NativeEngineProperty*/phi3'
  sanitized asan "-$only_longer:$to_the_end" \
    answer_tests core_tests draw_tests eval_tests host_tests hub_tests llama_tests native_tests remote_tests serve_tests
}

# What has threads: scheduler, predictor and their like, and the server.
tsan() {
  sanitized tsan "Scheduler.*:ThreadPool.*:Distribution.*:EventLog.*:Service.*:HttpServer.*:ServerLog.*:Workers.*:Run.*:Places.*:Hostile*-$to_the_end" \
    core_tests serve_tests
}

lint() {
  local base
  base=${LINT_BASE:-$(git merge-base HEAD origin/main 2>/dev/null)}
  if [ -z "$base" ] || [ "$base" = "$(git rev-parse HEAD)" ]; then base=$(git rev-parse --verify --quiet HEAD~1); fi
  [ -n "$base" ] || { echo 'protect: there is no earlier commit to compare with'; return 0; }
  LINT_SECONDS=${LINT_SECONDS:-120} make --no-print-directory lint-changed BASE="$base"
}

# Tests of the release build that are too long for `make test`.
long() {
  cmake --preset release > /dev/null && cmake --build build/release --parallel "$jobs" &&
    ctest --preset release --parallel "$jobs" --label-regex long
}

# Minutes that a stage takes on two cores without a compiler cache, rounded up.
declare -A minutes=([fuzz]=7 [asan]=17 [tsan]=5 [lint]=3 [long]=5)

failed=()
summary=()
for stage in "$@"; do
  case $stage in fuzz | asan | tsan | lint | long) ;; *) echo "protect: no stage '$stage'" >&2; exit 2 ;; esac
  if [ -n "${PROTECT_UNTIL:-}" ] && [ $(($(date +%s) + 60 * minutes[$stage])) -gt "$PROTECT_UNTIL" ]; then
    summary+=("$stage NOT RUN for want of time")
    continue
  fi
  printf '\n==== %s\n' "$stage"
  begin=$SECONDS
  "$stage" || failed+=("$stage")
  summary+=("$(printf '%s %d:%02d min' "$stage" $(((SECONDS - begin) / 60)) $(((SECONDS - begin) % 60)))")
done
printf '\nprotect: %s\n' "$(IFS=,; echo "${summary[*]}")"
[ ${#failed[@]} = 0 ] || { echo "protect: failed: ${failed[*]}"; exit 1; }
