#include "engine/llama/llama_model.h"

#include <fmt/format.h>
#include <ggml-backend.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <exception>
#include <filesystem>
#include <optional>
#include <string_view>
#include <type_traits>

#include "base/machine.h"
#include "dts/error.h"
#include "engine/llama/llama_engine.h"
#include "engine/llama/log.h"
#include "engine/llama/memory_plan.h"

namespace dts {
namespace {

// The engine forks branches by copying KV cells; models that keep anything else cannot be forked that way.
void check_kind(const llama_model* model, const LlamaModelImpl& impl) {
  const char* why = nullptr;
  if (llama_model_is_recurrent(model) || llama_model_is_hybrid(model)) why = "keeps a recurrent state";
  if (llama_model_is_diffusion(model)) why = "is a diffusion model";
  if (llama_model_has_encoder(model) || !llama_model_has_decoder(model)) why = "is not a decoder alone";
  if (why == nullptr) return;
  throw Error(fmt::format("{}: architecture '{}' {}; decoders with attention only can be run", impl.path,
                          impl.facts.architecture, why));
}

std::string metadata(const llama_model* model, const char* key) {
  std::array<char, 256> value{};
  return llama_model_meta_val_str(model, key, value.data(), value.size()) > 0 ? value.data() : std::string();
}

std::optional<float> metadata_number(const llama_model* model, llama_model_meta_key key) {
  const char* name = llama_model_meta_key_str(key);
  const std::string text = name == nullptr ? std::string() : metadata(model, name);
  float value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end != text.data() ? std::optional(value) : std::nullopt;
}

// Names are printed to terminals, and come from files that anybody may have written.
std::string printable(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return std::iscntrl(static_cast<unsigned char>(c)) != 0; }, ' ');
  return text;
}

bool contains_folded(std::string_view text, std::string_view word) {
  std::string folded;
  for (const char c : text) {
    const bool letter = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (letter) folded += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return folded.find(word) != std::string::npos;
}

// What the makers recommend for their reasoning models, for files that do not say it themselves.
RecommendedSampling family_recommendation(std::string_view name, std::string_view architecture) {
  if (contains_folded(name, "r1distill") || contains_folded(name, "deepseekr1")) {
    return {{.temperature = 0.6F, .top_p = 0.95F}, "DeepSeek-R1 family"};
  }
  if (contains_folded(name, "phi4")) return {{.temperature = 0.8F, .top_p = 0.95F}, "Phi-4 reasoning family"};
  const SamplingOptions qwen = {.temperature = 0.6F, .top_k = 20, .top_p = 0.95F};
  if (architecture.starts_with("qwen3") && contains_folded(name, "qwen3")) return {qwen, "Qwen3 family"};
  if (contains_folded(name, "qwq")) return {qwen, "QwQ family"};
  return {{}, "defaults"};
}

// The file's own words win over its family's.
RecommendedSampling recommendation(const llama_model* model, std::string_view name, std::string_view architecture) {
  RecommendedSampling out = family_recommendation(name, architecture);
  SamplingOptions& sampling = out.options;
  bool said = false;
  const auto take = [&](llama_model_meta_key key, auto is_valid, auto& target) {
    const auto value = metadata_number(model, key);
    if (!value || !is_valid(*value)) return;
    target = static_cast<std::remove_reference_t<decltype(target)>>(*value);
    said = true;
  };
  take(
      LLAMA_MODEL_META_KEY_SAMPLING_TEMP, [](float v) { return v >= 0 && std::isfinite(v); }, sampling.temperature);
  take(
      LLAMA_MODEL_META_KEY_SAMPLING_TOP_K, [](float v) { return v >= 0 && v < 0x1p31F; }, sampling.top_k);
  take(
      LLAMA_MODEL_META_KEY_SAMPLING_TOP_P, [](float v) { return v > 0 && v <= 1; }, sampling.top_p);
  take(
      LLAMA_MODEL_META_KEY_SAMPLING_MIN_P, [](float v) { return v >= 0 && v <= 1; }, sampling.min_p);
  if (said) out.source = out.source == "defaults" ? "model file" : "model file, else " + out.source;
  return out;
}

ModelInfo describe(const LlamaModelImpl& impl) {
  const llama_model* model = impl.model.get();
  ModelInfo info;
  info.name = printable(impl.facts.name.empty() ? std::filesystem::path(impl.path).stem().string() : impl.facts.name);
  info.architecture = impl.facts.architecture;
  info.description = printable(impl.facts.description);
  info.training_context = llama_model_n_ctx_train(model);
  info.parameters = static_cast<std::int64_t>(llama_model_n_params(model));
  info.size_bytes = static_cast<std::int64_t>(llama_model_size(model));
  info.most_branches = kMostBranches;
  return info;
}

// What decides the last bits of logits, for records.
std::vector<std::pair<std::string, std::string>> engine_settings(const LlamaModelImpl& impl,
                                                                 const LlamaEngineOptions& options) {
  const ContextSettings context = context_settings(impl, options);
  const auto layers = static_cast<int>(impl.facts.layers.size());  // one more is the output head
  const bool all = impl.gpu_layers < 0 || impl.gpu_layers > layers;
  return {{"kv_type", std::string(name_of(options.kv_type))},
          {"kv", options.kv_layout == KvLayout::kStreams ? "streams" : "unified"},
          {"flash_attention", context.flash_attention ? "true" : "false"},
          {"batch_invariant", (context.row_multiple > 1 ? fmt::format("rows in multiples of {}", context.row_multiple)
                               : context.least_rows > 1 ? fmt::format("at least {} rows", context.least_rows)
                                                        : "rows as they come") +
                                  (context.lone_rows_alone ? ", a search's only row alone" : "")},
          {"gpu_layers", !impl.on_gpu ? "none"
                         : all        ? "all"
                                      : fmt::format("{}", impl.gpu_layers)}};
}

}  // namespace

