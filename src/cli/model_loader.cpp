#include "cli/model_loader.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <utility>

#include "cli/hub_model.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/spelling.h"
#include "dts/error.h"
#include "dts/llama.h"
#include "dts/local_model.h"
#include "dts/remote.h"

namespace dts::cli {

std::string LoadedModel::id() const {
  if (path().empty()) return model_->info().name;
  if (file_.get().stand_in) return "random";
  std::string name = std::filesystem::path(path()).stem().string();
  // "-00001-of-00003" is about the file, not about the model.
  constexpr std::string_view kPart = "-00001-of-";
  const std::size_t part = name.rfind(kPart);
  if (part != std::string::npos && part > 0 && part + kPart.size() + 5 == name.size()) name.resize(part);
  return name;
}

RemoteModelOptions remote_model_options(const ModelFlags& flags) {
  if (!flags.path.empty() || !flags.hub_repo.empty()) {
    throw usage_error("--model goes with a model in this process: with --engine and --url the server has it");
  }
  if (flags.remote.urls.empty()) throw usage_error("--url is missing: --engine says that the model is on a server");
  RemoteModelOptions options;
  switch (flags.choice) {
    case EngineChoice::kVllm:
      options.kind = RemoteKind::kVllm;
      break;
    case EngineChoice::kSglang:
      options.kind = RemoteKind::kSglang;
      break;
    case EngineChoice::kOpenai:
      options.kind = RemoteKind::kOpenai;
      break;
    default:
      options.kind = RemoteKind::kLlamaServer;
  }
  options.urls = flags.remote.urls;
  if (const std::string& variable = flags.remote.api_key_variable; !variable.empty()) {
    const bool is_name =
        std::all_of(variable.begin(), variable.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
    // It may be the key itself: that is not shown.
    if (!is_name) throw usage_error("--api-key-env is no variable's name: it must be the one that holds the key");
    const char* key = std::getenv(variable.c_str());
    if (key == nullptr || *key == '\0') {
      throw usage_error(fmt::format("--api-key-env is {}: there is no such variable in the environment", variable));
    }
    options.api_key = key;
  }
  options.served_model = flags.remote.served_model;
  options.candidates = flags.remote.candidates;
  options.logprobs = flags.remote.logprobs;
  options.stall_timeout = flags.remote.stall_timeout;
  options.first_token_timeout = flags.remote.first_token_timeout;
  options.patience = flags.remote.patience;
  return options;
}

namespace {

// Each branch is a connection where servers speak HTTP/1: as many as the system allows us.
void allow_connections() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

LocalEngine local_engine(EngineChoice choice) {
  switch (choice) {
    case EngineChoice::kLlama:
      return LocalEngine::kLlama;
    case EngineChoice::kNative:
      return LocalEngine::kNative;
    case EngineChoice::kNativeCpu:
      return LocalEngine::kNativeCpu;
    case EngineChoice::kNativeOracle:
      return LocalEngine::kNativeOracle;
    default:
      return LocalEngine::kAuto;
  }
}

std::unique_ptr<LoadedModel> connect(const ModelFlags& flags, const LoadingHooks& hooks) {
  RemoteModelOptions options = remote_model_options(flags);
  allow_connections();
  std::unique_ptr<Model> tokenizer;
  if (!flags.remote.tokenizer.empty()) {
    tokenizer = std::make_unique<LlamaModel>(LlamaModelOptions{.path = flags.remote.tokenizer, .gpu_layers = 0});
    options.vocabulary = &tokenizer->vocabulary();
  }
  // Only while it is loaded: what the hooks know may be gone later.
  struct Loading {
    std::atomic<bool> over = false;
    std::atomic<bool> stopped = false;
  };
  const auto loading = std::make_shared<Loading>();
  options.stopping = [loading, stopping = hooks.stopping] {
    if (!loading->over && (stopping ? stopping() : Interrupt::requested())) loading->stopped = true;
    return loading->stopped.load();
  };
  try {
    std::unique_ptr<Model> model = make_remote_model(options);
    loading->over = true;
    return std::make_unique<LoadedModel>(ModelFile{}, std::move(model), std::move(tokenizer));
  } catch (const Error&) {
    if (hooks.stopping && loading->stopped) return nullptr;
    throw;
  }
}

}  // namespace

std::unique_ptr<LoadedModel> load_model(const ModelFlags& flags, const LoadingHooks& hooks) {
  if (flags.is_remote()) return connect(flags, hooks);
  if (!flags.remote.urls.empty()) {
    throw usage_error("--url goes with --engine vllm, sglang, llama-server or openai");
  }
  const std::optional<std::string> path = model_path(flags, hooks);
  if (!path) return nullptr;
  ModelFile file = path->empty() ? find_builtin_model() : ModelFile{*path};
  if (file.stand_in && !hooks.quiet) {
    print_note(
        "there is no built-in model here; a tiny one with random weights stands in, and its answers mean nothing");
  }
  bool stopped = false;
  LlamaModelOptions options;
  options.path = file.path;
  options.gpu_layers = flags.gpu_layers;
  options.engine = flags.engine(options.engine.max_branches, options.engine.context_length);
  options.on_load = [&](float fraction) {
    if (hooks.progress) hooks.progress(fraction);
    stopped = stopped || (hooks.stopping && hooks.stopping());
    return !stopped;
  };
  try {
    const LocalChoice choice = choose_local_engine({.engine = local_engine(flags.choice), .model = options});
    if (!choice.note.empty() && !hooks.quiet) print_note(Error(choice.note).spelled(flag_of));
    std::unique_ptr<Model> model = open_local_model(options, choice.engine);
    return std::make_unique<LoadedModel>(std::move(file), std::move(model));
  } catch (const Error&) {
    if (file.temporary) ModelFileGuard(std::move(file));  // removes it
    if (stopped) return nullptr;
    throw;
  }
}

}  // namespace dts::cli
