// Each kernel by itself against plain loops in double precision, on fresh random numbers, with poisoned results. No
// other library's kernels run here, so that compute-sanitizer gets to the end of it.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "dts/native.h"
#include "engine/native/attention_work.h"
#include "engine/native/cuda/device_buffer.h"
#include "engine/native/cuda/kernels.h"
#include "engine/native/kv_rounding.h"

namespace dts::native::cuda {
namespace {

std::size_t size(std::int64_t value) { return static_cast<std::size_t>(value); }

template <typename T>
DeviceBuffer<T> sent(const std::vector<T>& values) {
  DeviceBuffer<T> out(values.size());
  check(cudaMemcpy(out.get(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "sending");
  return out;
}

template <typename T>
DeviceBuffer<T> poisoned(std::size_t n) {
  DeviceBuffer<T> out(n);
  check(cudaMemset(out.get(), 0xFF, n * sizeof(T)), "poisoning");
  return out;
}

template <typename T>
std::vector<T> received(const DeviceBuffer<T>& buffer) {
  check(cudaDeviceSynchronize(), "computing");
  std::vector<T> out(buffer.size());
  check(cudaMemcpy(out.data(), buffer.get(), out.size() * sizeof(T), cudaMemcpyDeviceToHost), "receiving");
  return out;
}

class CudaKernels : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!why_no_native_gpu().empty()) GTEST_SKIP() << why_no_native_gpu();
  }

  int roll(int least, int most) { return least + static_cast<int>(random_() % size(most - least + 1)); }
  std::vector<float> floats(std::size_t n) {
    std::normal_distribution<float> normal;
    std::vector<float> out(n);
    for (float& value : out) value = normal(random_);
    return out;
  }
  std::vector<f16> halves(std::size_t n) {
    std::vector<f16> out;
    for (const float value : floats(n)) out.push_back(__float2half(value));
    return out;
  }
  std::vector<unsigned char> bytes(std::size_t n) {
    std::vector<unsigned char> out(n);
    for (unsigned char& value : out) value = static_cast<unsigned char>(random_());
    return out;
  }

