#include "bench/bare_loop.h"

#include <llama.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "dts/error.h"
#include "engine/llama/llama_context.h"

namespace dts::bench {

struct BareLoop::Impl {
  BareLoopOptions options;
  int n_vocab = 0;
  llama_context* context = nullptr;
  ggml_threadpool* threadpool = nullptr;
  llama_batch batch{};
  int position = 0;  // tokens every sequence holds

  ~Impl() {
    if (batch.token != nullptr) llama_batch_free(batch);
    if (context != nullptr) llama_free(context);
    if (threadpool != nullptr) ggml_threadpool_free(threadpool);
  }

  void add(llama_token token, int at, llama_seq_id sequence, bool logits) {
    const int i = batch.n_tokens++;
    batch.token[i] = token;
    batch.pos[i] = at;
    batch.n_seq_id[i] = 1;
    batch.seq_id[i][0] = sequence;
    batch.logits[i] = logits ? 1 : 0;
  }

  void decode() {
    const int rc = llama_decode(context, batch);
    if (rc != 0) throw Error("the bare loop's llama_decode failed with code " + std::to_string(rc));
    llama_synchronize(context);
  }
};

namespace {
constexpr int kPrefill = 512;
// Varied, so that no kernel is lucky; any token will do.
llama_token some_token(int position, int sequence, int n_vocab) {
  return static_cast<llama_token>((1000 + position * 31 + sequence * 17) % n_vocab);
}
}  // namespace

BareLoop::BareLoop(llama_model* model, const BareLoopOptions& options) : impl_(std::make_unique<Impl>()) {
  impl_->options = options;
  impl_->n_vocab = llama_vocab_n_tokens(llama_model_get_vocab(model));
  llama_context_params params = llama_context_default_params();
  params.n_seq_max = static_cast<std::uint32_t>(options.branches);
  params.n_ctx = static_cast<std::uint32_t>(options.context * options.branches);
  params.kv_unified = options.kv_layout == KvLayout::kUnified;
  params.type_k = params.type_v = ggml_type_of(options.kv_type);
  params.n_batch = kPrefill;
  params.n_ubatch = kPrefill;
  params.n_outputs_max = static_cast<std::uint32_t>(options.branches);
  params.n_outputs_max_per_seq = 1;
  params.n_threads = options.threads;
  params.n_threads_batch = options.threads;
  params.flash_attn_type = options.flash_attention ? LLAMA_FLASH_ATTN_TYPE_ENABLED : LLAMA_FLASH_ATTN_TYPE_DISABLED;
  impl_->context = llama_init_from_model(model, params);
  if (impl_->context == nullptr) throw Error("the bare loop's context could not be made");
  ggml_threadpool_params pool = ggml_threadpool_params_default(options.threads);
  // The two are measured in turn: by default the pool would go on spinning into the other's step.
  pool.poll = 0;
  impl_->threadpool = ggml_threadpool_new(&pool);
  llama_attach_threadpool(impl_->context, impl_->threadpool, impl_->threadpool);
  impl_->batch = llama_batch_init(std::max(kPrefill, options.branches), 0, 1);
}

BareLoop::~BareLoop() = default;

void BareLoop::fill(int tokens) {
  llama_memory_t memory = llama_get_memory(impl_->context);
  llama_memory_clear(memory, true);
  for (int done = 0; done < tokens; done += kPrefill) {
    impl_->batch.n_tokens = 0;
    const int end = std::min(tokens, done + kPrefill);
    for (int i = done; i < end; ++i) impl_->add(some_token(i, 0, impl_->n_vocab), i, 0, i + 1 == tokens);
    impl_->decode();
  }
  if (tokens > 0) {
    for (int s = 1; s < impl_->options.branches; ++s) llama_memory_seq_cp(memory, 0, s, -1, -1);
  }
  impl_->position = tokens;
}

double BareLoop::step() {
  const auto start = std::chrono::steady_clock::now();
  impl_->batch.n_tokens = 0;
  for (int s = 0; s < impl_->options.branches; ++s) {
    impl_->add(some_token(impl_->position, s, impl_->n_vocab), impl_->position, s, true);
  }
  impl_->decode();
  if (llama_get_logits_ith(impl_->context, 0) == nullptr) throw Error("the bare loop got no logits");
  ++impl_->position;
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace dts::bench
