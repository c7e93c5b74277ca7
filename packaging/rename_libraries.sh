#!/bin/sh
# rename_libraries.sh FOLDER PROGRAM...: gives the libraries that bundle.sh has put into FOLDER names of their own, in
# themselves and in the programs. The dynamic linker knows a library by its name: without this, a process that loads
# another libssl.so.3 after ours, as Python's ssl may, would be given ours in its place. Needs patchelf.
set -eu
folder=$1
shift
replace=''
for library in "$folder"/*.so*; do
  name=$(basename "$library")
  replace="$replace --replace-needed $name dts-$name"
done
find "$folder" -type f -name '*.so*' | while read -r library; do
  name=$(basename "$library")
  # shellcheck disable=SC2086
  patchelf --set-soname "dts-$name" $replace "$library"
  mv "$library" "$(dirname "$library")/dts-$name"
done
# shellcheck disable=SC2086
patchelf $replace "$@"
