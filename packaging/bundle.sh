#!/bin/sh
# bundle.sh FOLDER PROGRAM...: copies the shared libraries that the programs need into FOLDER, but for those that every
# Debian system has. Kernels for newer CPUs (glibc-hwcaps) come along with the library they replace.
set -eu
folder=$1
shift
mkdir -p "$folder"
# Which libraries, as lines "path": whatever ldd has found, once each.
ldd "$@" | sed -n 's/^[^=]*=> \(\/[^ ]*\) .*/\1/p' | sort -u | while read -r library; do
  library=$(echo "$library" | sed 's,/glibc-hwcaps/[^/]*/,/,')  # the one for any CPU: ldd shows the one for this
  name=$(basename "$library")
  case $name in
    libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | librt.so.* | libresolv.so.* | libgcc_s.so.* | libstdc++.so.*) continue ;;
  esac
  cp -L "$library" "$folder/$name"
  for level in "$(dirname "$library")"/glibc-hwcaps/*/; do
    # The file there has the whole version in its name, the programs ask for the short one.
    for newer in "$level${name%%.so*}.so"*; do
      [ -e "$newer" ] || continue
      mkdir -p "$folder/glibc-hwcaps/$(basename "$level")"
      cp -L "$newer" "$folder/glibc-hwcaps/$(basename "$level")/$name"
    done
  done
done
find "$folder" -type f -name '*.so*' -exec strip --strip-unneeded {} +
