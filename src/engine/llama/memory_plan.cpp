#include "engine/llama/memory_plan.h"

#include <fmt/format.h>
#include <ggml-backend.h>
#include <ggml.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "base/machine.h"
#include "dts/error.h"
#include "engine/llama/tiers.h"

namespace dts {
namespace {

constexpr int kFirstStreams = 8;
constexpr std::int64_t kMostCells =
    std::int64_t{std::numeric_limits<std::int32_t>::max()} / kCellQuantum * kCellQuantum;
constexpr int kLeastContext = 512;  // below it, "as much as memory allows" is too little to be of use

// Forks copy whole streams, so a CPU starts with short ones; a GPU copies fast but grows through the host.
int first_cells(bool on_gpu) { return on_gpu ? 4096 : 512; }

std::int64_t round_up(std::int64_t tokens) { return (tokens + kCellQuantum - 1) / kCellQuantum * kCellQuantum; }

constexpr int kMostSequences = 256;  // of llama.cpp

// Streams above those of the branches, for padding.
int spare_streams(const ContextSettings& settings) { return std::max(1, settings.least_rows - 1); }

std::string human(std::int64_t bytes) {
  const double kibibytes = static_cast<double>(bytes) / 1024.0;
  if (kibibytes < 1024.0) return fmt::format("{:.1f} KiB", kibibytes);
  return kibibytes < 1024.0 * 1024.0 ? fmt::format("{:.1f} MiB", kibibytes / 1024.0)
                                     : fmt::format("{:.1f} GiB", kibibytes / (1024.0 * 1024.0));
}

std::int64_t kv_bytes_per_cell(const GgufFacts& facts, ggml_type type) {
  std::size_t bytes = 0;
  for (const LayerGeometry& layer : facts.layers) {
    bytes += ggml_row_size(type, layer.key_width) + ggml_row_size(type, layer.value_width);
  }
  return static_cast<std::int64_t>(bytes);
}

// Scores and masks of one evaluation, activations, and the rows of logits in the graph and in the output.
std::int64_t compute_bytes(const LlamaModelImpl& model, const ContextSettings& settings, std::int64_t attended) {
  const std::int64_t mask = attended * settings.ubatch * 4 * 2;
  const std::int64_t scores = settings.flash_attention ? 0 : attended * settings.ubatch * model.facts.heads * 4 * 2;
  const std::int64_t width = llama_model_n_embd(model.model.get());
  const std::int64_t activations = std::int64_t{settings.ubatch} * width * 4 * 32;
  const std::int64_t logits = std::int64_t{settings.outputs} * model.vocabulary->size() * 4 * 2;
  return mask + scores + activations + logits;
}

std::int64_t device_memory(const LlamaModelImpl& model) {
  if (!model.on_gpu) {
    // Mapped weights count as available, and would be pushed out by a KV cache that took their place.
    return std::max<std::int64_t>(0, available_memory() - model.mapped_bytes);
  }
  std::size_t total_free = 0;
  for (std::size_t i = 0; i < ggml_backend_dev_count(); ++i) {
    ggml_backend_dev_t device = ggml_backend_dev_get(i);
    const auto type = ggml_backend_dev_type(device);
    if (type != GGML_BACKEND_DEVICE_TYPE_GPU && type != GGML_BACKEND_DEVICE_TYPE_IGPU) continue;
    std::size_t free = 0;
    std::size_t total = 0;
    ggml_backend_dev_memory(device, &free, &total);
    total_free += free;
  }
  return static_cast<std::int64_t>(total_free);
}

class Planner {
 public:
  Planner(const LlamaModel& model, const LlamaEngineOptions& options, std::int64_t available)
      : model_(impl_of(model)), options_(options), settings_(context_settings(model_, options)) {
    base_.layout = options.kv_layout;
    base_.kv_type = options.kv_type;
    base_.flash_attention = settings_.flash_attention;
    base_.spare_streams = spare_streams(settings_);
    base_.streams = options.max_branches + base_.spare_streams;
    base_.bytes_per_cell = kv_bytes_per_cell(model_.facts, settings_.kv_type);
    base_.available_bytes = available;
    // A context chosen for the user leaves room for what others will want, and for what the estimates miss.
    usable_ = options.context_length > 0 ? available : available - available / 10;
  }

