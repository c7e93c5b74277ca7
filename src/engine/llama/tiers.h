// The sizes a KV cache grows through. They are halves of the full size, so that the last growth, which is the largest,
// carries over half of it at most.
#pragma once

namespace dts {

// The next smaller size, a multiple of `quantum`; the same where there is none.
constexpr int tier_below(int size, int quantum) {
  const int half = ((size + 1) / 2 + quantum - 1) / quantum * quantum;
  return half < size ? half : size;
}

// The smallest tier of `full` that holds `needed`, which must not be more than `full`.
constexpr int tier_for(int needed, int full, int quantum) {
  int size = full;
  for (int below = tier_below(size, quantum); below >= needed && below < size; below = tier_below(size, quantum)) {
    size = below;
  }
  return size;
}

}  // namespace dts
