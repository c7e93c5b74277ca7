#!/bin/sh
# check_deb.sh PACKAGE.deb [MIRROR]: installs the package in a bare Debian 12 with nothing else, and uses it there. Needs root
# and debootstrap. BARE_ROOT names a bare root to copy in place of making one.
set -eu
package=$1
mirror=${2:-http://deb.debian.org/debian}
root=$(mktemp -d)
# One file system: whatever may be mounted there is not ours to remove.
trap 'rm -rf --one-file-system "$root"' EXIT
if [ -n "${BARE_ROOT:-}" ]; then
  cp -a "$BARE_ROOT/." "$root"
else
  debootstrap --variant=minbase bookworm "$root" "$mirror" >"$root.log" 2>&1 || { tail -n 20 "$root.log" >&2; exit 1; }
  rm -f "$root.log"
fi
cp "$package" "$root/dts.deb"
inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "$@"; }

inside dpkg -i /dts.deb
if inside ldd /usr/bin/dts | grep 'not found'; then exit 1; fi
inside dts --version
inside dts run --example 1
inside dts run --example 1 --json | grep -q '"segments"'
# A CPU without newer features gets the kernels for any: the linker is told of no better level.
inside sh -c 'GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-AVX512F dts --version' | grep '^in use'
inside dts eval --dataset nano-bench-mini --limit 2 --seeds 0 --methods dts-greedy -o /tmp/results.db | tail -n 5
inside sh -c 'test -s /usr/share/man/man1/dts-run.1.gz && gzip -t /usr/share/man/man1/*.gz'
inside bash -c 'COMP_WORDS=(dts run --met) COMP_CWORD=2; . /usr/share/bash-completion/completions/dts; _dts; echo "${COMPREPLY[@]}"' |
  grep -qx -e --method
# The page is inside: no file of it is needed.
inside bash -c 'dts serve --port 0 >/tmp/serve.log 2>&1 & server=$!
  for _ in $(seq 600); do port=$(sed -n "s/.*127\.0\.0\.1:\([0-9]*\).*/\1/p" /tmp/serve.log | head -n 1); [ -n "$port" ] && break; sleep 0.1; done
  exec 3<>"/dev/tcp/127.0.0.1/$port"; printf "GET / HTTP/1.0\r\nHost: localhost\r\n\r\n" >&3; head -c 200000 <&3 | grep -ci "<html\|<!doctype html"; kill $server' | grep -q '[1-9]'
inside dpkg -r dts
if inside sh -c 'ls /usr/lib/dts /usr/share/dts 2>/dev/null'; then echo "check_deb.sh: something was left behind" >&2; exit 1; fi
echo "$package: installs, runs and goes on a bare Debian 12"
