#!/bin/sh
# check_deb.sh PACKAGE.deb [MIRROR]: installs the package in a bare Debian 12 with nothing else, and uses it there. Needs root
# and debootstrap. BARE_ROOT names a bare root to copy in place of making one.
set -eu
package=$1
mirror=${2:-http://deb.debian.org/debian}
root=$(mktemp -d)
# One file system: whatever may be mounted there is not ours to remove.
trap 'umount "$root/proc" 2>/dev/null || true; rm -rf --one-file-system "$root"' EXIT
if [ -n "${BARE_ROOT:-}" ]; then
  cp -a "$BARE_ROOT/." "$root"
else
  debootstrap --variant=minbase bookworm "$root" "$mirror" >"$root.log" 2>&1 || { tail -n 20 "$root.log" >&2; exit 1; }
  rm -f "$root.log"
fi
# A program asks there where it lies, and so finds its libraries beside it.
mount -t proc proc "$root/proc"
cp "$package" "$root/dts.deb"
inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "$@"; }

inside dpkg -i /dts.deb
for binary in /usr/bin/dts "$(inside sh -c 'ls /usr/lib/*/libdts_c.so')"; do
  if inside ldd "$binary" | grep 'not found'; then exit 1; fi
done
inside dts --version
inside dts run --example 1
inside dts run --example 1 --json | grep -q '"segments"'
# A CPU without newer features gets the kernels for any: the linker is told of no better level.
inside sh -c 'GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-AVX512F dts --version' | grep '^in use'
inside dts eval --dataset nano-bench-mini --limit 2 --seeds 0 --methods dts-greedy -o /tmp/results.db | tail -n 5
# Every command that the program has.
for command in $(inside dts completion fish | sed -n 's/.*__fish_use_subcommand -a \([a-z]*\) .*/\1/p'); do
  inside sh -c "gzip -dc /usr/share/man/man1/dts-$command.1.gz | grep -q '^.SH'" || { echo "check_deb.sh: no man page of $command" >&2; exit 1; }
done
inside sh -c 'grep -q -e --method /usr/share/zsh/vendor-completions/_dts && grep -q -e "-l method" /usr/share/fish/vendor_completions.d/dts.fish'
inside bash -c 'COMP_WORDS=(dts run --met) COMP_CWORD=2; . /usr/share/bash-completion/completions/dts; _dts; echo "${COMPREPLY[@]}"' |
  grep -qx -e --method
# The page is inside, no file of it is needed; and a question over the API. Nothing else is there to ask with than bash.
inside bash -c 'dts serve --port 0 >/tmp/serve.log 2>&1 & server=$!
  trap "kill $server" EXIT
  for _ in $(seq 600); do port=$(sed -n "s/.*127\.0\.0\.1:\([0-9]*\).*/\1/p" /tmp/serve.log | head -n 1); [ -n "$port" ] && break; sleep 0.1; done
  ask() { exec 3<>"/dev/tcp/127.0.0.1/$port"; printf "%s" "$1" >&3; head -c 2000000 <&3; exec 3>&-; }
  end=$(printf "\r\n")
  ask "GET / HTTP/1.0$end
Host: localhost$end
$end
" | grep -qi "<!doctype html" || { echo "check_deb.sh: no page" >&2; exit 1; }
  body="{\"model\": \"dts-nano\", \"messages\": [{\"role\": \"user\", \"content\": \"Find the value of (66 - 36) x 8 - 14 + 86.\"}], \"seed\": 1}"
  ask "POST /v1/chat/completions HTTP/1.0$end
Host: localhost$end
Content-Type: application/json$end
Content-Length: ${#body}$end
$end
$body" | tee /tmp/reply | grep -q "boxed{312}" || { echo "check_deb.sh: no answer:" >&2; cat /tmp/reply >&2; exit 1; }'
inside dpkg -r dts
if inside sh -c 'ls /usr/lib/dts /usr/share/dts 2>/dev/null'; then echo "check_deb.sh: something was left behind" >&2; exit 1; fi
echo "$package: installs, runs and goes on a bare Debian 12"
