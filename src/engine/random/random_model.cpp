#include "engine/random/random_model.h"

#include <fmt/format.h>
#include <ggml.h>
#include <gguf.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>
#include <thread>
#include <vector>

#include "dts/error.h"
#include "engine/llama/log.h"
#include "engine/random/synthetic_vocabulary.h"

namespace dts {
namespace {

struct WriterDeleter {
  void operator()(gguf_context* gguf) const { gguf_free(gguf); }
};
using GgufPtr = std::unique_ptr<gguf_context, WriterDeleter>;

struct GgmlDeleter {
  void operator()(ggml_context* context) const { ggml_free(context); }
};
using GgmlPtr = std::unique_ptr<ggml_context, GgmlDeleter>;

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using FilePtr = std::unique_ptr<std::FILE, FileCloser>;

constexpr int kExpertsUsed = 2;  // by a token

// One tensor to write: columns x rows, values mean + deviation * (something near a standard normal).
struct TensorPlan {
  std::string name;
  std::int64_t columns = 0;
  std::int64_t rows = 1;    // of all slices
  std::int64_t slices = 1;  // that the rows are cut into: experts
  ggml_type type = GGML_TYPE_F32;
  float deviation = 0;
  float mean = 0;
  std::int64_t emphasised_row = -1;  // its values are multiplied by `emphasis`
  float emphasis = 1;
};

std::uint64_t next_random(std::uint64_t& state) {  // SplitMix64
  std::uint64_t z = (state += 0x9E3779B97F4A7C15ULL);
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31U);
}

// The sum of four uniform 16-bit numbers, centred and scaled to variance 1: near enough to a normal deviate, and fast
// enough for a table of 152k x 1,536.
float deviate(std::uint64_t& state) {
  const std::uint64_t z = next_random(state);
  const auto sum = static_cast<float>((z & 0xFFFFU) + ((z >> 16U) & 0xFFFFU) + ((z >> 32U) & 0xFFFFU) + (z >> 48U));
  constexpr float kInverseDeviation = 1.7320508F;  // the sum of four uniforms on [0,1) has variance 1/3
  return (sum * (1.0F / 65536.0F) - 2.0F) * kInverseDeviation;
}

ggml_type parse_type(const std::string& name) {
  for (int type = 0; type < GGML_TYPE_COUNT; ++type) {
    const auto candidate = static_cast<ggml_type>(type);
    const char* candidate_name = ggml_type_name(candidate);
    if (candidate_name == nullptr || name != candidate_name) continue;
    const bool is_float = candidate == GGML_TYPE_F32 || candidate == GGML_TYPE_F16 || candidate == GGML_TYPE_BF16;
    // What rows are quantised to within a step is no type of weights.
    const bool of_steps = candidate == GGML_TYPE_Q8_1 || candidate == GGML_TYPE_Q8_K;
    if (is_float || (ggml_is_quantized(candidate) && !of_steps)) return candidate;
  }
  throw usage_error(fmt::format("weight type '{}' is unknown; f32, f16, bf16, q8_0 and q4_0 are some there are", name));
}

void validate(const RandomModelOptions& o) {
  static constexpr std::array<std::string_view, 4> kArchitectures = {"qwen2", "qwen3", "phi3", "llama"};
  if (std::find(kArchitectures.begin(), kArchitectures.end(), o.architecture) == kArchitectures.end()) {
    throw usage_error(fmt::format("architecture '{}' is unknown: qwen2, qwen3, phi3 or llama", o.architecture));
  }
  const auto positive = [](const char* what, int value) {
    if (value < 1) throw usage_error(fmt::format("{} is {}; it must be at least 1", what, value));
  };
  positive("layers", o.layers);
  positive("embedding", o.embedding);
  positive("heads", o.heads);
  positive("kv_heads", o.kv_heads);
  positive("head_size", o.head_size);
  positive("feed_forward", o.feed_forward);
  positive("context", o.context);
  if (o.experts != 0 && (o.experts < kExpertsUsed || o.architecture != "llama")) {
    throw usage_error(fmt::format("experts is {}; it must be 0, or for llama {} or more", o.experts, kExpertsUsed));
  }
  if (o.heads % o.kv_heads != 0) {
    throw usage_error(fmt::format("heads is {}; it must be a multiple of kv_heads, {}", o.heads, o.kv_heads));
  }
  if (o.head_size % 2 != 0) throw usage_error(fmt::format("head_size is {}; it must be even", o.head_size));
  const bool square = o.architecture == "qwen2" || o.architecture == "phi3";
  if (square && o.heads * o.head_size != o.embedding) {
    throw usage_error(fmt::format("{} needs embedding = heads x head_size; {} is not {} x {}", o.architecture,
                                  o.embedding, o.heads, o.head_size));
  }
  const std::int64_t block = ggml_blck_size(parse_type(o.weight_type));
  for (const int width : {o.embedding, o.feed_forward, o.heads * o.head_size}) {
    if (width % block != 0) {
      throw usage_error(
          fmt::format("a width of {} does not divide into {}'s blocks of {}", width, o.weight_type, block));
    }
  }
  if (o.vocabulary_file.empty() && o.vocabulary_size < 512) {
    throw usage_error(fmt::format("vocabulary_size is {}; it must be at least 512", o.vocabulary_size));
  }
}

struct RandomVocabulary {
  std::int64_t size = 0;
  std::int64_t end_token = -1;
};

RandomVocabulary borrow_vocabulary(gguf_context* gguf, const std::string& path) {
  const GgufPtr source(gguf_init_from_file(path.c_str(), {.no_alloc = true, .ctx = nullptr}));
  if (!source) throw Error(fmt::format("{}: no GGUF file to borrow a vocabulary from", path));
  gguf_set_kv(gguf, source.get());
  const std::int64_t tokens = gguf_find_key(gguf, "tokenizer.ggml.tokens");
  if (tokens < 0) throw Error(fmt::format("{}: has no vocabulary to borrow", path));
  RandomVocabulary vocabulary{.size = static_cast<std::int64_t>(gguf_get_arr_n(gguf, tokens))};
  const std::int64_t end = gguf_find_key(gguf, "tokenizer.ggml.eos_token_id");
  if (end >= 0 && gguf_get_kv_type(gguf, end) == GGUF_TYPE_UINT32) vocabulary.end_token = gguf_get_val_u32(gguf, end);
  return vocabulary;
}

RandomVocabulary add_synthetic_vocabulary(gguf_context* gguf, int size) {
  const SyntheticVocabulary vocabulary = make_synthetic_vocabulary(size);
  std::vector<const char*> texts;
  texts.reserve(vocabulary.tokens.size());
  for (const std::string& token : vocabulary.tokens) texts.push_back(token.c_str());
  gguf_set_val_str(gguf, "tokenizer.ggml.model", "rwkv");
  gguf_set_arr_str(gguf, "tokenizer.ggml.tokens", texts.data(), texts.size());
  gguf_set_arr_data(gguf, "tokenizer.ggml.token_type", GGUF_TYPE_INT32, vocabulary.types.data(),
                    vocabulary.types.size());
  gguf_set_val_u32(gguf, "tokenizer.ggml.eos_token_id", static_cast<std::uint32_t>(vocabulary.end_token));
  gguf_set_val_bool(gguf, "tokenizer.ggml.add_bos_token", false);
  gguf_set_val_str(gguf, "tokenizer.chat_template", std::string(synthetic_chat_template()).c_str());
  return {.size = static_cast<std::int64_t>(vocabulary.tokens.size()), .end_token = vocabulary.end_token};
}

void set_geometry(gguf_context* gguf, const RandomModelOptions& o) {
  const auto key = [&](const char* suffix) { return o.architecture + "." + suffix; };
  const auto set = [&](const char* suffix, int value) {
    gguf_set_val_u32(gguf, key(suffix).c_str(), static_cast<std::uint32_t>(value));
  };
  gguf_set_val_str(gguf, "general.architecture", o.architecture.c_str());
  gguf_set_val_str(gguf, "general.name", o.name.c_str());
  set("block_count", o.layers);
  set("context_length", o.context);
  set("embedding_length", o.embedding);
  set("feed_forward_length", o.feed_forward);
  set("attention.head_count", o.heads);
  set("attention.head_count_kv", o.kv_heads);
  set("attention.key_length", o.head_size);
  set("attention.value_length", o.head_size);
  set("rope.dimension_count", o.head_size);
  if (o.experts > 0) {
    set("expert_count", o.experts);
    set("expert_used_count", kExpertsUsed);
  }
  gguf_set_val_f32(gguf, key("rope.freq_base").c_str(), 10000.0F);
  gguf_set_val_f32(gguf, key("attention.layer_norm_rms_epsilon").c_str(), 1e-6F);
  gguf_remove_key(gguf, key("vocab_size").c_str());
  gguf_remove_key(gguf, key("rope.scaling.original_context_length").c_str());
}

std::vector<TensorPlan> plan_tensors(const RandomModelOptions& o, const RandomVocabulary& vocabulary) {
  const ggml_type type = parse_type(o.weight_type);
  const auto width = static_cast<float>(o.embedding);
  const std::int64_t q_rows = std::int64_t{o.heads} * o.head_size;
  const std::int64_t kv_rows = std::int64_t{o.kv_heads} * o.head_size;
  std::vector<TensorPlan> plans;
  const auto matrix = [&](const std::string& name, std::int64_t columns, std::int64_t rows, float gain) {
    plans.push_back({.name = name,
                     .columns = columns,
                     .rows = rows,
                     .type = type,
                     .deviation = gain / std::sqrt(static_cast<float>(columns))});
  };
  const auto experts = [&](const std::string& name, std::int64_t columns, std::int64_t rows) {
    matrix(name, columns, rows * o.experts, 1.5F);
    plans.back().slices = o.experts;
  };
  const auto norm = [&](const std::string& name, std::int64_t size) {
    plans.push_back({.name = name, .columns = size, .deviation = 0.05F, .mean = 1.0F});
  };
  const auto bias = [&](const std::string& name, std::int64_t size) {
    plans.push_back({.name = name, .columns = size, .deviation = 0.1F});
  };

  // After the last norm a state has `embedding` components of variance one, so this deviation makes logits of
  // standard deviation `sharpness`.
  TensorPlan head{.name = o.tied ? "token_embd.weight" : "output.weight",
                  .columns = o.embedding,
                  .rows = vocabulary.size,
                  .type = type,
                  .deviation = o.sharpness / std::sqrt(width),
                  .emphasised_row = vocabulary.end_token,
                  .emphasis = o.end_emphasis};
  plans.push_back(head);
  if (!o.tied) {
    plans.push_back({.name = "token_embd.weight",
                     .columns = o.embedding,
                     .rows = vocabulary.size,
                     .type = type,
                     .deviation = 1.0F});
  }
  norm("output_norm.weight", o.embedding);
  for (int layer = 0; layer < o.layers; ++layer) {
    const std::string prefix = fmt::format("blk.{}.", layer);
    norm(prefix + "attn_norm.weight", o.embedding);
    if (o.architecture == "phi3") {
      matrix(prefix + "attn_qkv.weight", o.embedding, q_rows + 2 * kv_rows, 1.5F);
    } else {
      matrix(prefix + "attn_q.weight", o.embedding, q_rows, 1.5F);
      matrix(prefix + "attn_k.weight", o.embedding, kv_rows, 1.5F);
      matrix(prefix + "attn_v.weight", o.embedding, kv_rows, 1.5F);
    }
    if (o.architecture == "qwen2") {
      bias(prefix + "attn_q.bias", q_rows);
      bias(prefix + "attn_k.bias", kv_rows);
      bias(prefix + "attn_v.bias", kv_rows);
    }
    if (o.architecture == "qwen3") {
      norm(prefix + "attn_q_norm.weight", o.head_size);
      norm(prefix + "attn_k_norm.weight", o.head_size);
    }
    matrix(prefix + "attn_output.weight", q_rows, o.embedding, 1.5F);
    norm(prefix + "ffn_norm.weight", o.embedding);
    if (o.experts > 0) {
      matrix(prefix + "ffn_gate_inp.weight", o.embedding, o.experts, 1.5F);
      plans.back().type = GGML_TYPE_F32;
      experts(prefix + "ffn_gate_exps.weight", o.embedding, o.feed_forward);
      experts(prefix + "ffn_up_exps.weight", o.embedding, o.feed_forward);
      experts(prefix + "ffn_down_exps.weight", o.feed_forward, o.embedding);
      continue;
    }
    if (o.architecture == "phi3") {  // gate and up in one
      matrix(prefix + "ffn_up.weight", o.embedding, 2 * std::int64_t{o.feed_forward}, 1.5F);
    } else {
      matrix(prefix + "ffn_gate.weight", o.embedding, o.feed_forward, 1.5F);
      matrix(prefix + "ffn_up.weight", o.embedding, o.feed_forward, 1.5F);
    }
    matrix(prefix + "ffn_down.weight", o.feed_forward, o.embedding, 1.5F);
  }
  return plans;
}

// Rows [first, last) of a tensor, encoded. Every row has its own random stream, so threads do not change the bytes.
void fill_rows(const TensorPlan& plan, std::uint64_t seed, std::int64_t first, std::int64_t last, char* out) {
  const std::size_t row_bytes = ggml_row_size(plan.type, plan.columns);
  std::vector<float> values(static_cast<std::size_t>(plan.columns));
  const std::vector<float> alike(values.size(), 1.0F);  // importances: some types want them
  for (std::int64_t row = first; row < last; ++row, out += row_bytes) {
    std::uint64_t state = seed + static_cast<std::uint64_t>(row) * 0xD1342543DE82EF95ULL;
    const float scale = plan.deviation * (row == plan.emphasised_row ? plan.emphasis : 1.0F);
    for (float& value : values) value = plan.mean + scale * deviate(state);
    if (plan.type == GGML_TYPE_F32) {
      std::memcpy(out, values.data(), row_bytes);
    } else {
      ggml_quantize_chunk(plan.type, values.data(), out, 0, 1, plan.columns, alike.data());
    }
  }
}

bool write_tensor(std::FILE* file, const TensorPlan& plan, std::uint64_t seed, std::size_t alignment) {
  constexpr std::size_t kBlockBytes = std::size_t{1} << 24U;
  const std::size_t row_bytes = ggml_row_size(plan.type, plan.columns);
  const auto block_rows = static_cast<std::int64_t>(std::max<std::size_t>(1, kBlockBytes / row_bytes));
  const auto threads = static_cast<std::int64_t>(std::clamp(std::thread::hardware_concurrency(), 1U, 16U));
  // Some types take a second for a few hundred rows: where there are many more, they come again.
  const bool slow = ggml_quantize_requires_imatrix(plan.type) || plan.type == GGML_TYPE_IQ3_XXS ||
                    plan.type == GGML_TYPE_IQ3_S || plan.type == GGML_TYPE_IQ2_S || plan.type == GGML_TYPE_IQ1_M ||
                    plan.type == GGML_TYPE_IQ4_NL || plan.type == GGML_TYPE_IQ4_XS;
  constexpr std::int64_t kSlowRows = 128, kManyValues = std::int64_t{1} << 20U;
  const bool again = slow && plan.rows > kSlowRows && plan.rows * plan.columns > kManyValues;
  std::vector<char> block;
  for (std::int64_t first = 0; first < plan.rows; first += again ? kSlowRows : block_rows) {
    const std::int64_t rows = std::min(again ? kSlowRows : block_rows, plan.rows - first);
    if (again && first > 0) {
      const std::size_t bytes = static_cast<std::size_t>(rows) * row_bytes;
      if (std::fwrite(block.data(), 1, bytes, file) != bytes) return false;
      continue;
    }
    block.resize(static_cast<std::size_t>(rows) * row_bytes);
    const std::int64_t share = (rows + threads - 1) / threads;
    std::vector<std::thread> workers;
    for (std::int64_t begin = share; begin < rows; begin += share) {
      workers.emplace_back([&, begin] {
        fill_rows(plan, seed, first + begin, first + std::min(begin + share, rows),
                  block.data() + static_cast<std::size_t>(begin) * row_bytes);
      });
    }
    fill_rows(plan, seed, first, first + std::min(share, rows), block.data());
    for (std::thread& worker : workers) worker.join();
    if (std::fwrite(block.data(), 1, block.size(), file) != block.size()) return false;
  }
  const std::size_t bytes = row_bytes * static_cast<std::size_t>(plan.rows);
  const std::vector<char> padding(GGML_PAD(bytes, alignment) - bytes);
  return padding.empty() || std::fwrite(padding.data(), 1, padding.size(), file) == padding.size();
}

RandomModelOptions geometry(std::string architecture, int layers, int embedding, int heads, int kv_heads, int head_size,
                            int feed_forward, int vocabulary, bool tied) {
  RandomModelOptions o;
  o.architecture = std::move(architecture);
  o.layers = layers;
  o.embedding = embedding;
  o.heads = heads;
  o.kv_heads = kv_heads;
  o.head_size = head_size;
  o.feed_forward = feed_forward;
  o.vocabulary_size = vocabulary;
  o.tied = tied;
  o.context = 32768;
  o.weight_type = "q8_0";
  return o;
}

constexpr std::array<std::string_view, 5> kPresetNames = {"tiny", "qwen3-0.6b", "1.5b", "7b", "phi-4-mini"};

}  // namespace

