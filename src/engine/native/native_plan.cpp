#include "engine/native/native_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "dts/error.h"

namespace dts::native {
namespace {

constexpr double kUsable = 0.92;  // of the memory there is: allocators and libraries want some
constexpr int kMostBranches = 4096;
constexpr int kMostContext = 1 << 20;

// For every branch at its full length, with nothing shared. More are never held.
std::int64_t pages_for(int branches, int context) {
  return std::int64_t{branches} * ((context + kPageTokens - 1) / kPageTokens + 1);
}

}  // namespace

EngineShape plan_shape(const Device& device, const Geometry& geometry, const EngineRequest& request, NativeKvType kv,
                       std::int64_t available) {
  const auto in_range = [](const char* option, int value, int least, int most) {
    if (value >= least && value <= most) return;
    throw out_of_range(option, fmt::format("{}", value), fmt::format("{} to {}", least, most));
  };
  in_range("max_branches", request.max_branches, 1, kMostBranches);
  in_range("context_length", request.context_length, 0, kMostContext);
  EngineShape shape;
  shape.kv = kv;
  const std::int64_t page_bytes = device.page_bytes(kv);
  shape.max_branches = request.max_branches;
  shape.context = request.context_length > 0 ? request.context_length : std::clamp(geometry.context, 64, kMostContext);
  const auto usable = static_cast<std::int64_t>(kUsable * static_cast<double>(available));
  const std::int64_t scratch = device.scratch_bytes(limits_of(shape));
  const std::int64_t fitting = std::max<std::int64_t>(0, usable - scratch) / page_bytes;
  // One branch of the full length, and a page for each of the others: they share.
  const std::int64_t least = pages_for(1, shape.context) + shape.max_branches;
  if (fitting < least) {
    throw Error(fmt::format(
        "{} branches of up to {} tokens need {:.1f} GB on {}, and {:.1f} GB are free: lower {} or {}",
        shape.max_branches, shape.context, static_cast<double>(least * page_bytes + scratch) / 1e9, device.name(),
        static_cast<double>(available) / 1e9, option_name("max_branches"), option_name("context_length")));
  }
  constexpr std::int64_t kMostPages = std::int64_t{1} << 24U;
  shape.pages = static_cast<int>(std::min({fitting, pages_for(shape.max_branches, shape.context), kMostPages}));
  return shape;
}

}  // namespace dts::native