  std::mt19937_64 random_{17};
};

// One token's K, or V, as a page of one KV head has it.
double element_of(const unsigned char* page, int head_size, bool eight_bits, int token, int element) {
  if (!eight_bits) {
    f16 value;
    std::memcpy(&value, page + (token * head_size + element) * 2, 2);
    return static_cast<double>(__half2float(value));
  }
  f16 scale;
  const int blocks = head_size / kScaleBlock;
  std::memcpy(&scale, page + kPage * head_size + (token * blocks + element / kScaleBlock) * 2, 2);
  const auto whole = static_cast<signed char>(page[token * head_size + element]);
  return static_cast<double>(whole) * static_cast<double>(__half2float(scale));
}

struct Heads {
  int heads, kv_heads, size;
};

// Pages of random K and V, as kernels have them.
std::vector<unsigned char> random_pages(std::mt19937_64& random, const Heads& h, bool eight_bits, int pages) {
  std::normal_distribution<float> normal;
  const int each = head_page_bytes(h.size, eight_bits);
  std::vector<unsigned char> out(size(pages) * size(h.kv_heads) * size(each));
  for (unsigned char* page = out.data(); page < out.data() + out.size(); page += each) {
    const int halves_from = eight_bits ? kPage * h.size : 0;
    for (int i = 0; i < halves_from; ++i) page[i] = static_cast<unsigned char>(static_cast<int>(random() % 255) - 127);
    for (int i = halves_from; i < each; i += 2) {
      const float value = eight_bits ? 0.005F + 0.01F * std::fabs(normal(random)) : normal(random);
      const f16 half = __float2half(value);
      std::memcpy(page + i, &half, 2);
    }
  }
  return out;
}

class CudaAttention : public CudaKernels {
 protected:
  // A few branches with forks, rows that decode and a stretch of a prompt, as an engine would step them.
  void expect_attention(const Heads& h, bool eight_bits) {
    constexpr int kPages = 120;
    PagePool pool(kPages);
    BranchTable table(pool, 12);
    std::vector<KvSlot> slots;
    std::vector<PageCopy> copies;
    std::vector<BranchId> branches = {table.open()};
    table.append(branches[0], roll(1, 600), slots, copies);
    while (branches.size() < 9) {
      const BranchId parent = branches[size(roll(0, static_cast<int>(branches.size()) - 1))];
      branches.push_back(table.fork(parent));
      table.append(branches.back(), roll(1, 150), slots, copies);
    }
    std::vector<AttentionPlanner::FedRows> fed;
    std::vector<std::int32_t> positions;
    std::vector<BranchId> branch_of;
    for (const BranchId branch : branches) {
      const bool prompt = branch == branches[3];
      const int count = prompt ? std::min(37, table.length(branch)) : 1;
      fed.push_back({.branch = branch, .count = count, .prompt = prompt});
      for (int i = 0; i < count; ++i) {
        positions.push_back(table.length(branch) - count + i);
        branch_of.push_back(branch);
      }
    }
    AttentionWork work;
    AttentionPlanner(attention_tile(h.heads, h.kv_heads)).plan(fed, table, work);

    const std::size_t rows = positions.size();
    const std::vector<f16> queries = halves(rows * size(h.heads) * size(h.size));
    const std::vector<unsigned char> keys = random_pages(random_, h, eight_bits, kPages);
    const std::vector<unsigned char> values = random_pages(random_, h, eight_bits, kPages);
    WorkHeader header;
    header.n_items = static_cast<std::int32_t>(work.items.size());
    header.items = sizeof(WorkHeader) / 4;
    header.rows = header.items + header.n_items * static_cast<std::int32_t>(sizeof(Item) / 4);
    header.pages = header.rows + static_cast<std::int32_t>(work.rows.size());
    std::vector<std::int32_t> numbers(size(header.pages) + work.pages.size());
    std::memcpy(numbers.data(), &header, sizeof header);
    std::memcpy(&numbers[size(header.items)], work.items.data(), work.items.size() * sizeof(Item));
    std::copy(work.rows.begin(), work.rows.end(), numbers.begin() + header.rows);
    std::copy(work.pages.begin(), work.pages.end(), numbers.begin() + header.pages);

    const auto d_queries = sent(queries);
    const auto d_keys = sent(keys);
    const auto d_values = sent(values);
    const auto d_numbers = sent(numbers);
    const auto d_positions = sent(positions);
    const auto d_starts = sent(work.part_starts);
    const std::size_t parts = size(work.part_starts.back()) * size(h.heads);
    const auto partial_values = poisoned<float>(parts * size(h.size));
    const auto partial_sums = poisoned<float2>(parts);
    const auto out = poisoned<f16>(queries.size());
    AttentionArguments a;
    a.queries = d_queries.get();
    a.keys = d_keys.get();
    a.values = d_values.get();
    a.work = reinterpret_cast<const WorkHeader*>(d_numbers.get());
    a.positions = d_positions.get();
    a.part_starts = d_starts.get();
    a.partial_values = partial_values.get();
    a.partial_sums = partial_sums.get();
    a.out = out.get();
    a.rows = static_cast<int>(rows);
    a.heads = h.heads;
    a.kv_heads = h.kv_heads;
    a.head_size = h.size;
    a.scale = 1.44269504F / std::sqrt(static_cast<float>(h.size));
    a.eight_bits = eight_bits;
    tree_attention(a, attention_blocks(h.size, eight_bits), nullptr);
    merge_parts(a, nullptr);
    check(cudaGetLastError(), "starting kernels");
    const std::vector<f16> got = received(out);

    double off = 0;
    double norm = 0;
    for (std::size_t row = 0; row < rows; ++row) {
      const std::span<const PageId> pages = table.pages(branch_of[row]);
      for (int head = 0; head < h.heads; ++head) {
        const std::size_t first = (row * size(h.heads) + size(head)) * size(h.size);
        const auto cell = [&](const std::vector<unsigned char>& cache, int token, int element) {
          const std::size_t page =
              size(pages[size(token / kPage)]) * size(h.kv_heads) + size(head / (h.heads / h.kv_heads));
          return element_of(cache.data() + page * size(head_page_bytes(h.size, eight_bits)), h.size, eight_bits,
                            token % kPage, element);
        };
        std::vector<double> expected(size(h.size), 0.0);
        std::vector<double> scores;
        double most = -1e300;
        for (int token = 0; token <= positions[row]; ++token) {
          double dot = 0;
          for (int e = 0; e < h.size; ++e) {
            dot += static_cast<double>(__half2float(queries[first + size(e)])) * cell(keys, token, e);
          }
          scores.push_back(dot / std::sqrt(static_cast<double>(h.size)));
          most = std::max(most, scores.back());
        }
        double sum = 0;
        for (int token = 0; token <= positions[row]; ++token) {
          const double weight = std::exp(scores[size(token)] - most);
          sum += weight;
          for (int e = 0; e < h.size; ++e) expected[size(e)] += weight * cell(values, token, e);
        }
        for (int e = 0; e < h.size; ++e) {
          const double value = static_cast<double>(__half2float(got[first + size(e)]));
          ASSERT_TRUE(std::isfinite(value)) << "row " << row << " head " << head << " element " << e;
          const double truth = expected[size(e)] / sum;
          off += (value - truth) * (value - truth);
          norm += truth * truth;
        }
      }
    }
    EXPECT_LT(std::sqrt(off / norm), 1e-3) << "heads of " << h.size << (eight_bits ? " in 8 bits" : "");
  }
};

TEST_F(CudaAttention, AgreesWithTheDefinition) {
  for (const Heads& h : {Heads{4, 2, 32}, Heads{14, 2, 64}, Heads{6, 6, 96}, Heads{12, 2, 128}, Heads{20, 1, 64}}) {
    for (const bool eight_bits : {false, true}) expect_attention(h, eight_bits);
  }
}

// Bias, head norms and RoPE, and what is written to the pages.
TEST_F(CudaKernels, RopeAndStoreAgreesWithTheDefinition) {
  for (int round = 0; round < 12; ++round) {
    const Heads h{.heads = 6, .kv_heads = 2, .size = std::vector<int>{32, 64, 96, 128}[size(round % 4)]};
    const bool eight_bits = round % 2 == 1;
    const bool normed = round % 3 == 0;
    const bool interleaved = round % 5 < 2;
    constexpr int kRowsHere = 7;
    constexpr int kPages = 9;
    const int rotated = round % 4 == 2 ? h.size / 2 : h.size;
    const int all = h.heads + 2 * h.kv_heads;
    const std::vector<float> qkv = floats(size(kRowsHere * all * h.size));
    const std::vector<float> bias = floats(size(all * h.size));
    const std::vector<float> query_norm = floats(size(h.size));
    const std::vector<float> key_norm = floats(size(h.size));
    std::vector<float2> turns;
    for (const float angle : floats(size(kRowsHere * rotated / 2))) {
      turns.push_back(make_float2(std::cos(angle), std::sin(angle)));
    }
    std::vector<int> pages;
    std::vector<int> offsets;
    for (int row = 0; row < kRowsHere; ++row) {
      pages.push_back(row);
      offsets.push_back(roll(0, kPage - 1));
    }
    const auto d_qkv = sent(qkv);
    const auto d_bias = sent(bias);
    const auto d_query_norm = sent(query_norm);
    const auto d_key_norm = sent(key_norm);
    const auto d_turns = sent(turns);
    const auto d_pages = sent(pages);
    const auto d_offsets = sent(offsets);
    const auto queries = poisoned<f16>(size(kRowsHere * h.heads * h.size));
    const std::size_t cache = size(kPages * h.kv_heads * head_page_bytes(h.size, eight_bits));
    const auto keys = poisoned<unsigned char>(cache);
    const auto values = poisoned<unsigned char>(cache);
    RopeArguments a;
    a.qkv = d_qkv.get();
    a.bias = round % 2 == 0 ? d_bias.get() : nullptr;
    a.query_norm = normed ? d_query_norm.get() : nullptr;
    a.key_norm = normed ? d_key_norm.get() : nullptr;
    a.turns = d_turns.get();
    a.slot_pages = d_pages.get();
    a.slot_offsets = d_offsets.get();
    a.queries = queries.get();
    a.keys = keys.get();
    a.values = values.get();
    a.rows = kRowsHere;
    a.heads = h.heads;
    a.kv_heads = h.kv_heads;
    a.head_size = h.size;
    a.rotated = rotated;
    a.interleaved = interleaved;
    a.eight_bits = eight_bits;
    a.epsilon = 1e-6F;
    rope_and_store(a, nullptr);
    check(cudaGetLastError(), "starting kernels");
    const auto got_queries = received(queries);
    const auto got_keys = received(keys);
    const auto got_values = received(values);
    for (int row = 0; row < kRowsHere; ++row) {
      for (int head = 0; head < all; ++head) {
        std::vector<float> x(qkv.begin() + (row * all + head) * h.size, qkv.begin() + (row * all + head + 1) * h.size);
        const bool is_query = head < h.heads;
        const bool is_value = head >= h.heads + h.kv_heads;
        double squares = 0;
        for (int e = 0; e < h.size; ++e) {
          if (a.bias != nullptr) x[size(e)] += bias[size(head * h.size + e)];
          squares += static_cast<double>(x[size(e)]) * static_cast<double>(x[size(e)]);
        }
        if (normed && !is_value) {
          const auto scale = static_cast<float>(1 / std::sqrt(squares / h.size + 1e-6));
          for (int e = 0; e < h.size; ++e) x[size(e)] *= scale * (is_query ? query_norm : key_norm)[size(e)];
        }
        for (int i = 0; i < rotated / 2 && !is_value; ++i) {
          float& first = x[size(interleaved ? 2 * i : i)];
          float& second = x[size(interleaved ? 2 * i + 1 : i + rotated / 2)];
          const float2 turn = turns[size(row * rotated / 2 + i)];
          const float turned = first * turn.x - second * turn.y;
          second = second * turn.x + first * turn.y;
          first = turned;
        }
        std::vector<float> rounded = x;
        if (eight_bits && !is_query) round_to_eight_bits(rounded);
        for (int e = 0; e < h.size; ++e) {
          double got = 0;
          if (is_query) {
            got = static_cast<double>(__half2float(got_queries[size((row * h.heads + head) * h.size + e)]));
          } else {
            const int kv_head = (head - h.heads) % h.kv_heads;
            const auto& cache_of = is_value ? got_values : got_keys;
            const std::size_t page = size(pages[size(row)] * h.kv_heads + kv_head);
            got = element_of(cache_of.data() + page * size(head_page_bytes(h.size, eight_bits)), h.size, eight_bits,
                             offsets[size(row)], e);
          }
          const auto expected = static_cast<double>(rounded[size(e)]);
          // A value in the middle between two may be rounded either way: single precision was summed in another order.
          const double quantum = eight_bits && !is_query ? 0.1 : 1e-3 * std::fabs(expected);
          ASSERT_NEAR(got, expected, quantum + 1e-3) << "round " << round << " row " << row << " head " << head;
        }
      }
    }
  }
}

TEST_F(CudaKernels, PagesAreCopiedToTheLastByte) {
  const int layers = 3;
  const int pages = 7;
  const int page_bytes = 2 * head_page_bytes(96, true);
  std::vector<unsigned char> keys = bytes(size(layers * pages * page_bytes));
  std::vector<unsigned char> values = bytes(keys.size());
  const auto d_keys = sent(keys);
  const auto d_values = sent(values);
  const Cache cache{
      .keys = d_keys.get(), .values = d_values.get(), .layers = layers, .pages = size(pages), .page_bytes = page_bytes};
  const auto copies = sent(std::vector<Copy>{{.from = 2, .to = 5}, {.from = 0, .to = 6}});
  copy_pages(cache, copies.get(), 2, nullptr);
  const auto page = [&](std::vector<unsigned char>& all, int layer, int index) {
    return all.begin() + (layer * pages + index) * page_bytes;
  };
  for (auto* all : {&keys, &values}) {
    for (int layer = 0; layer < layers; ++layer) {
      std::copy_n(page(*all, layer, 2), page_bytes, page(*all, layer, 5));
      std::copy_n(page(*all, layer, 0), page_bytes, page(*all, layer, 6));
    }
  }
  EXPECT_EQ(received(d_keys), keys);
  EXPECT_EQ(received(d_values), values);

  const std::vector<int> moved = {6, 1, 3};
  const auto d_moved = sent(moved);
  const auto stretch = poisoned<unsigned char>(moved.size() * 2 * size(layers * page_bytes));
  gather_pages(cache, d_moved.get(), 3, stretch.get(), nullptr);
  std::vector<unsigned char> expected;
  for (const int index : moved) {
    for (int layer = 0; layer < layers; ++layer) {
      for (auto* all : {&keys, &values}) {
        expected.insert(expected.end(), page(*all, layer, index), page(*all, layer, index) + page_bytes);
      }
    }
  }
  EXPECT_EQ(received(stretch), expected);

  const auto elsewhere = sent(std::vector<int>{4, 0, 2});
  scatter_pages(cache, elsewhere.get(), 3, stretch.get(), nullptr);
  for (auto* all : {&keys, &values}) {
    for (int layer = 0; layer < layers; ++layer) {
      std::copy_n(page(*all, layer, 6), page_bytes, page(*all, layer, 4));
      std::copy_n(page(*all, layer, 1), page_bytes, page(*all, layer, 0));
      std::copy_n(page(*all, layer, 3), page_bytes, page(*all, layer, 2));
    }
  }
  EXPECT_EQ(received(d_keys), keys);
  EXPECT_EQ(received(d_values), values);
}

TEST_F(CudaKernels, NormsAddWhatIsYetToBeAdded) {
  for (const int width : {64, 1536, 3584, 8192}) {
    constexpr int kRowsHere = 5;
    constexpr int kSlicesHere = 3;
    const auto n = size(kRowsHere * width);
    std::vector<float> residual = floats(n);
    const std::vector<float> slices = floats(kSlicesHere * n);
    const std::vector<float> weight = floats(size(width));
    const auto d_residual = sent(residual);
    const auto d_slices = sent(slices);
    const auto d_weight = sent(weight);
    const auto out = poisoned<f16>(n);
    NormArguments a;
    a.residual = d_residual.get();
    a.slices = d_slices.get();
    a.weight = d_weight.get();
    a.out = out.get();
    a.n_slices = kSlicesHere;
    a.slice_rows = kRowsHere;
    a.rows = kRowsHere;
    a.width = width;
    a.epsilon = 1e-6F;
    add_and_norm(a, nullptr);
    check(cudaGetLastError(), "starting kernels");
    const auto got = received(out);
    const auto got_residual = received(d_residual);
    for (int row = 0; row < kRowsHere; ++row) {
      double squares = 0;
      for (int i = 0; i < width; ++i) {
        float& x = residual[size(row * width + i)];
        for (int s = 0; s < kSlicesHere; ++s) x += slices[size(s) * n + size(row * width + i)];
        squares += static_cast<double>(x) * static_cast<double>(x);
        ASSERT_EQ(got_residual[size(row * width + i)], x);
      }
      for (int i = 0; i < width; ++i) {
        const double expected = static_cast<double>(residual[size(row * width + i)]) /
                                std::sqrt(squares / width + 1e-6) * static_cast<double>(weight[size(i)]);
        ASSERT_NEAR(static_cast<double>(__half2float(got[size(row * width + i)])), expected,
                    1e-3 * std::fabs(expected) + 1e-6);
      }
    }
  }
}

TEST_F(CudaKernels, GatesAgreeWithTheDefinition) {
  constexpr int kRowsHere = 3;
  constexpr int kInner = 1000;
  const std::vector<f16> gate_up = halves(kRowsHere * 2 * kInner);
  const auto d_gate_up = sent(gate_up);
  const auto out = poisoned<f16>(kRowsHere * kInner);
  gated_silu(d_gate_up.get(), out.get(), kRowsHere, kInner, nullptr);
  const auto got = received(out);
  for (int row = 0; row < kRowsHere; ++row) {
    for (int i = 0; i < kInner; ++i) {
      const auto gate = static_cast<double>(__half2float(gate_up[size(row * 2 * kInner + i)]));
      const auto up = static_cast<double>(__half2float(gate_up[size(row * 2 * kInner + kInner + i)]));
      const double expected = gate / (1 + std::exp(-gate)) * up;
      ASSERT_NEAR(static_cast<double>(__half2float(got[size(row * kInner + i)])), expected,
                  1e-3 * std::fabs(expected) + 1e-6);
    }
  }
}

}  // namespace
}  // namespace dts::native::cuda
