// The one place where commands get a model: which file, which engine, and what is said about it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "cli/builtin_model.h"
#include "cli/model_options.h"
#include "dts/model.h"
#include "dts/remote.h"

namespace dts::cli {

class LoadedModel {
 public:
  // `beneath`: what the model stands on and must not outlive.
  LoadedModel(ModelFile file, std::unique_ptr<Model> model, std::unique_ptr<Model> beneath = nullptr)
      : file_(std::move(file)), beneath_(std::move(beneath)), model_(std::move(model)) {}

  const Model& operator*() const { return *model_; }
  const Model* operator->() const { return model_.get(); }

  const std::string& path() const { return file_.get().path; }  // empty: it is no file of this machine
  // A short name for an API: the file's, without its ending; a server's own. Any bytes.
  std::string id() const;

 private:
  ModelFileGuard file_;
  std::unique_ptr<Model> beneath_;
  std::unique_ptr<Model> model_;
};

struct LoadingHooks {
  std::function<void(float)> progress = nullptr;  // 0..1
  std::function<bool()> stopping = nullptr;       // asked during the loading: true ends it
  bool quiet = false;                             // no notes
};

// Flags of a model on servers as the library's options, the key from the environment; without the tokenizer.
RemoteModelOptions remote_model_options(const ModelFlags& flags);

// Null when it was stopped. Throws dts::Error naming the file and what is wrong with it.
std::unique_ptr<LoadedModel> load_model(const ModelFlags& flags, const LoadingHooks& hooks);

}  // namespace dts::cli
