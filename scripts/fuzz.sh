#!/usr/bin/env bash
# Runs every fuzzer that was built, each for a fixed number of inputs from its corpus (the one over
# sockets for a twentieth of it): fuzz.sh BUILD_DIRECTORY INPUTS
# Says how many inputs each took; ends with an error, and the input in BUILD_DIRECTORY/findings, when one found something.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[ $# = 2 ] || { echo "usage: fuzz.sh BUILD_DIRECTORY INPUTS" >&2; exit 2; }
build=$1
inputs=$2
findings=$build/findings
mkdir -p "$findings"
shopt -s nullglob
failed=0
count=0
for fuzzer in "$build"/bin/*_fuzz; do
  name=$(basename "$fuzzer" _fuzz)
  corpus=(fuzz/corpus/"$name")
  case $name in
    parquet) corpus=(tests/data/parquet) ;;
    serve_*) corpus=(fuzz/corpus/serve) ;;
  esac
  [ -d "${corpus[0]}" ] || corpus=()
  words=(fuzz/dictionaries/"$name".dict)
  case $name in
    grade) words=(fuzz/dictionaries/answer.dict) ;;
    serve_http) words=(fuzz/dictionaries/serve_request.dict) ;;
  esac
  [ -f "${words[0]}" ] || words=()
  runs=$inputs
  # Its unfinished requests each wait for a deadline of the server's.
  [ "$name" != serve_http ] || runs=$(((inputs + 19) / 20))
  new=$build/corpus/$name  # what it finds on the way; the repository's corpus stays as it is
  mkdir -p "$new"
  log=$build/$name.log
  # 10 s an input and 2 GiB are far more than any of ours takes.
  if "$fuzzer" -runs="$runs" -timeout=10 -rss_limit_mb=2048 -seed="${FUZZ_SEED:-1}" -max_len=16384 -artifact_prefix="$findings/$name-" \
    "${words[@]/#/-dict=}" "$new" "${corpus[@]}" >"$log" 2>&1; then
    echo "fuzz: $name: $(grep -o 'Done [0-9]* runs in [0-9]* second' "$log" | tail -1)s"
  else
    tail -40 "$log"
    echo "fuzz: $name: FOUND SOMETHING; the input is in $findings, the whole log is $log"
    failed=1
  fi
  count=$((count + 1))
done
[ "$count" -gt 0 ] || { echo "fuzz: no fuzzers in $build/bin" >&2; exit 1; }
exit $failed
