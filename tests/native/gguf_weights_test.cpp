// Files that are not what they seem: refused in one line, whichever engine is to run them.
#include "engine/native/gguf_weights.h"

#include <ggml.h>
#include <gguf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "dts/error.h"
#include "dts/local_model.h"
#include "dts/native.h"
#include "engine/native/cpu/cpu_backend.h"
#include "native/native_models.h"

namespace dts {
namespace {

struct FileDeleter {
  void operator()(gguf_context* file) const { gguf_free(file); }
};
struct TensorsDeleter {
  void operator()(ggml_context* tensors) const { ggml_free(tensors); }
};
using File = std::unique_ptr<gguf_context, FileDeleter>;

// A tensor in place of the model's of that name, or beside them.
struct OtherTensor {
  std::string name;
  ggml_type type;
  std::int64_t columns;
  std::int64_t rows;
};

// The model with its metadata changed, and with other tensors.
std::string write_changed(const RandomModelOptions& options, const std::function<void(gguf_context*)>& change,
                          const std::vector<OtherTensor>& others = {}) {
  ggml_context* read = nullptr;
  const File original(gguf_init_from_file(write_model("whole", options).c_str(), {.no_alloc = false, .ctx = &read}));
  const std::unique_ptr<ggml_context, TensorsDeleter> tensors(read);
  const File file(gguf_init_empty());
  gguf_set_kv(file.get(), original.get());
  change(file.get());
  for (std::int64_t i = 0; i < gguf_get_n_tensors(original.get()); ++i) {
    const std::string name = gguf_get_tensor_name(original.get(), i);
    const bool replaced = std::any_of(others.begin(), others.end(), [&](const auto& one) { return one.name == name; });
    if (!replaced) gguf_add_tensor(file.get(), ggml_get_tensor(read, name.c_str()));
  }
  constexpr std::size_t kRoom = std::size_t{1} << 20U;
  const std::unique_ptr<ggml_context, TensorsDeleter> more(
      ggml_init({.mem_size = kRoom, .mem_buffer = nullptr, .no_alloc = false}));
  for (const OtherTensor& other : others) {
    ggml_tensor* tensor = ggml_new_tensor_2d(more.get(), other.type, other.columns, other.rows);
    ggml_set_name(tensor, other.name.c_str());
    if (tensor->data == nullptr) tensor->data = tensor;  // of no bytes, but the writer asks
    if (ggml_nbytes(tensor) > 0) std::memset(tensor->data, 0, ggml_nbytes(tensor));
    gguf_add_tensor(file.get(), tensor);
  }
  std::string path = scratch_file("changed.gguf");
  EXPECT_TRUE(gguf_write_to_file(file.get(), path.c_str(), /*only_meta=*/false));
  return path;
}

// What people read when the file is to be run by that engine; empty: it is loaded.
std::string failure(const std::string& path, LocalEngine engine) {
  LocalModelOptions options;
  options.engine = engine;
  options.model.path = path;
  try {
    open_local_model(options.model, choose_local_engine(options).engine);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

void expect_refused(const std::string& path, const std::string& words) {
  for (const LocalEngine engine : {LocalEngine::kLlama, LocalEngine::kAuto, LocalEngine::kNativeCpu}) {
    const std::string line = failure(path, engine);
    EXPECT_NE(line.find(words), std::string::npos) << words << ": '" << line << "'";
    EXPECT_EQ(line.find('\n'), std::string::npos) << line;
  }
}

class GgufNumbers : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!why_no_native_cpu().empty()) GTEST_SKIP() << why_no_native_cpu();
  }
  std::string key(const char* suffix) const { return std::string(GetParam()) + "." + suffix; }
  std::string with(const std::string& name, float value) const {
    return write_changed(family_options(GetParam()),
                         [&](gguf_context* file) { gguf_set_val_f32(file, name.c_str(), value); });
  }
};

// llama.cpp would end the program in its first step for an epsilon like these.
TEST_P(GgufNumbers, NoNumberIsRefused) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const char* suffix : {"attention.layer_norm_rms_epsilon", "rope.freq_base", "rope.scaling.factor",
                             "rope.scaling.attn_factor", "rope.scaling.yarn_ext_factor", "logit_scale"}) {
    for (const float value : {std::nanf(""), kInfinity, -kInfinity}) {
      expect_refused(with(key(suffix), value), key(suffix) + " is ");
    }
  }
}

TEST_P(GgufNumbers, NoSensibleNumberIsRefused) {
  const std::string epsilon = key("attention.layer_norm_rms_epsilon");
  expect_refused(with(epsilon, -1e-6F), epsilon + " is -1e-06");
  expect_refused(with(epsilon, 2.0F), "at most 1");
  expect_refused(with(key("rope.freq_base"), 0.0F), "it must be above 0");
  expect_refused(with(key("rope.freq_base"), -10000.0F), "it must be above 0");
  expect_refused(with(key("rope.scaling.factor"), -2.0F), "it must be at least 0");
  expect_refused(with(key("rope.scaling.attn_factor"), 0.0F), "it must be above 0");
  EXPECT_EQ(failure(with(epsilon, 1e-5F), LocalEngine::kNativeCpu), "");
  EXPECT_EQ(failure(with(key("rope.freq_base"), 1e6F), LocalEngine::kNativeCpu), "");
}

