#!/bin/sh
# deb.sh BUILD OUT: a Debian package of the portable build in BUILD, written to the folder OUT. It depends on nothing but the
# C and C++ libraries that every Debian 12 has; what else it needs lies in /usr/lib/dts.
set -eu
build=$1
out=$2
source=$(cd "$(dirname "$0")/.." && pwd)
version=$(sed -n 's/^project(dts VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")
architecture=$(dpkg --print-architecture)
triplet=$(dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || gcc -print-multiarch)
program=$build/bin/dts

# A package for others must not have been compiled for this CPU alone.
grep -q '^DTS_PORTABLE:BOOL=ON' "$build/CMakeCache.txt" || {
  echo "deb.sh: $build is not a portable build: cmake --preset portable" >&2
  exit 1
}

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"
install -D -m 755 -s "$program" "$root/usr/bin/dts"
for file in dts-nano.gguf nano-bench.jsonl nano-bench-mini.jsonl; do
  install -D -m 644 "$source/models/nano/$file" "$root/usr/share/dts/$file"
done
"$source/packaging/bundle.sh" "$root/usr/lib/dts" "$program" "$build/lib/libdts_c.so"
chmod -R u=rwX,go=rX "$root/usr/lib/dts"

# The C interface.
soname=$(basename "$(readlink -f "$build/lib/libdts_c.so")")
install -D -m 644 -s "$build/lib/$soname" "$root/usr/lib/$triplet/$soname"
ln -s "$soname" "$root/usr/lib/$triplet/libdts_c.so.${version%%.*}"
ln -s "$soname" "$root/usr/lib/$triplet/libdts_c.so"
install -D -m 644 "$source/include/dts/dts_c.h" "$root/usr/include/dts/dts_c.h"

# Manual pages and completions, by the program itself.
man=$root/usr/share/man/man1
mkdir -p "$man" "$root/usr/share/bash-completion/completions" "$root/usr/share/zsh/vendor-completions" \
  "$root/usr/share/fish/vendor_completions.d"
"$program" man | gzip -9n >"$man/dts.1.gz"
for command in $("$program" completion fish | sed -n 's/.*__fish_use_subcommand -a \([a-z]*\) .*/\1/p'); do
  "$program" man "$command" | gzip -9n >"$man/dts-$command.1.gz"
done
"$program" completion bash >"$root/usr/share/bash-completion/completions/dts"
"$program" completion zsh >"$root/usr/share/zsh/vendor-completions/_dts"
"$program" completion fish >"$root/usr/share/fish/vendor_completions.d/dts.fish"

docs=$root/usr/share/doc/dts
install -D -m 644 "$source/README.md" "$docs/README.md"
install -D -m 644 "$source/LICENSE" "$docs/copyright"
gzip -9nc "$source/CHANGELOG.md" >"$docs/changelog.gz"
{
  echo
  echo "Libraries in /usr/lib/dts: those of llama.cpp (MIT), and from Debian's packages, each under its own licence, which the"
  echo "package's /usr/share/doc/PACKAGE/copyright has:"
  # One question for all of them: each takes as long as all packages' lists are.
  # shellcheck disable=SC2046
  dpkg -S $(cd "$root/usr/lib/dts" && ls ./*.so* | sed 's,^\.,*,') 2>/dev/null | sed 's/^\([^:]*\):.*\/\(lib[^/]*\)$/  \2 (\1)/' | sort -u
} >>"$docs/copyright"

mkdir "$root/DEBIAN"
# Recommended, not needed: certificates for models from the hub over https.
cat >"$root/DEBIAN/control" <<CONTROL
Package: dts
Version: $version
Architecture: $architecture
Maintainer: dts developers <dts@localhost>
Section: science
Priority: optional
Depends: libc6 (>= 2.36), libgcc-s1, libstdc++6 (>= 12)
Recommends: ca-certificates
Installed-Size: $(du -sk --exclude=DEBIAN "$root" | cut -f1)
Description: Decoding Tree Sketching
 A reasoning model that thinks in parallel, without training: decoding branches where the model hesitates, and the
 trajectories vote. With a tiny model to try it on, a server with OpenAI's API and its own page, and an evaluation.
CONTROL
(cd "$root" && find usr -type f -exec md5sum {} +) >"$root/DEBIAN/md5sums"
mkdir -p "$out"
dpkg-deb --build --root-owner-group -Zxz -z1 "$root" "$out/dts_${version}_$architecture.deb"
