#!/bin/bash
# completion_test.sh PROGRAM: completions and manual pages say what the help says, and their readers accept them.
set -euo pipefail
program=$1
fail() { echo "completion_test.sh: $*" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

commands=$("$program" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
[ -n "$commands" ] || fail "the help lists no commands"
for shell in bash zsh fish; do "$program" completion "$shell" >"$work/$shell"; done
bash -n "$work/bash"
if command -v zsh >/dev/null; then zsh -n "$work/zsh"; fi
if command -v fish >/dev/null; then fish -n "$work/fish"; fi
. "$work/bash"
complete_words() {  # complete_words WORD...: what is offered for the last of them
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
  _dts
  printf '%s\n' "${COMPREPLY[@]-}"
}

complete_words dts '' >"$work/offered"
for command in $commands; do
  grep -qx "$command" "$work/offered" || fail "bash does not offer $command"
  grep -q "'$command:" "$work/zsh" || fail "zsh does not offer $command"
  grep -q -- "-a $command " "$work/fish" || fail "fish does not offer $command"
  "$program" man "$command" >"$work/page"
  # Every long option of the help, and nothing that is not in it.
  "$program" "$command" --help | sed -n 's/^  *\(-[A-Za-z]*, \)\{0,2\}\(--[a-z0-9-]*\).*/\2/p' | sed '/^--help$/d' | sort -u >"$work/help"
  complete_words dts "$command" -- | sed '/^--help$/d' | sort -u >"$work/offered_options"
  for option in $(cat "$work/help"); do
    grep -qx -e "$option" "$work/offered_options" || fail "bash does not offer $command $option"
    grep -q -e "$(sed 's/-/\\\\-/g' <<<"$option")" "$work/page" || fail "the page of $command lacks $option"
    grep -q -e "$option\[" "$work/zsh" || fail "zsh does not offer $command $option"
  done
done
# The page of a command and the program's: groff has nothing to complain of.
if command -v groff >/dev/null; then
  for page in '' $commands; do
    "$program" man $page | groff -man -Tutf8 -ww -Z 2>"$work/warnings" >/dev/null
    [ ! -s "$work/warnings" ] || fail "groff on the page of '$page': $(head -n 3 "$work/warnings")"
  done
fi
[ "$(complete_words dts run --kv uni)" = unified ] || fail "words of --kv are not offered"
# Through a file: a grep that has found its line leaves, and a pipe would call that a failure of whoever still writes.
complete_words dts run --method dts- >"$work/methods"
grep -qx dts-greedy "$work/methods" || fail "methods are not offered"
"$program" completion csh 2>"$work/error" && fail "csh was accepted"
grep -qx "dts: SHELL is 'csh': it must be one of bash, zsh, fish" "$work/error" || fail "csh: $(cat "$work/error")"
"$program" man nothing 2>"$work/error" && fail "a page of nothing"
grep -q "it must be one of run, " "$work/error" || fail "man: $(cat "$work/error")"
"$program" --version >"$work/version"
for line in '^dts [0-9.]*$' '^built with  [A-Z]' '^engine      llama.cpp [0-9.]* ' '^for   ' '^in use   ' '^CUDA   '; do
  grep -q "$line" "$work/version" || fail "--version lacks $line"
done
echo "completions and pages of $(wc -w <<<"$commands") commands agree with the help"
