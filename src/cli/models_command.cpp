// `dts models`: what is on this machine, whether it fits its memory, and what it recommends.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/machine.h"
#include "cli/arguments.h"
#include "cli/builtin_model.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "dts/error.h"
#include "dts/llama.h"
#include "engine/llama/gguf_file.h"
#include "hub/gguf_choice.h"
#include "hub/hub_cache.h"
#include "hub/hub_settings.h"
#include "text/display.h"
#include "text/numbers.h"

namespace dts::cli {
namespace {

// A question of eight branches with 4,096 tokens each: what a model should have room for beside its weights.
constexpr std::int64_t kUsefulTokens = std::int64_t{8} * 4096;

struct LocalModel {
  std::string name;  // "built-in", "ORG/REPO:QUANT"
  std::string how;   // the flags that take it; empty: none are needed
  std::string path;
  std::int64_t bytes = 0;
  std::size_t parts = 1;
  bool random_stand_in = false;
  // Read from the file:
  std::string error;  // why it could not be; the rest is then not known
  std::string title;
  std::string architecture;
  std::int64_t kv_bytes = 0;  // of one token of one branch
  RecommendedSampling sampling;

  std::int64_t room(std::int64_t available) const {
    return kv_bytes > 0 ? std::max<std::int64_t>(0, (available - bytes) / kv_bytes) : 0;
  }
  const char* fits(std::int64_t available) const {
    if (!error.empty()) return "?";
    if (bytes >= available) return "no";
    return room(available) >= kUsefulTokens ? "yes" : "tight";
  }
};

void read_facts(LocalModel& model) {
  try {
    const GgufFacts facts = read_gguf(model.path);
    for (const LayerGeometry& layer : facts.layers) model.kv_bytes += 2 * (layer.key_width + layer.value_width);  // f16
    const LlamaModel vocabulary({.path = model.path, .gpu_layers = 0, .vocabulary_only = true});
    model.title = vocabulary.info().name;
    model.architecture = vocabulary.info().architecture;
    model.sampling = vocabulary.recommended_sampling();
  } catch (const Error& error) {
    model.error = error.what();
  }
}

std::vector<LocalModel> cached_models(const std::string& cache) {
  std::vector<LocalModel> models;
  for (const std::string& repo : hub::cached_repos(cache)) {
    const hub::RepoCache folder(cache, repo);
    const auto [commit, files] = folder.newest_snapshot();
    for (const hub::GgufModel& gguf : hub::gguf_models(files)) {
      LocalModel model;
      model.name = gguf.quant.empty() ? repo : repo + ":" + gguf.quant;
      model.how = gguf.quant.empty() ? fmt::format("-hf {} --hf-file {}", repo, gguf.path()) : "-hf " + model.name;
      model.path = folder.snapshot(commit, gguf.path());
      model.bytes = gguf.bytes();
      model.parts = gguf.parts.size();
      models.push_back(std::move(model));
    }
  }
  return models;
}

std::string sampling_text(const LocalModel& model) {
  const SamplingOptions& sampling = model.sampling.options;
  std::string text = fmt::format("temp {:g}", sampling.temperature);
  if (sampling.top_k > 0) text += fmt::format(", top-k {}", sampling.top_k);
  if (sampling.top_p < 1) text += fmt::format(", top-p {:g}", sampling.top_p);
  if (sampling.min_p > 0) text += fmt::format(", min-p {:g}", sampling.min_p);
  return fmt::format("{} ({})", text, model.sampling.source);
}

nlohmann::json to_json(const LocalModel& model, std::int64_t available) {
  nlohmann::json out = {{"name", model.name},   {"flags", model.how},   {"path", model.path},
                        {"bytes", model.bytes}, {"parts", model.parts}, {"fits", model.fits(available)}};
  if (model.random_stand_in) out["random_weights"] = true;
  if (!model.error.empty()) {
    out["error"] = model.error;
    return out;
  }
  const SamplingOptions& sampling = model.sampling.options;
  out["title"] = model.title;
  out["architecture"] = model.architecture;
  out["kv_bytes_per_token"] = model.kv_bytes;
  out["room_tokens"] = model.room(available);
  out["sampling"] = {{"temperature", sampling.temperature},
                     {"top_k", sampling.top_k},
                     {"top_p", sampling.top_p},
                     {"min_p", sampling.min_p},
                     {"source", model.sampling.source}};
  return out;
}

std::string to_text(const LocalModel& model, std::int64_t available) {
  const std::string size = text::binary_bytes(model.bytes);
  std::string out = text::one_line(model.name) + "\n";
  if (!model.error.empty()) return out + fmt::format("    {}: {}\n", size, text::one_line(model.error));
  out += fmt::format("    {}{}, {} ({})\n", size, model.parts > 1 ? fmt::format(" in {} files", model.parts) : "",
                     text::one_line(model.title), text::one_line(model.architecture));
  const std::string fits = model.fits(available);
  if (fits == "no") {
    out += fmt::format("    does not fit: {} of weights, {} of memory\n", size, text::binary_bytes(available));
  } else {
    out += fmt::format("    fits{}: beside the weights there is room for {} tokens over all branches\n",
                       fits == "tight" ? " tightly" : "", text::grouped(model.room(available)));
  }
  out += fmt::format("    recommends {}\n", text::one_line(sampling_text(model)));
  if (model.random_stand_in) out += "    its weights are random, and its answers mean nothing\n";
  return out + (model.how.empty() ? "    dts run \"...\"\n" : fmt::format("    dts run {} \"...\"\n", model.how));
}

int list_models(bool json) {
  const hub::HubSettings settings = hub::hub_settings([](const char* name) { return getenv(name); });
  const ModelFileGuard guard(find_builtin_model());
  LocalModel built_in;
  built_in.name = "built-in";
  built_in.path = guard.get().path;
  built_in.random_stand_in = guard.get().stand_in;
  std::error_code ignored;
  built_in.bytes = static_cast<std::int64_t>(std::filesystem::file_size(built_in.path, ignored));
  std::vector<LocalModel> models = {std::move(built_in)};
  for (LocalModel& model : cached_models(settings.cache)) models.push_back(std::move(model));
  for (LocalModel& model : models) read_facts(model);

  const std::int64_t available = available_memory();
  if (json) {
    nlohmann::json out = {
        {"cache", settings.cache}, {"available_bytes", available}, {"models", nlohmann::json::array()}};
    for (const LocalModel& model : models) out["models"].push_back(to_json(model, available));
    write_stdout(out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
    return kExitAnswered;
  }
  std::string text = fmt::format("{} of memory can be taken; the hub's cache is {}\n\n", text::binary_bytes(available),
                                 text::one_line(settings.cache));
  for (const LocalModel& model : models) text += to_text(model, available);
  if (models.size() == 1) text += "\nThe cache has no GGUF models yet: dts run -hf ORG/REPO \"...\" brings one.\n";
  write_stdout(text);
  return kExitAnswered;
}

}  // namespace

void add_models_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("models", "list the models of this machine: sizes, memory, sampling");
  command->footer(
      "The built-in model, and what the Hugging Face hub's cache has (HF_HOME, HF_HUB_CACHE) as GGUF. A model fits\n"
      "where there is room for eight branches of 4,096 tokens beside its weights.");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "as JSON");
  command->callback([json, &exit_code] { exit_code = list_models(*json); });
}

}  // namespace dts::cli
