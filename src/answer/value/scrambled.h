// 64 bits for 64 bits, one for one: what is near before is far afterwards.
#pragma once

#include <cstdint>

namespace dts {

inline std::uint64_t scrambled(std::uint64_t bits) {
  bits = (bits + 1) * 0x9e3779b97f4a7c15U;
  bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebU;
  return bits ^ (bits >> 31U);
}

}  // namespace dts
