#include "native/expanded_model.h"

#include <ggml.h>
#include <gguf.h>

#include <memory>
#include <stdexcept>

#include "support/llama_models.h"

namespace dts {
namespace {

struct GgufDeleter {
  void operator()(gguf_context* file) const { gguf_free(file); }
};
struct GgmlDeleter {
  void operator()(ggml_context* tensors) const { ggml_free(tensors); }
};
using Gguf = std::unique_ptr<gguf_context, GgufDeleter>;
using Tensors = std::unique_ptr<ggml_context, GgmlDeleter>;

void expand(const ggml_tensor& from, float* to) {
  const std::int64_t n = ggml_nelements(&from);
  if (from.type == GGML_TYPE_F32) {
    std::copy_n(static_cast<const float*>(from.data), n, to);
    return;
  }
  ggml_get_type_traits(from.type)->to_float(from.data, to, n);
}

}  // namespace

std::string write_expanded_model(const std::string& path, const std::string& name) {
  ggml_context* read = nullptr;
  const Gguf source(gguf_init_from_file(path.c_str(), {.no_alloc = false, .ctx = &read}));
  const Tensors tensors(read);
  if (!source || !tensors) throw std::runtime_error(path + ": cannot be read");
  std::size_t bytes = 0;
  for (ggml_tensor* t = ggml_get_first_tensor(read); t != nullptr; t = ggml_get_next_tensor(read, t)) {
    bytes += static_cast<std::size_t>(ggml_nelements(t)) * sizeof(float) + ggml_tensor_overhead() + 64;
  }
  const Tensors expanded(ggml_init({.mem_size = bytes, .mem_buffer = nullptr, .no_alloc = false}));
  const Gguf file(gguf_init_empty());
  gguf_set_kv(file.get(), source.get());
  for (std::int64_t i = 0; i < gguf_get_n_tensors(source.get()); ++i) {
    const char* tensor_name = gguf_get_tensor_name(source.get(), i);
    const ggml_tensor* from = ggml_get_tensor(read, tensor_name);
    ggml_tensor* to = ggml_new_tensor(expanded.get(), GGML_TYPE_F32, ggml_n_dims(from), from->ne);
    ggml_set_name(to, tensor_name);
    expand(*from, static_cast<float*>(to->data));
    gguf_add_tensor(file.get(), to);
  }
  const std::string out = scratch_file(name + ".gguf");
  if (!gguf_write_to_file(file.get(), out.c_str(), false)) throw std::runtime_error(out + ": cannot be written");
  return out;
}

}  // namespace dts
