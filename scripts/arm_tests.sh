#!/usr/bin/env bash
# The CPU kernels' tests for ARM, run by an emulator: with i8mm, with dot products, and with neither. No part of make test.
# Needs Debian's g++-aarch64-linux-gnu, qemu-user, googletest and libhwy-dev (whose headers are the same for every CPU).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
for tool in aarch64-linux-gnu-g++ qemu-aarch64; do
  command -v "$tool" > /dev/null || { echo "arm_tests: there is no $tool: its package is ${tool/aarch64-linux-gnu-g++/g++-aarch64-linux-gnu}" >&2; exit 1; }
done
out=build/arm
mkdir -p "$out/include"
ln -sfn /usr/include/hwy "$out/include/hwy"  # /usr/include itself is this machine's
gtest=/usr/src/googletest/googletest
flags=(-O2 -std=c++20 -DHWY_COMPILE_ONLY_STATIC -DHWY_STATIC_DEFINE -I"$out/include" -I"$gtest/include" -Isrc -Iinclude)
[ -f "$out/gtest.o" ] || aarch64-linux-gnu-g++ "${flags[@]}" -I"$gtest" -c "$gtest/src/gtest-all.cc" -o "$out/gtest.o"
# Highway's library is not there for ARM; of it they want this.
echo '#include "hwy/highway.h"
namespace hwy { int64_t SupportedTargets() { return HWY_STATIC_TARGET; } }' > "$out/highway.cpp"
sources=("$out/highway.cpp" tests/native/cpu_kernels_test.cpp src/base/check.cpp "$gtest/src/gtest_main.cc")
for part in aligned_buffer cpu_kernels panels product_kernels row_kernels; do sources+=("src/engine/native/cpu/$part.cpp"); done
for march in armv8.6-a+crypto armv8.2-a+dotprod+crypto armv8-a+crypto; do
  echo "==== $march"
  aarch64-linux-gnu-g++ "${flags[@]}" "-march=$march" "${sources[@]}" "$out/gtest.o" -o "$out/tests-$march" -pthread
  qemu-aarch64 -cpu max -L /usr/aarch64-linux-gnu "$out/tests-$march"
done