  MemoryPlan plan(int context_length) const {
    MemoryPlan plan = base_;
    plan.context_length = context_length;
    const auto per_branch = static_cast<int>(round_up(std::int64_t{context_length} + 1));  // and a padding token
    const int first = first_cells(model_.on_gpu);
    std::int64_t attended = 0;
    if (settings_.unified) {
      plan.cells = pool_cells(context_length, per_branch);
      plan.first_streams = plan.streams;
      plan.first_cells = tier_for(std::min(plan.cells, first * 4), plan.cells, kCellQuantum);
      plan.kv_bytes = plan.bytes_per_cell * plan.cells;
      attended = plan.cells;
    } else {
      plan.cells = per_branch;
      plan.first_streams = tier_for(std::min(plan.streams, kFirstStreams), plan.streams, 1);
      plan.first_cells = tier_for(std::min(plan.cells, first), plan.cells, kCellQuantum);
      plan.kv_bytes = plan.bytes_per_cell * plan.cells * plan.streams;
      attended = plan.cells;
    }
    plan.growth_bytes = growth(plan);
    plan.compute_bytes = compute_bytes(model_, settings_, attended);
    return plan;
  }

  bool fits(int context_length) const {
    const MemoryPlan candidate = plan(context_length);
    const std::int64_t cells = std::int64_t{candidate.cells} * (settings_.unified ? 1 : candidate.streams);
    return candidate.needed_bytes() <= usable_ && cells <= kMostCells;
  }

  // The longest context up to `most` that fits; 0 when none does.
  int longest_fit(int most) const {
    if (fits(most)) return most;
    int low = 0;  // in units of the quantum: fits
    int high = most / kCellQuantum + 1;
    while (high - low > 1) {
      const int middle = low + (high - low) / 2;
      (fits(middle * kCellQuantum - 1) ? low : high) = middle;
    }
    return low == 0 ? 0 : low * kCellQuantum - 1;
  }

  [[noreturn]] void refuse(int context_length, int longest) const {
    const MemoryPlan wanted = plan(context_length);
    std::string advice = fmt::format("lower {} or {}", option_name("context_length"), option_name("max_tokens"));
    if (longest > 0) advice += fmt::format(" (up to {} tokens fit)", longest);
    if (options_.max_branches > 1) {
      advice += fmt::format(", take fewer branches ({}, {} or {})", option_name("max_branches"), option_name("votes"),
                            option_name("samples"));
    }
    if (options_.kv_type != KvType::kQ8_0) advice += fmt::format(", use {} q8_0", option_name("kv_type"));
    if (options_.kv_layout == KvLayout::kStreams && options_.max_branches > 1) {
      advice += fmt::format(", use {} unified", option_name("kv_layout"));
    }
    throw Error(fmt::format("{} {} of {} tokens need {}, and {} are free on the {}: {}", options_.max_branches,
                            options_.max_branches == 1 ? "branch" : "branches", context_length,
                            human(wanted.needed_bytes()), human(wanted.available_bytes),
                            model_.on_gpu ? "GPU" : "machine", advice));
  }

 private:
  // A pool shares what branches share, so it need not hold them all at full length: as much as there is memory for.
  int pool_cells(int context_length, std::int64_t per_branch) const {
    const std::int64_t all = round_up(std::int64_t{context_length} * options_.max_branches + 1);
    const std::int64_t most = std::clamp(all, per_branch, std::max(per_branch, kMostCells));
    const std::int64_t fixed = compute_bytes(model_, settings_, 0);
    const std::int64_t computed = compute_bytes(model_, settings_, 1) - fixed;
    const std::int64_t cell = base_.bytes_per_cell + base_.bytes_per_cell / 2 + computed;  // a half more while it grows
    const std::int64_t fit = (usable_ - fixed) / std::max<std::int64_t>(1, cell);
    return static_cast<int>(std::clamp(fit / kCellQuantum * kCellQuantum, per_branch, most));
  }

  // What is carried over while growing to the last tier, beside the new cache: a host's copy of the used cells.
  std::int64_t growth(const MemoryPlan& plan) const {
    if (model_.on_gpu) return 0;
    const std::int64_t cells = plan.first_cells < plan.cells ? tier_below(plan.cells, kCellQuantum) : 0;
    if (settings_.unified) return cells * plan.bytes_per_cell;
    const std::int64_t streams = plan.first_streams < plan.streams ? tier_below(plan.streams, 1) : 0;
    return std::max(cells * plan.streams, streams * plan.cells) * plan.bytes_per_cell;
  }