// In double precision, in lists, and as text: what the engines would pass over in silence.
TEST_P(GgufNumbers, NumbersOfAnotherTypeAreRead) {
  const std::string epsilon = key("attention.layer_norm_rms_epsilon");
  const auto changed = [&](const std::function<void(gguf_context*)>& change) {
    return write_changed(family_options(GetParam()), change);
  };
  expect_refused(changed([&](gguf_context* file) { gguf_set_val_f64(file, epsilon.c_str(), 1e300); }), "is 1e+300");
  const std::string base = key("rope.freq_base");
  expect_refused(changed([&](gguf_context* file) { gguf_set_val_f64(file, base.c_str(), 1e-300); }), "is 1e-300");
  expect_refused(changed([&](gguf_context* file) { gguf_set_val_str(file, epsilon.c_str(), "1e-6"); }), "is no number");
  const float list[] = {1e-6F, std::nanf("")};
  expect_refused(
      changed([&](gguf_context* file) { gguf_set_arr_data(file, epsilon.c_str(), GGUF_TYPE_FLOAT32, list, 1); }),
      "is a list");
  const std::string other = key("something_else");
  expect_refused(
      changed([&](gguf_context* file) { gguf_set_arr_data(file, other.c_str(), GGUF_TYPE_FLOAT32, list, 2); }),
      other + " is nan");
}

INSTANTIATE_TEST_SUITE_P(Families, GgufNumbers, ::testing::Values("qwen2", "qwen3", "llama", "phi3"),
                         [](const auto& test) { return std::string(test.param); });

// Sizes that no 32 bits hold, and products of sizes that they would not hold.
TEST(GgufSizes, BeyondWhatCanBeComputedWithAreNotTaken) {
  const auto why = [](const std::function<void(gguf_context*)>& change) {
    RandomModelOptions options = family_options("llama");
    std::string reason;
    EXPECT_EQ(native::open_gguf_weights(write_changed(options, change), reason), nullptr);
    EXPECT_EQ(reason.find('\n'), std::string::npos) << reason;
    return reason;
  };
  const auto number = [](const char* name, std::uint64_t value) {
    return [name, value](gguf_context* file) { gguf_set_val_u64(file, name, value); };
  };
  // Cut to 32 bits it would be what the tensors have.
  const auto inner = static_cast<std::uint64_t>(family_options("llama").feed_forward);
  EXPECT_NE(why(number("llama.feed_forward_length", (std::uint64_t{1} << 32U) + inner)), "");
  EXPECT_NE(why([&](gguf_context* file) {
              gguf_set_val_u32(file, "llama.attention.head_count", 1U << 20U);
              gguf_set_val_u32(file, "llama.attention.head_count_kv", 1U << 20U);
              gguf_set_val_u32(file, "llama.attention.key_length", 1U << 20U);
              gguf_set_val_u32(file, "llama.attention.value_length", 1U << 20U);
              gguf_set_val_u32(file, "llama.rope.dimension_count", 1U << 20U);
            }),
            "");
}

// Of a type that nothing expands, and without elements: what adds up to the right shape all the same.
TEST(GgufTensors, WhatCannotBeReadIsNamed) {
  const auto why = [](const RandomModelOptions& options, const std::vector<OtherTensor>& others) {
    std::string reason;
    const auto unchanged = [](gguf_context* /*file*/) {};
    EXPECT_EQ(native::open_gguf_weights(write_changed(options, unchanged, others), reason), nullptr);
    EXPECT_EQ(reason.find('\n'), std::string::npos) << reason;
    return reason;
  };
  const RandomModelOptions llama = family_options("llama");
  for (const ggml_type type : {GGML_TYPE_I32, GGML_TYPE_I8, GGML_TYPE_F64}) {
    EXPECT_NE(why(llama, {{"rope_freqs.weight", type, llama.head_size / 2, 1}}).find("rope_freqs.weight is "),
              std::string::npos);
  }
  const RandomModelOptions qwen = family_options("qwen2");
  const std::int64_t q = std::int64_t{qwen.heads} * qwen.head_size;
  const std::int64_t kv = std::int64_t{qwen.kv_heads} * qwen.head_size;
  EXPECT_NE(why(qwen, {{"blk.0.attn_q.bias", GGML_TYPE_F32, q + 2 * kv, 1},
                       {"blk.0.attn_k.bias", GGML_TYPE_F32, 0, 1},
                       {"blk.0.attn_v.bias", GGML_TYPE_F32, 0, 1}})
                .find("is empty"),
            std::string::npos);
}

// The kernels have room for so many queries of one kv head.
TEST(GgufSizes, TooManyHeadsAboutOneKvHeadAreNotTheCpus) {
  if (!why_no_native_cpu().empty()) GTEST_SKIP() << why_no_native_cpu();
  RandomModelOptions options = family_options("llama");
  options.layers = 1;
  options.head_size = 16;
  options.kv_heads = 1;
  for (const int heads : {512, 1024}) {
    options.heads = heads;
    const std::string path = write_model("heads", options);
    const bool fits = heads == 512;
    EXPECT_EQ(why_not_native_cpu(path, NativeKvType::kF16).empty(), fits) << heads;
    if (!fits) continue;
    const NativeModel model({.path = path, .device = NativeDevice::kCpu});
    const NativeModel oracle({.path = path, .device = NativeDevice::kOracle});
    float entropies[2] = {};
    for (int i = 0; i < 2; ++i) {
      const auto engine = (i == 0 ? model : oracle).make_engine({.max_branches = 2, .context_length = 100});
      const BranchId branch = engine->open();
      engine->prefill(branch, std::vector<Token>(70, 5));
      const PredictionSpec spec;
      const Token token = 9;
      const Feed feed{.branch = branch, .tokens = {&token, 1}, .draw = 1, .spec = &spec};
      Prediction out;
      engine->step({&feed, 1}, {&out, 1});
      entropies[i] = out.entropy;
    }
    EXPECT_NEAR(entropies[0], entropies[1], 0.05F);
  }
}

}  // namespace
}  // namespace dts
