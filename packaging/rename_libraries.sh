#!/bin/sh
# rename_libraries.sh FOLDER PROGRAM...: gives the libraries that bundle.sh has put into FOLDER names of their own, in
# themselves and in the programs. The dynamic linker knows a library by its name: without this, a process that loads
# another libssl.so.3 after ours, as Python's ssl may, would be given ours in its place. Needs patchelf.
set -eu
folder=$1
shift
names=$(cd "$folder" && ls ./*.so* | sed 's,^\./,,')

# One name at a time: given several, patchelf 0.14 mixes up which library a symbol's version belongs to.
rename_needed() {
  for needed in $(patchelf --print-needed "$1"); do
    if echo "$names" | grep -qxF "$needed"; then patchelf --replace-needed "$needed" "dts-$needed" "$1"; fi
  done
}

find "$folder" -type f -name '*.so*' | while read -r library; do
  name=$(basename "$library")
  rename_needed "$library"
  patchelf --set-soname "dts-$name" "$library"
  mv "$library" "$(dirname "$library")/dts-$name"
done
for program in "$@"; do rename_needed "$program"; done
