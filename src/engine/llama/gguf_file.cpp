#include "engine/llama/gguf_file.h"

#include <fmt/format.h>
#include <ggml.h>
#include <gguf.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <unordered_map>

#include "dts/error.h"
#include "engine/llama/gguf_metadata.h"
#include "engine/llama/log.h"

namespace dts {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMostLayers = 512;                       // LLAMA_MAX_LAYERS
constexpr std::int64_t kMostElements = std::int64_t{1} << 24U;  // of any one size in a layer; products stay in range

[[noreturn]] void fail(const std::string& path, const std::string& why) { throw Error(path + ": " + why); }

std::string printable(const char* bytes, std::size_t size) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    text += byte >= 0x20 && byte < 0x7F ? std::string(1, bytes[i]) : fmt::format("\\x{:02x}", byte);
  }
  return text;
}

// Everything that can be told without parsing. Returns the file's size in bytes.
std::uintmax_t check_header(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) fail(path, "no such file; a GGUF model is expected");
  if (error) fail(path, "cannot open the model: " + error.message());
  if (fs::is_directory(status)) fail(path, "is a directory; name the GGUF file in it");
  if (!fs::is_regular_file(status)) fail(path, "is not a regular file; a GGUF model is expected");
  const std::uintmax_t size = fs::file_size(path, error);
  if (error) fail(path, "cannot read the model: " + error.message());
  if (size == 0) fail(path, "is empty; a GGUF model is expected");

  std::ifstream file(path, std::ios::binary);
  if (!file) fail(path, std::string("cannot open the model: ") + std::strerror(errno));
  std::array<char, 8> head{};
  file.read(head.data(), head.size());
  const auto got = static_cast<std::size_t>(file.gcount());
  if (got < 4 || std::memcmp(head.data(), "GGUF", 4) != 0) {
    fail(path, fmt::format("is not a GGUF model: it begins with '{}' instead of 'GGUF'",
                           printable(head.data(), std::min<std::size_t>(got, 4))));
  }
  // The smallest header: magic, version, number of tensors, number of key-value pairs.
  if (size < 24) fail(path, fmt::format("is truncated: {} bytes are too few for a GGUF header", size));
  std::uint32_t version = 0;
  std::memcpy(&version, head.data() + 4, sizeof version);
  if (version < 2 || version > 3) {
    fail(path, fmt::format("has GGUF version {}; versions 2 and 3 (little-endian) can be read", version));
  }
  return size;
}

// llama.cpp maps the file and would read past its end.
void check_size(const std::string& path, const gguf_context* gguf, std::uintmax_t size) {
  std::uintmax_t end = gguf_get_data_offset(gguf);
  for (std::int64_t i = 0; i < gguf_get_n_tensors(gguf); ++i) {
    end = std::max<std::uintmax_t>(
        end, gguf_get_data_offset(gguf) + gguf_get_tensor_offset(gguf, i) + gguf_get_tensor_size(gguf, i));
  }
  if (end > size) {
    fail(path,
         fmt::format("is truncated: it has {} of the {} bytes its header promises; download it again", size, end));
  }
}

// The byte that a token of GGUF's `rwkv` tokenizer stands for; -1 when it is longer. They are written with escapes.
int single_byte(std::string_view token) {
  if (token.size() == 1) return static_cast<unsigned char>(token[0]);
  if (token.size() == 4 && token.starts_with("\\x")) {
    int byte = -1;
    std::from_chars(token.data() + 2, token.data() + 4, byte, 16);
    return byte;
  }
  if (token.size() != 2 || token[0] != '\\') return -1;
  switch (token[1]) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case 'r':
      return '\r';
    default:
      return static_cast<unsigned char>(token[1]);
  }
}

