// Panels that are packed while they are used, against those packed beforehand; and the file they come from.
#include "engine/native/cpu/lazy_panels.h"

#include <ggml.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>
#include <vector>

#include "engine/native/mapped_file.h"

namespace dts::native {
namespace {

constexpr int kLazyInputs = 512;
constexpr int kLazyOutputs = 16 * 40 + 7;  // the last panel is not full

std::vector<std::uint8_t> random_file() {
  std::mt19937 random(5);
  std::normal_distribution<float> normal(0.0F, 0.05F);
  std::vector<float> weights(std::size_t{kLazyInputs} * kLazyOutputs);
  for (float& weight : weights) weight = normal(random);
  std::vector<std::uint8_t> file(row_bytes(PanelType::kQ8_0, kLazyInputs) * kLazyOutputs);
  ggml_quantize_chunk(GGML_TYPE_Q8_0, weights.data(), file.data(), 0, kLazyOutputs, kLazyInputs, nullptr);
  return file;
}

StoredRows rows_of(const std::vector<std::uint8_t>& file) {
  return {.type = GGML_TYPE_Q8_0, .rows = kLazyOutputs, .columns = kLazyInputs, .data = file.data()};
}

PanelMatrix packed_beforehand(const std::vector<std::uint8_t>& file) {
  PanelMatrix matrix = make_panels(PanelType::kQ8_0, kLazyOutputs, kLazyInputs);
  const std::size_t rows = kPanelOutputs * row_bytes(matrix.type, kLazyInputs);
  for (int p = 0; p < matrix.panels(); ++p) pack_panel(matrix, p, file.data() + static_cast<std::size_t>(p) * rows);
  return matrix;
}

PanelMatrix scratch_for(const PanelMatrix& matrix) { return {.bytes = AlignedBuffer(matrix.stride())}; }

// The panel as somebody who multiplies meets it.
bool same_panel(const LazyPanels& lazy, int panel, PanelMatrix& scratch, const PanelMatrix& expected) {
  const bool packed = lazy.packed(panel);
  if (!packed) lazy.pack_into(scratch, panel);
  return std::memcmp(packed ? lazy.matrix().panel(panel) : scratch.panel(0), expected.panel(panel),
                     expected.stride()) == 0;
}

TEST(LazyPanels, ArePackedOnceAndSayTheSameBefore) {
  const std::vector<std::uint8_t> file = random_file();
  const PanelMatrix expected = packed_beforehand(file);
  const LazyPanels lazy(PanelType::kQ8_0, rows_of(file));
  PanelMatrix scratch = scratch_for(expected);
  const auto stride = static_cast<std::int64_t>(expected.stride());
  EXPECT_EQ(lazy.unpacked_bytes(), expected.panels() * stride);
  lazy.pack(3, 5);
  lazy.pack(7, 2);  // one of them again
  EXPECT_EQ(lazy.unpacked_bytes(), (expected.panels() - 6) * stride);
  EXPECT_FALSE(lazy.packed());
  for (int p = 0; p < expected.panels(); ++p) {
    EXPECT_EQ(lazy.packed(p), p >= 3 && p < 9);
    EXPECT_TRUE(same_panel(lazy, p, scratch, expected)) << p;
  }
  EXPECT_EQ(scratch.outputs, 7) << "of the last panel";
  lazy.pack(0, expected.panels());
  EXPECT_TRUE(lazy.packed());
  EXPECT_EQ(lazy.unpacked_bytes(), 0);
  EXPECT_EQ(std::memcmp(lazy.matrix().bytes.data(), expected.bytes.data(), expected.bytes.size()), 0);
}

TEST(LazyPanels, AnyThreadPacksAnyPanel) {
  const std::vector<std::uint8_t> file = random_file();
  const PanelMatrix expected = packed_beforehand(file);
  for (unsigned round = 0; round < 20; ++round) {
    const LazyPanels lazy(PanelType::kQ8_0, rows_of(file));
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        std::mt19937 random(round * 4 + t);
        PanelMatrix scratch = scratch_for(expected);
        while (!lazy.packed()) {
          const int first = static_cast<int>(random() % static_cast<unsigned>(expected.panels()));
          lazy.pack(first, std::min(3, expected.panels() - first));
          const int looked_at = static_cast<int>(random() % static_cast<unsigned>(expected.panels()));
          if (!same_panel(lazy, looked_at, scratch, expected)) ++wrong;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(std::memcmp(lazy.matrix().bytes.data(), expected.bytes.data(), expected.bytes.size()), 0);
  }
}

class MappedFileTest : public ::testing::Test {
 protected:
  static constexpr std::size_t kBytes = std::size_t{1} << 20U;
  void SetUp() override { std::ofstream(path_, std::ios::binary) << std::string(kBytes, 'x'); }
  void TearDown() override { std::filesystem::remove(path_); }
  std::string path_ = ::testing::TempDir() + "mapped_file_" + std::to_string(getpid());
};

TEST_F(MappedFileTest, CanBeReadAfterItWasLetGo) {
  const MappedFile file(path_);
  EXPECT_TRUE(MappedFile::fetch(file.data() + 1, kBytes - 2));
  MappedFile::let_go(file.data() + 1, kBytes - 2);
  MappedFile::let_go(file.data() + 1, 2);  // no whole page
  EXPECT_EQ(file.data()[kBytes / 2], 'x');
}

#ifdef MADV_POPULATE_READ
TEST_F(MappedFileTest, SaysWhenItHasBecomeShorter) {
  const MappedFile file(path_);
  if (madvise(const_cast<std::uint8_t*>(file.data()), 1, MADV_POPULATE_READ) != 0) GTEST_SKIP() << "an old kernel";
  std::filesystem::resize_file(path_, 100);
  EXPECT_FALSE(MappedFile::fetch(file.data(), kBytes));
}
#endif

}  // namespace
}  // namespace dts::native