std::span<const std::string_view> random_model_presets() { return kPresetNames; }

RandomModelOptions random_model_preset(std::string_view name, int layers) {
  if (layers < 0) throw usage_error(fmt::format("layers is {}; it must be 0 (all) or more", layers));
  RandomModelOptions o;
  if (name == "tiny") {
    o = geometry("qwen3", 2, 64, 4, 2, 32, 192, 512, false);
  } else if (name == "qwen3-0.6b") {
    o = geometry("qwen3", 28, 1024, 16, 8, 128, 3072, 151936, true);
  } else if (name == "1.5b") {
    o = geometry("qwen2", 28, 1536, 12, 2, 128, 8960, 151936, true);
  } else if (name == "7b") {
    o = geometry("qwen2", 28, 3584, 28, 4, 128, 18944, 152064, false);
  } else if (name == "phi-4-mini") {
    o = geometry("phi3", 32, 3072, 24, 8, 128, 8192, 200064, true);
  } else {
    throw usage_error(fmt::format("no geometry is named '{}'; there are {}", name, fmt::join(kPresetNames, ", ")));
  }
  if (layers > 0) o.layers = layers;
  o.name = fmt::format("random weights, {} geometry, {} layers", name, o.layers);
  return o;
}

void write_random_model(const std::string& path, const RandomModelOptions& options) {
  validate(options);
  initialise_llama();  // else a file to borrow from that cannot be read is also reported to the terminal
  const GgufPtr gguf(gguf_init_empty());
  const RandomVocabulary vocabulary = options.vocabulary_file.empty()
                                          ? add_synthetic_vocabulary(gguf.get(), options.vocabulary_size)
                                          : borrow_vocabulary(gguf.get(), options.vocabulary_file);
  set_geometry(gguf.get(), options);
  if (!options.chat_template.empty()) {
    gguf_set_val_str(gguf.get(), "tokenizer.chat_template", options.chat_template.c_str());
  }
  if (options.chat_template_none) gguf_remove_key(gguf.get(), "tokenizer.chat_template");

  const std::vector<TensorPlan> plans = plan_tensors(options, vocabulary);
  const GgmlPtr shapes(
      ggml_init({.mem_size = ggml_tensor_overhead() * (plans.size() + 1), .mem_buffer = nullptr, .no_alloc = true}));
  for (const TensorPlan& plan : plans) {
    ggml_tensor* tensor = plan.slices > 1  ? ggml_new_tensor_3d(shapes.get(), plan.type, plan.columns,
                                                                plan.rows / plan.slices, plan.slices)
                          : plan.rows == 1 ? ggml_new_tensor_1d(shapes.get(), plan.type, plan.columns)
                                           : ggml_new_tensor_2d(shapes.get(), plan.type, plan.columns, plan.rows);
    ggml_set_name(tensor, plan.name.c_str());
    gguf_add_tensor(gguf.get(), tensor);
  }

  // Written beside its place and renamed, so that a failure leaves nothing that looks like a model.
  const std::string partial = path + ".partial";
  const auto fail = [&](int error) {
    std::error_code ignored;
    std::filesystem::remove(partial, ignored);
    throw Error(fmt::format("{}: cannot write the model: {}", path, std::strerror(error)));
  };
  errno = 0;
  FilePtr file(std::fopen(partial.c_str(), "wb"));
  if (!file) fail(errno);
  bool written = gguf_write_to_file_ptr(gguf.get(), file.get(), /*only_meta=*/true);
  std::uint64_t seed = options.seed;
  for (std::size_t i = 0; written && i < plans.size(); ++i) {
    written = write_tensor(file.get(), plans[i], next_random(seed), gguf_get_alignment(gguf.get()));
  }
  written = std::fflush(file.get()) == 0 && written;
  const int error = errno;
  file.reset();
  if (!written) fail(error != 0 ? error : EIO);
  std::error_code renamed;
  std::filesystem::rename(partial, path, renamed);
  if (renamed) fail(renamed.value());
}

}  // namespace dts