// llama.cpp takes these for granted, and aborts or never returns otherwise.
void check_vocabulary(const std::string& path, const gguf_context* gguf, const std::string& tokenizer) {
  if (tokenizer == "none" || tokenizer == "no_vocab") fail(path, "has no vocabulary (tokenizer.ggml.model)");
  const std::int64_t key = gguf_find_key(gguf, "tokenizer.ggml.tokens");
  if (key < 0) return;  // llama.cpp says so itself
  const bool strings =
      gguf_get_kv_type(gguf, key) == GGUF_TYPE_ARRAY && gguf_get_arr_type(gguf, key) == GGUF_TYPE_STRING;
  if (!strings) fail(path, "is damaged: tokenizer.ggml.tokens is not a list of texts");
  const std::size_t size = gguf_get_arr_n(gguf, key);
  std::unordered_map<std::string_view, std::size_t> seen;
  std::array<bool, 256> bytes{};
  seen.reserve(size);
  for (std::size_t i = 0; i < size; ++i) {
    const std::string_view token = gguf_get_arr_str(gguf, key, i);
    if (const int byte = single_byte(token); byte >= 0) bytes[static_cast<std::size_t>(byte)] = true;
    const auto [other, fresh] = seen.emplace(token, i);
    if (!fresh && !token.empty()) {  // empty ones get names of their own
      fail(path, fmt::format("is damaged: tokens {} and {} are both '{}'", other->second, i,
                             printable(token.data(), std::min<std::size_t>(token.size(), 40))));
    }
  }
  if (tokenizer == "rwkv" && std::find(bytes.begin(), bytes.end(), false) != bytes.end()) {
    fail(path, fmt::format("is damaged: its vocabulary lacks byte {}",
                           std::find(bytes.begin(), bytes.end(), false) - bytes.begin()));
  }
}

// A number of the architecture's that models compute with, and what of it makes sense.
struct KnownReal {
  const char* suffix;
  double least;
  bool or_least;  // `least` itself will do
  double most;
};
constexpr double kMostReal = std::numeric_limits<float>::max();
constexpr KnownReal kKnownReals[] = {
    {"attention.layer_norm_rms_epsilon", 0, true, 1}, {"attention.layer_norm_epsilon", 0, true, 1},
    {"attention.group_norm_epsilon", 0, true, 1},     {"rope.freq_base", 0, false, kMostReal},
    {"rope.freq_base_swa", 0, false, kMostReal},      {"rope.scale_linear", 0, true, kMostReal},
    {"rope.scaling.factor", 0, true, kMostReal},      {"rope.scaling.attn_factor", 0, false, kMostReal},
};

// Element `index` of an array of floats, or the only one; nothing where it is of another type.
std::optional<double> real_at(gguf_type type, const void* data, std::size_t index) {
  if (type == GGUF_TYPE_FLOAT32) {
    float value = 0;
    std::memcpy(&value, static_cast<const char*>(data) + index * sizeof value, sizeof value);
    return value;
  }
  if (type != GGUF_TYPE_FLOAT64) return std::nullopt;
  double value = 0;
  std::memcpy(&value, static_cast<const char*>(data) + index * sizeof value, sizeof value);
  return value;
}