bool llama_has_gpu() {
  initialise_llama();
  for (std::size_t i = 0; i < ggml_backend_dev_count(); ++i) {
    const auto type = ggml_backend_dev_type(ggml_backend_dev_get(i));
    if (type == GGML_BACKEND_DEVICE_TYPE_GPU || type == GGML_BACKEND_DEVICE_TYPE_IGPU) return true;
  }
  return false;
}

LlamaModel::LlamaModel(const LlamaModelOptions& options) : impl_(std::make_unique<LlamaModelImpl>()) {
  initialise_llama();
  impl_->path = options.path;
  impl_->facts = read_gguf(options.path);

  llama_model_params params = llama_model_default_params();
  std::array<ggml_backend_dev_t, 1> no_devices = {nullptr};
  params.vocab_only = options.vocabulary_only;
  const bool use_gpu = options.gpu_layers != 0 && !options.vocabulary_only && llama_has_gpu();
  params.n_gpu_layers = use_gpu ? options.gpu_layers : 0;
  if (!use_gpu) params.devices = no_devices.data();  // else a GPU would still be used for large batches
  struct Progress {
    const std::function<bool(float)>* report;
    bool aborted = false;
  } progress{&options.on_load};
  if (options.on_load) {
    params.progress_callback_user_data = &progress;
    params.progress_callback = [](float done, void* data) {
      auto* state = static_cast<Progress*>(data);
      state->aborted = !(*state->report)(done);
      return !state->aborted;
    };
  }

  const std::int64_t available_before = available_memory();
  forget_llama_errors();
  std::string why;
  try {
    impl_->model.reset(llama_model_load_from_file(options.path.c_str(), params));
  } catch (const std::exception& error) {
    why = error.what();
  }
  if (progress.aborted) throw Error(options.path + ": loading was cancelled");
  if (!impl_->model) {
    if (why.empty()) why = last_llama_error();
    throw Error(fmt::format("{}: cannot load the model{}", options.path, why.empty() ? why : ": " + why));
  }
  check_kind(impl_->model.get(), *impl_);
  impl_->gpu_layers = options.gpu_layers;
  impl_->vocabulary_only = options.vocabulary_only;
  impl_->engine = options.engine;
  impl_->on_gpu = use_gpu;
  impl_->info = describe(*impl_);
  const std::int64_t taken = std::max<std::int64_t>(0, available_before - available_memory());
  impl_->mapped_bytes = std::max<std::int64_t>(0, impl_->info.size_bytes - taken);
  impl_->vocabulary = std::make_unique<LlamaVocabulary>(impl_->model.get(), impl_->facts, options.path);
  if (impl_->vocabulary->size() < 1) throw Error(options.path + ": the model has no vocabulary");
}

LlamaModel::~LlamaModel() = default;

const ModelInfo& LlamaModel::info() const { return impl_->info; }

const Vocabulary& LlamaModel::vocabulary() const { return *impl_->vocabulary; }

RecommendedSampling LlamaModel::recommended_sampling() const {
  return recommendation(impl_->model.get(), info().name, info().architecture);
}

EnginePlan LlamaModel::plan_engine(const EngineRequest& request) const {
  if (impl_->vocabulary_only) throw Error(impl_->path + ": was loaded for its vocabulary only");
  LlamaEngineOptions options = impl_->engine;
  options.max_branches = request.max_branches;
  options.context_length = request.context_length;
  options.lone_rows_alone = !request.throughput;
  const MemoryPlan memory = plan_memory(*this, options);
  EnginePlan plan;
  plan.context_length = memory.context_length;
  plan.needed_bytes = memory.needed_bytes();
  plan.available_bytes = memory.available_bytes;
  plan.settings = engine_settings(*impl_, options);
  plan.description = memory.to_string();
  plan.make = [this, options, memory] { return make_llama_engine_as_planned(*this, options, memory); };
  return plan;
}

const LlamaModelImpl& impl_of(const LlamaModel& model) { return *model.impl_; }

}  // namespace dts
