#include "engine/llama/llama_context.h"

#include <fmt/format.h>
#include <ggml-backend.h>
#include <ggml-cpu.h>

#include <exception>
#include <string>

#include "dts/error.h"
#include "engine/llama/log.h"

namespace dts {
namespace {

// The CPU backend may be a library of its own, so its functions are asked for by name.
template <typename Function>
Function* cpu_function(const char* name) {
  ggml_backend_dev_t cpu = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
  if (cpu == nullptr) return nullptr;
  return reinterpret_cast<Function*>(ggml_backend_reg_get_proc_address(ggml_backend_dev_backend_reg(cpu), name));
}

}  // namespace

ModelThreads::ModelThreads(int threads) : threads_(threads) {
  auto* make = cpu_function<decltype(ggml_threadpool_new)>("ggml_threadpool_new");
  if (make == nullptr) return;
  ggml_threadpool_params params = ggml_threadpool_params_default(threads);
  // Threads that poll after an evaluation take the cores from the statistics that follow it.
  params.poll = 0;
  pool_ = make(&params);
}

ModelThreads::~ModelThreads() {
  if (pool_ == nullptr) return;
  if (auto* free = cpu_function<decltype(ggml_threadpool_free)>("ggml_threadpool_free")) free(pool_);
}

ggml_type ggml_type_of(KvType type) {
  switch (type) {
    case KvType::kBf16:
      return GGML_TYPE_BF16;
    case KvType::kQ8_0:
      return GGML_TYPE_Q8_0;
    case KvType::kF16:
      break;
  }
  return GGML_TYPE_F16;
}

std::string_view name_of(KvType type) { return ggml_type_name(ggml_type_of(type)); }

LlamaContext::LlamaContext(const LlamaModelImpl& model, const ContextSettings& settings, const ModelThreads& threads,
                           int sequences, int cells, const Interruption* interruption)
    : sequences_(sequences), cells_(cells) {
  llama_context_params params = llama_context_default_params();
  params.n_ctx = static_cast<std::uint32_t>(settings.unified ? cells : sequences * cells);
  params.n_batch = static_cast<std::uint32_t>(settings.batch);
  params.n_ubatch = static_cast<std::uint32_t>(settings.ubatch);
  params.n_seq_max = static_cast<std::uint32_t>(sequences);
  params.n_outputs_max = static_cast<std::uint32_t>(settings.outputs);
  params.n_outputs_max_per_seq = 1;
  params.n_threads = threads.threads();
  params.n_threads_batch = threads.threads();
  params.flash_attn_type = settings.flash_attention ? LLAMA_FLASH_ATTN_TYPE_ENABLED : LLAMA_FLASH_ATTN_TYPE_DISABLED;
  params.type_k = settings.kv_type;
  params.type_v = settings.kv_type;
  params.kv_unified = settings.unified;
  // Sliding windows keep all their cells: a branch must be able to fork at any length.
  params.swa_full = true;

  if (interruption != nullptr) {
    params.abort_callback_data = const_cast<Interruption*>(interruption);  // only read
    params.abort_callback = [](void* data) { return static_cast<const Interruption*>(data)->due(); };
  }

  forget_llama_errors();
  std::string why;
  try {
    context_ = llama_init_from_model(model.model.get(), params);
  } catch (const std::exception& error) {
    why = error.what();
  }
  if (context_ == nullptr) {
    if (why.empty()) why = last_llama_error();
    throw Error(fmt::format("{}: llama.cpp cannot make a context of {} branches x {} tokens: {}", model.path, sequences,
                            cells, why));
  }
  if (threads.get() != nullptr) llama_attach_threadpool(context_, threads.get(), threads.get());
}

LlamaContext::~LlamaContext() { llama_free(context_); }

void Batch::add(Token token, int position, llama_seq_id sequence, bool output) {
  tokens_.push_back(token);
  positions_.push_back(position);
  sequences_.push_back(sequence);
  outputs_.push_back(output ? 1 : 0);
}

int Batch::decode(llama_context* context) {
  sequence_counts_.assign(tokens_.size(), 1);
  sequence_lists_.clear();
  for (llama_seq_id& sequence : sequences_) sequence_lists_.push_back(&sequence);
  const llama_batch batch = {.n_tokens = size(),
                             .token = tokens_.data(),
                             .embd = nullptr,
                             .pos = positions_.data(),
                             .n_seq_id = sequence_counts_.data(),
                             .seq_id = sequence_lists_.data(),
                             .logits = outputs_.data()};
  forget_llama_errors();
  try {
    const int code = llama_decode(context, batch);
    llama_synchronize(context);
    return code;
  } catch (const std::exception& error) {
    throw Error(fmt::format("the model failed on {} tokens: {}", size(), error.what()));
  }
}

}  // namespace dts
