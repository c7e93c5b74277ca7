#!/bin/sh
# Installs the Debian packages that are missing for: build, test (build and more), lint (build and more), package (build
# and more), ci (all but package, and clang with its runtimes for the fuzzers).
# Asks nothing, and does nothing when all are there. DTS_SKIP_SETUP=1 leaves the machine alone.
set -eu

[ "${DTS_SKIP_SETUP:-0}" = 1 ] && exit 0

packages=''
need_command() {  # need_command COMMAND PACKAGE...: a command may come from elsewhere than Debian's package
  command -v "$1" >/dev/null 2>&1 && return
  shift
  packages="$packages $*"
}
wishes=''
wish_command() {  # wish_command COMMAND PACKAGE: its tests are skipped where it cannot be had
  command -v "$1" >/dev/null 2>&1 || wishes="$wishes $2"
}
need_package() {
  for package in "$@"; do
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || packages="$packages $package"
  done
}

if ! command -v dpkg-query >/dev/null 2>&1; then
  echo "setup: not a Debian system: docs/installation.md lists what must be installed" >&2
  exit 0
fi

need_command c++ g++
need_command cmake cmake
need_command ninja ninja-build
need_command git git
need_command pkg-config pkg-config
need_command npm npm ca-certificates  # fetches llama.cpp, builds the page
need_package libboost-dev libcli11-dev libcurl4-openssl-dev libedit-dev libfmt-dev libgtest-dev libhwy-dev liblz4-dev libsnappy-dev \
  libspdlog-dev libsqlite3-dev libssl-dev libtomlplusplus-dev libutf8proc-dev libzstd-dev nlohmann-json3-dev pybind11-dev python3-dev \
  zlib1g-dev
need_package librsvg2-2 fonts-liberation  # figures as PDF: opened when they are asked for
case "${1:-build}" in
  build) ;;
  test)
    need_command clang-format clang-format
    need_command chromium chromium
    wish_command firefox-esr firefox-esr
    need_package mypy python3-numpy python3-pandas ;;
  lint) need_command clang-tidy clang-tidy ;;
  package)
    need_command dpkg-architecture dpkg-dev
    need_command patchelf patchelf ;;
  ci)
    need_command clang-format clang-format
    need_command clang-tidy clang-tidy
    need_command chromium chromium
    wish_command firefox-esr firefox-esr
    need_command clang++ clang
    need_package mypy python3-numpy python3-pandas
    # The runtimes came with clang until Debian 12.
    if apt-cache show libclang-rt-dev >/dev/null 2>&1; then need_package libclang-rt-dev; fi ;;
  *) echo "setup: '$1' should be build, test, lint, package or ci" >&2; exit 2 ;;
esac

[ -n "$packages$wishes" ] || exit 0
install="apt-get install -y --no-install-recommends$packages"

if [ "$(id -u)" = 0 ]; then
  as_root='env'
elif command -v sudo >/dev/null 2>&1 && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
  as_root='sudo env'
else
  [ -n "$packages" ] || exit 0  # only wishes
  echo "setup: packages are missing, and there is neither root nor sudo to install them. As root:" >&2
  echo "  apt-get update && $install" >&2
  exit 1
fi
echo "setup: installing Debian packages:$packages$wishes"
# Lock::Timeout: a machine that has just started may be updating itself.
apt_get="$as_root DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# An update may fail for a source that none of these packages comes from: the installation decides.
# Word splitting is meant: both hold several words.
# shellcheck disable=SC2086
if ! { $apt_get update; $apt_get install -y --no-install-recommends $packages; } >"$log" 2>&1 </dev/null; then
  cat "$log" >&2
  echo "setup: apt-get failed; its words are above. By hand: apt-get update && $install" >&2
  exit 1
fi
# shellcheck disable=SC2086
if [ -n "$wishes" ] && ! $apt_get install -y --no-install-recommends $wishes >"$log" 2>&1 </dev/null; then
  echo "setup: going on without$wishes, which could not be installed: $(tail -n 1 "$log")" >&2
fi