  const LlamaModelImpl& model_;
  const LlamaEngineOptions& options_;
  ContextSettings settings_;
  MemoryPlan base_;
  std::int64_t usable_ = 0;  // bytes, of those available
};

}  // namespace

void validate(const LlamaEngineOptions& options) {
  if (options.max_branches < 1 || options.max_branches > kMostBranches) {
    throw out_of_range("max_branches", fmt::format("{}", options.max_branches),
                       fmt::format("between 1 and {}", kMostBranches));
  }
  if (options.context_length < 0 || options.context_length > (1 << 24)) {
    throw out_of_range("context_length", fmt::format("{}", options.context_length),
                       fmt::format("between 0 (as the model and memory allow) and {}", 1 << 24));
  }
  if (options.threads < 0 || options.threads > GGML_MAX_N_THREADS) {
    throw out_of_range("threads", fmt::format("{}", options.threads),
                       fmt::format("between 0 (one per core) and {}", GGML_MAX_N_THREADS));
  }
}

ContextSettings context_settings(const LlamaModelImpl& model, const LlamaEngineOptions& options) {
  validate(options);
  const bool quantised = options.kv_type == KvType::kQ8_0;
  if (quantised && options.flash_attention == Toggle::kOff) {
    const std::string flag = option_name("kv_type");
    throw usage_error(fmt::format("{} q8_0 needs flash attention; do not turn it off, or use {} f16", flag, flag));
  }
  const std::int64_t block = ggml_blck_size(GGML_TYPE_Q8_0);
  if (quantised && (model.facts.key_length % block != 0 || model.facts.value_length % block != 0)) {
    throw usage_error(fmt::format("{} q8_0 needs heads of a multiple of {} elements; the model's have {}; use f16",
                                  option_name("kv_type"), block, model.facts.key_length));
  }
  ContextSettings settings;
  settings.unified = options.kv_layout == KvLayout::kUnified;
  settings.kv_type = ggml_type_of(options.kv_type);
  // Without it, one pool's scores would be rows x all cells x heads; with it they are never stored.
  const bool automatic = model.on_gpu || quantised || settings.unified;
  settings.flash_attention =
      options.flash_attention == Toggle::kAuto ? automatic : options.flash_attention == Toggle::kOn;
  // Flash attention splits a lone row's work among threads.
  const bool lone_row_differs = model.facts.lone_row_differs || settings.flash_attention;
  const bool reproducible = !model.on_gpu && !settings.unified && !model.facts.experts;
  const int multiple = model.facts.row_multiple;
  // Padding wants sequences of its own, and llama.cpp has no more.
  const bool possible = options.max_branches + multiple - 1 <= kMostSequences;
  const bool wanted = options.batch_invariant == Toggle::kAuto ? reproducible : options.batch_invariant == Toggle::kOn;
  settings.batch_invariant = reproducible && multiple == 1 && !lone_row_differs;  // without any padding
  if (wanted && possible) {
    settings.row_multiple = multiple;
    settings.least_rows = multiple > 1 ? multiple : (lone_row_differs ? 2 : 1);
    settings.lone_rows_alone =
        options.lone_rows_alone && options.batch_invariant == Toggle::kAuto && settings.least_rows > 1;
    settings.batch_invariant = reproducible;
  }
  settings.outputs = options.max_branches + spare_streams(settings);  // llama.cpp wants one a sequence at least
  // Scores and masks are reserved for ubatch x cells. On a CPU more than 128 tokens at once prefill no faster; a GPU
  // wants more, and has no scores to keep.
  settings.ubatch = std::max((settings.outputs + 63) / 64 * 64, model.on_gpu ? 512 : 128);
  settings.batch = settings.ubatch;  // the most that a cancelled prefill still computes
  return settings;
}

std::string MemoryPlan::to_string() const {
  const bool pool = layout == KvLayout::kUnified;
  std::string text = fmt::format(
      "KV cache: {}, {}, {} a token{}\n", pool ? "one pool of cells" : "one stream a branch", name_of(kv_type),
      human(bytes_per_cell),
      flash_attention ? (kv_type == KvType::kQ8_0 ? ", flash attention (q8_0 needs it)" : ", flash attention") : "");
  if (pool) {
    text += fmt::format("  starts with {} cells, grows to {} for {} branches of up to {} tokens\n", first_cells, cells,
                        streams - spare_streams, context_length);
  } else {
    text += fmt::format("  starts with {} streams of {} cells, grows to {} of {} ({} tokens a branch)\n", first_streams,
                        first_cells, streams, cells, context_length);
  }
  text += fmt::format("  at most {}: {} cache, {} while growing, {} to compute\n", human(needed_bytes()),
                      human(kv_bytes), human(growth_bytes), human(compute_bytes));
  text += fmt::format("  of {} free\n", human(available_bytes));
  return text;
}

MemoryPlan plan_memory_within(const LlamaModel& model, const LlamaEngineOptions& options, std::int64_t available) {
  const Planner planner(model, options, available);
  const int training = std::max(model.info().training_context, 1);
  if (options.context_length > 0) {
    if (!planner.fits(options.context_length)) {
      planner.refuse(options.context_length, planner.longest_fit(options.context_length));
    }
    return planner.plan(options.context_length);
  }
  const int longest = planner.longest_fit(training);
  if (longest < std::min(training, kLeastContext)) planner.refuse(std::min(training, kLeastContext), longest);
  return planner.plan(longest);
}

MemoryPlan plan_memory(const LlamaModel& model, const LlamaEngineOptions& options) {
  return plan_memory_within(model, options, device_memory(impl_of(model)));
}

}  // namespace dts
