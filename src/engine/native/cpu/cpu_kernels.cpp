// Which of the compiled instruction sets is taken.
#include "engine/native/cpu/cpu_kernels.h"

#include <hwy/targets.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>

#include "dts/error.h"
#include "engine/native/cpu/compiled_kernels.h"

#if HWY_ARCH_X86
#include <cpuid.h>
#endif

namespace dts::native {
namespace {

struct InstructionSet {
  std::string_view key;             // in DTS_CPU_KERNELS
  const char* name;                 // for people
  std::int64_t target;              // Highway's
  bool (*has_further)() = nullptr;  // whether the CPU has what Highway does not ask it for
  bool further = false;             // products are compiled with it
  bool bf16_rows = false;
};

#if HWY_ARCH_X86
// Not by __builtin_cpu_supports, which not every compiler lets ask for it. AVX2 itself is Highway's to find out.
bool has_avx_vnni() {
  constexpr unsigned kFeatures = 7;
  constexpr unsigned kMore = 1;
  constexpr unsigned kAvxVnni = 1U << 4U;  // of eax
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid_count(kFeatures, kMore, &eax, &ebx, &ecx, &edx) != 0 && (eax & kAvxVnni) != 0;
}
bool has_avx512_bf16() { return __builtin_cpu_supports("avx512bf16") != 0; }
#endif

// The better ones later.
constexpr InstructionSet kSets[] = {
#if HWY_ARCH_X86
    {.key = "avx2", .name = "AVX2", .target = HWY_AVX2},
    {.key = "avx2-vnni", .name = "AVX2 with VNNI", .target = HWY_AVX2, .has_further = has_avx_vnni, .further = true},
    {.key = "avx512", .name = "AVX-512", .target = HWY_AVX3},
    {.key = "avx512-vnni", .name = "AVX-512 with VNNI", .target = HWY_AVX3_DL},
    {.key = "avx512-bf16",
     .name = "AVX-512 with VNNI and BF16",
     .target = HWY_AVX3_DL,
     .has_further = has_avx512_bf16,
     .bf16_rows = true},
#elif defined(__ARM_FEATURE_MATMUL_INT8)  // on ARM what the compiler was told of
    {.key = "neon", .name = "NEON with i8mm", .target = HWY_NEON},
#elif defined(__ARM_FEATURE_DOTPROD)
    {.key = "neon", .name = "NEON with dot products", .target = HWY_NEON},
#else
    {.key = "neon", .name = "NEON", .target = HWY_NEON},
#endif
};

bool has(const InstructionSet& set) {
  return (hwy::SupportedTargets() & set.target) != 0 && (set.has_further == nullptr || set.has_further());
}

// So that Highway's dispatch takes that set: it may have been compiled for better ones, of which this table knows
// nothing.
const InstructionSet* taken(const InstructionSet& set) {
#if HWY_ARCH_X86
  hwy::DisableTargets(set.target - 1);  // a better one is a lower bit
#endif
  return &set;
}

// Null where the CPU has none.
const InstructionSet* best() {
  const auto found = std::find_if(std::rbegin(kSets), std::rend(kSets), has);
  return found == std::rend(kSets) ? nullptr : taken(*found);
}

const InstructionSet* named(std::string_view key) {
  std::string possible;
  for (const InstructionSet& set : kSets) {
    if (!has(set)) continue;
    if (set.key == key) return taken(set);
    possible += (possible.empty() ? "" : ", ") + std::string(set.key);
  }
  throw Error("DTS_CPU_KERNELS=" + std::string(key) + ": this CPU has " +
              (possible.empty() ? std::string("none of them") : possible));
}

CpuKernels kernels_of(const InstructionSet& set) {
  CpuKernels kernels = row_kernels();
  kernels.name = set.name;
  kernels.bf16_rows = set.bf16_rows;
  kernels.multiply = product_kernel(set.further);
  return kernels;
}

}  // namespace

const CpuKernels* cpu_kernels() {
  static const InstructionSet* set = [] {
    const char* key = std::getenv("DTS_CPU_KERNELS");
    return key == nullptr || *key == '\0' ? best() : named(key);
  }();
  if (set == nullptr) return nullptr;
  static const CpuKernels kernels = kernels_of(*set);
  return &kernels;
}

}  // namespace dts::native