// llama.cpp asserts that norms have a sensible epsilon, in the first step of many; of the rest it makes predictions
// that are no numbers. We take them in single precision.
void check_reals(const std::string& path, const gguf_context* gguf, const std::string& architecture) {
  const std::string prefix = architecture + ".";
  for (std::int64_t key = 0; key < gguf_get_n_kv(gguf); ++key) {
    const std::string_view name = gguf_get_key(gguf, key);
    if (!name.starts_with(prefix)) continue;
    const gguf_type type = gguf_get_kv_type(gguf, key);
    if (type == GGUF_TYPE_STRING) continue;
    const bool list = type == GGUF_TYPE_ARRAY;
    const gguf_type element = list ? gguf_get_arr_type(gguf, key) : type;
    if (element == GGUF_TYPE_STRING) continue;
    const void* data = list ? gguf_get_arr_data(gguf, key) : gguf_get_val_data(gguf, key);
    const std::size_t count = list ? gguf_get_arr_n(gguf, key) : 1;
    for (std::size_t i = 0; i < count; ++i) {
      const std::optional<double> value = real_at(element, data, i);
      if (!value) break;
      if (std::isfinite(*value) && std::fabs(*value) <= kMostReal) continue;
      fail(path, fmt::format("is damaged: {} is {:g}, which is no number to compute with", name, *value));
    }
  }
  const GgufMetadata metadata(gguf);
  for (const KnownReal& known : kKnownReals) {
    const std::string name = prefix + known.suffix;
    const std::int64_t key = gguf_find_key(gguf, name.c_str());
    if (key < 0) continue;
    if (gguf_get_kv_type(gguf, key) == GGUF_TYPE_ARRAY) fail(path, fmt::format("is damaged: {} is a list", name));
    const std::optional<double> number = metadata.real(name);
    if (!number) fail(path, fmt::format("is damaged: {} is no number", name));
    const auto value = static_cast<double>(static_cast<float>(*number));  // which may be zero
    if ((value > known.least || (known.or_least && value == known.least)) && value <= known.most) continue;
    fail(path,
         fmt::format("is damaged: {} is {:g}; it must be {} {}{}", name, *number, known.or_least ? "at least" : "above",
                     known.least, known.most < kMostReal ? fmt::format(" and at most {}", known.most) : ""));
  }
}

// Types whose products with a row are, to the last bit, the same for any number of rows: checked by the engine's tests.
bool rounds_alike(ggml_type type) {
#if defined(__x86_64__)
  return type == GGML_TYPE_Q8_0 || type == GGML_TYPE_Q4_0;
#else
  (void)type;
  return false;
#endif
}

// Types that llama.cpp decodes into panels where there are eight rows or more.
bool has_panels(ggml_type type) {
  switch (type) {
    case GGML_TYPE_IQ1_S:
    case GGML_TYPE_IQ1_M:
    case GGML_TYPE_IQ2_XXS:
    case GGML_TYPE_IQ2_XS:
    case GGML_TYPE_IQ2_S:
    case GGML_TYPE_IQ3_XXS:
    case GGML_TYPE_IQ3_S:
    case GGML_TYPE_IQ4_XS:
      return true;
    default:
      return false;
  }
}

void classify_weights(const gguf_context* gguf, GgufFacts& facts) {
  for (std::int64_t i = 0; i < gguf_get_n_tensors(gguf); ++i) {
    const ggml_type type = gguf_get_tensor_type(gguf, i);
    const bool matrix = gguf_get_tensor_ne(gguf, i)[1] > 1;
    if (!matrix || rounds_alike(type)) continue;
    facts.lone_row_differs = true;
    // Four: what llama.cpp may repack.
    if (ggml_is_quantized(type)) facts.row_multiple = std::max(facts.row_multiple, has_panels(type) ? 8 : 4);
  }
}

}  // namespace

