#include "cli/model_loader.h"

#include <filesystem>
#include <utility>

#include "cli/engine_choice.h"
#include "cli/output.h"
#include "dts/error.h"
#include "dts/llama.h"
#include "dts/native.h"

namespace dts::cli {

std::string LoadedModel::id() const {
  return file_.get().stand_in ? "random" : std::filesystem::path(path()).stem().string();
}

std::unique_ptr<LoadedModel> load_model(const ModelFlags& flags, const LoadingHooks& hooks) {
  ModelFile file = flags.path.empty() ? find_builtin_model() : ModelFile{flags.path};
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
    const EngineTaken taken = choose_engine(flags, file.path);
    if (!taken.why.empty() && !hooks.quiet) print_note(taken.why);
    std::unique_ptr<Model> model;
    if (taken.engine == EngineChoice::kLlama) {
      model = std::make_unique<LlamaModel>(options);
    } else {
      const auto device = taken.engine == EngineChoice::kNative ? NativeDevice::kCuda : NativeDevice::kCpu;
      model = std::make_unique<NativeModel>(
          NativeModelOptions{.path = file.path, .device = device, .on_load = options.on_load});
    }
    return std::make_unique<LoadedModel>(std::move(file), std::move(model));
  } catch (const Error&) {
    if (file.temporary) ModelFileGuard(std::move(file));  // removes it
    if (stopped) return nullptr;
    throw;
  }
}

}  // namespace dts::cli
