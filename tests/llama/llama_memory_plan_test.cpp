// The memory plan: what it promises, what it refuses, and how it reads the machine.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "base/machine.h"
#include "dts/error.h"
#include "dts/llama.h"
#include "engine/llama/memory_plan.h"
#include "engine/llama/tiers.h"
#include "support/llama_models.h"

namespace dts {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1024} * 1024;

const LlamaModel& model() {
  static const LlamaModel model({.path = write_model("plan", tiny_options()), .gpu_layers = 0});
  return model;
}

std::string refusal(const LlamaEngineOptions& options, std::int64_t available) {
  try {
    (void)plan_memory_within(model(), options, available);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

// tiny: 2 layers x (2 KV heads x 32) x K and V x 2 bytes.
constexpr std::int64_t kBytesPerCell = std::int64_t{2} * 64 * 2 * 2;

TEST(MemoryPlan, CountsEveryCell) {
  const MemoryPlan plan = plan_memory_within(model(), {.max_branches = 48, .context_length = 4000}, 1024 * kMiB);
  EXPECT_EQ(plan.bytes_per_cell, kBytesPerCell);
  EXPECT_EQ(plan.streams, 49);
  EXPECT_EQ(plan.cells, 4096);
  EXPECT_EQ(plan.context_length, 4000);
  EXPECT_EQ(plan.kv_bytes, kBytesPerCell * 49 * 4096);
  EXPECT_EQ(plan.growth_bytes, kBytesPerCell * 25 * 4096) << "from 25 to 49 streams; from 2048 to 4096 cells is less";
  EXPECT_EQ(plan.first_streams, 13);
  EXPECT_EQ(plan.first_cells, 512);
  EXPECT_LT(plan.needed_bytes(), plan.available_bytes);
}

TEST(MemoryPlan, TiersAreHalvesOfTheFullSize) {
  EXPECT_EQ(tier_for(1, 49, 1), 1);
  EXPECT_EQ(tier_for(8, 49, 1), 13);
  EXPECT_EQ(tier_for(14, 49, 1), 25);
  EXPECT_EQ(tier_for(26, 49, 1), 49);
  EXPECT_EQ(tier_for(49, 49, 1), 49);
  EXPECT_EQ(tier_for(1, 256, 256), 256);
  EXPECT_EQ(tier_for(513, 3072, 256), 768);
  EXPECT_EQ(tier_for(769, 3072, 256), 1536);
  for (int full = 256; full < 40'000; full += 256) {
    for (int needed = 1; needed <= full; needed += 97) {
      const int tier = tier_for(needed, full, 256);
      ASSERT_GE(tier, needed);
      ASSERT_LE(tier, full);
      ASSERT_EQ(tier % 256, 0);
      ASSERT_TRUE(tier_below(tier, 256) < needed || tier_below(tier, 256) == tier) << "a smaller tier would do";
    }
  }
}

TEST(MemoryPlan, Q8CacheIsSmallerAndTurnsFlashAttentionOn) {
  const MemoryPlan plan = plan_memory_within(model(), {.context_length = 1000, .kv_type = KvType::kQ8_0}, 1024 * kMiB);
  EXPECT_EQ(plan.bytes_per_cell, kBytesPerCell / 2 * 34 / 32);
  EXPECT_TRUE(plan.flash_attention);
  EXPECT_NE(plan.to_string().find("q8_0 needs it"), std::string::npos) << plan.to_string();
}

TEST(MemoryPlan, RefusesWithTheBytesAndTheFlags) {
  const std::string text = refusal({.max_branches = 48, .context_length = 30'000}, 512 * kMiB);
  for (const char* part : {"48 branches of 30000 tokens", "GiB", "512.0 MiB", "context_length", "max_tokens",
                           "max_branches", "kv_type q8_0", "kv_layout unified"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is missing: " << text;
  }
  EXPECT_EQ(text.find('\n'), std::string::npos);
  // What the refusal says would fit does fit, and one quantum more does not.
  const auto at = text.find("up to ");
  ASSERT_NE(at, std::string::npos) << text;
  const int longest = std::stoi(text.substr(at + 6));
  EXPECT_EQ(refusal({.max_branches = 48, .context_length = longest}, 512 * kMiB), "accepted");
  EXPECT_NE(refusal({.max_branches = 48, .context_length = longest + 256}, 512 * kMiB), "accepted");
}

TEST(MemoryPlan, WithoutAWishTakesWhatFits) {
  const MemoryPlan roomy = plan_memory_within(model(), {.max_branches = 4}, 16384 * kMiB);
  EXPECT_EQ(roomy.context_length, model().info().training_context);
  const MemoryPlan tight = plan_memory_within(model(), {.max_branches = 48}, 256 * kMiB);
  EXPECT_LT(tight.context_length, model().info().training_context);
  EXPECT_GT(tight.context_length, 2000);
  EXPECT_LE(tight.needed_bytes(), tight.available_bytes);
  EXPECT_NE(refusal({.max_branches = 48}, kMiB), "accepted");
}

TEST(MemoryPlan, APoolNeedsNotHoldAllBranchesAtFullLength) {
  LlamaEngineOptions options{.max_branches = 48, .context_length = 30'000, .kv_layout = KvLayout::kUnified};
  const MemoryPlan plan = plan_memory_within(model(), options, 512 * kMiB);
  EXPECT_GE(plan.cells, 30'000);
  EXPECT_LT(plan.cells, 48 * 30'000);
  EXPECT_LE(plan.needed_bytes(), plan.available_bytes);
  EXPECT_EQ(plan_memory_within(model(), options, 65536 * kMiB).cells / 256, (48 * 30'000 + 256) / 256);
}

TEST(MemoryPlan, OptionsOutsideTheirRangeAreUsageErrors) {
  const auto usage = [](const LlamaEngineOptions& options, const char* flag) {
    try {
      (void)plan_memory_within(model(), options, 1024 * kMiB);
      ADD_FAILURE() << flag << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), Error::Kind::kUsage);
      EXPECT_NE(std::string(error.what()).find(flag), std::string::npos) << error.what();
    }
  };
  usage({.max_branches = 0}, "max_branches is 0");
  usage({.max_branches = 1000}, "max_branches is 1000");
  usage({.context_length = -1}, "context_length is -1");
  usage({.threads = -2}, "threads is -2");
  usage({.kv_type = KvType::kQ8_0, .flash_attention = Toggle::kOff}, "kv_type q8_0");
}

TEST(MemoryPlan, Q8CacheNeedsHeadsOfWholeBlocks) {
  RandomModelOptions narrow = tiny_options();
  narrow.head_size = 16;
  const LlamaModel small({.path = write_model("narrow", narrow)});
  EXPECT_THROW((void)plan_memory_within(small, {.kv_type = KvType::kQ8_0}, 1024 * kMiB), Error);
}

// A machine made of files.
class Machine : public ::testing::Test {
 protected:
  void put(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  std::string root_ =
      scratch_file("machine-" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
};

TEST_F(Machine, AvailableMemoryIsTheKernels) {
  put("/proc/meminfo", "MemTotal:       8000 kB\nMemFree:        1000 kB\nMemAvailable:   5000 kB\n");
  EXPECT_EQ(available_memory_under(root_), 5000 * 1024);
}

TEST_F(Machine, ControlGroupsOfVersion2Cut) {
  put("/proc/meminfo", "MemAvailable:   5000 kB\n");
  put("/proc/self/cgroup", "0::/outer/inner\n");
  put("/sys/fs/cgroup/outer/memory.max", "2000000\n");
  put("/sys/fs/cgroup/outer/memory.current", "1500000\n");
  put("/sys/fs/cgroup/outer/memory.stat", "anon 1000000\ninactive_file 100000\n");
  put("/sys/fs/cgroup/outer/inner/memory.max", "max\n");
  put("/sys/fs/cgroup/outer/inner/memory.current", "1500000\n");
  EXPECT_EQ(available_memory_under(root_), 600'000);
  put("/sys/fs/cgroup/outer/cpu.max", "150000 100000\n");
  put("/sys/fs/cgroup/outer/inner/cpu.max", "max 100000\n");
  EXPECT_EQ(cpu_quota_under(root_), 1.5);
}

TEST_F(Machine, ControlGroupsOfVersion1Cut) {
  put("/proc/meminfo", "MemAvailable:   5000 kB\n");
  put("/proc/self/cgroup", "5:cpu,cpuacct:/job\n4:memory:/job\n");
  put("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "1000000\n");
  put("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "400000\n");
  put("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "200000\n");
  put("/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(available_memory_under(root_), 600'000);
  EXPECT_EQ(cpu_quota_under(root_), 2.0);
}

TEST_F(Machine, WithoutFilesNothingIsCut) {
  EXPECT_EQ(available_memory_under(root_), std::numeric_limits<std::int64_t>::max());
  EXPECT_TRUE(std::isinf(cpu_quota_under(root_)));
  EXPECT_GE(usable_cores(), 1);
  EXPECT_GT(available_memory(), 0);
}

}  // namespace
}  // namespace dts