OpenGguf open_gguf(const std::string& path) {
  initialise_llama();
  const std::uintmax_t size = check_header(path);
  forget_llama_errors();
  GgufPtr gguf(gguf_init_from_file(path.c_str(), {.no_alloc = true, .ctx = nullptr}));
  if (!gguf) {
    const std::string why = last_llama_error();
    fail(path, "is a damaged or truncated GGUF file" + (why.empty() ? why : ": " + why));
  }
  check_size(path, gguf.get(), size);

  const GgufMetadata metadata(gguf.get());
  GgufFacts facts;
  facts.architecture = metadata.text("general.architecture");
  if (facts.architecture.empty()) fail(path, "is a GGUF file without general.architecture: not a language model");
  const bool split = metadata.number("split.count").value_or(1) > 1;
  if (gguf_get_n_tensors(gguf.get()) == 0 && !split) {
    fail(path, "holds a vocabulary only, no weights; a whole model is needed");
  }
  check_vocabulary(path, gguf.get(), metadata.text("tokenizer.ggml.model"));
  classify_weights(gguf.get(), facts);
  if (split) {  // the types in the other parts are not known
    facts.lone_row_differs = true;
    facts.row_multiple = 8;
  }
  facts.name = metadata.text("general.name");
  facts.description = metadata.text("general.description");

  check_reals(path, gguf.get(), facts.architecture);
  const auto key = [&](const char* suffix) { return facts.architecture + "." + suffix; };
  const std::int64_t blocks = metadata.number(key("block_count")).value_or(0);
  if (blocks < 1 || blocks > kMostLayers) {
    fail(path, fmt::format("has {} layers ({}); llama.cpp takes 1 to {}", blocks, key("block_count"), kMostLayers));
  }
  const std::int64_t embedding = metadata.number(key("embedding_length")).value_or(0);
  const std::int64_t experts = metadata.number(key("expert_count")).value_or(0);
  facts.experts = experts > 0;
  std::int64_t used_experts = 0;
  for (std::int64_t layer = 0; layer < blocks; ++layer) {
    const auto index = static_cast<std::size_t>(layer);
    const std::int64_t heads = metadata.number(key("attention.head_count"), index).value_or(0);
    const std::int64_t kv_heads = metadata.number(key("attention.head_count_kv"), index).value_or(heads);
    const std::int64_t usual = heads > 0 ? embedding / heads : 0;
    const std::int64_t key_length = metadata.number(key("attention.key_length")).value_or(usual);
    const std::int64_t value_length = metadata.number(key("attention.value_length")).value_or(usual);
    for (const std::int64_t length : {embedding, heads, kv_heads, key_length, value_length}) {
      if (length >= 0 && length <= kMostElements) continue;
      fail(path, fmt::format("is damaged: layer {} has a size of {}", layer, length));
    }
    used_experts = std::max(used_experts, metadata.number(key("expert_used_count"), index).value_or(0));
    facts.heads = std::max(facts.heads, heads);
    facts.key_length = std::max(facts.key_length, key_length);
    facts.value_length = std::max(facts.value_length, value_length);
    facts.layers.push_back({.key_width = kv_heads * key_length, .value_width = kv_heads * value_length});
  }

  if (used_experts > experts || (used_experts == 0 && experts > 0)) {
    fail(path,
         fmt::format("is damaged: it uses {} of {} experts ({})", used_experts, experts, key("expert_used_count")));
  }
  const std::string scaling = metadata.text(key("rope.scaling.type"));
  constexpr std::array<std::string_view, 5> kScalings = {"", "none", "linear", "yarn", "longrope"};
  if (std::find(kScalings.begin(), kScalings.end(), scaling) == kScalings.end()) {
    fail(path, fmt::format("has {} = '{}', which llama.cpp does not know", key("rope.scaling.type"),
                           printable(scaling.data(), std::min<std::size_t>(scaling.size(), 40))));
  }

  // llama.cpp asserts it for these.
  const bool rotates_all =
      facts.architecture == "qwen2" || facts.architecture == "qwen3" || facts.architecture == "llama";
  const std::int64_t rotated = metadata.number(key("rope.dimension_count")).value_or(facts.key_length);
  if (rotates_all && rotated != facts.key_length) {
    fail(path, fmt::format("has {} = {}; its heads have {} elements", key("rope.dimension_count"), rotated,
                           facts.key_length));
  }

  facts.token_types = metadata.numbers("tokenizer.ggml.token_type");
  for (const char* name :
       {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"}) {
    if (const auto id = metadata.number(name)) facts.end_tokens.push_back(static_cast<std::int32_t>(*id));
  }
  return {.facts = std::move(facts), .header = std::move(gguf)};
}

GgufFacts read_gguf(const std::string& path) { return open_gguf(path).facts; }

}  // namespace dts
