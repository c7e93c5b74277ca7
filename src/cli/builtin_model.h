// The model that answers when no -m is given.
#pragma once

#include <string>
#include <utility>

#include "engine/random/random_model.h"

namespace dts::cli {

struct ModelFile {
  std::string path;
  bool stand_in = false;   // random weights: there is no built-in model on this machine
  bool temporary = false;  // written for this process, which removes it
};

// The first of: $DTS_BUILTIN_MODEL; share/dts/dts-nano.gguf beside the directory of this program; the source tree it
// was built from. When none is there, writes a tiny model with random weights, so that everything can be tried.
ModelFile find_builtin_model();

// A temporary file with a model of random weights. Throws when it cannot be written, and leaves nothing behind.
ModelFile write_random_model_file(const RandomModelOptions& options);

// A file that comes with the built-in model, such as nano-bench.jsonl, from the same places. Throws when it is not
// there.
std::string find_builtin_data(const std::string& name);

// Removes a temporary model file. On Linux a model stays usable while it is mapped.
class ModelFileGuard {
 public:
  explicit ModelFileGuard(ModelFile file) : file_(std::move(file)) {}
  ~ModelFileGuard();
  ModelFileGuard(const ModelFileGuard&) = delete;
  ModelFileGuard& operator=(const ModelFileGuard&) = delete;
  const ModelFile& get() const { return file_; }

 private:
  ModelFile file_;
};

}  // namespace dts::cli
