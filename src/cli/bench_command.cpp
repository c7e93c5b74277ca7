// `dts bench`: our step against a bare llama.cpp loop, measured in one run.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/machine.h"
#include "bench/gpu_bench.h"
#include "bench/load_bench.h"
#include "bench/step_bench.h"
#include "cli/arguments.h"
#include "cli/builtin_model.h"
#include "cli/commands.h"
#include "cli/hub_model.h"
#include "cli/interrupt.h"
#include "cli/model_options.h"
#include "cli/output.h"
#include "cli/remote_bench_command.h"
#include "cli/truncation_bench_command.h"
#include "dts/error.h"
#include "dts/native.h"
#include "engine/random/random_model.h"

namespace dts::cli {
namespace {

struct BenchFlags {
  ModelFlags model;
  std::string geometry = "1.5b";
  int layers = 4;
  std::string weights = "q8_0";
  bench::StepBenchOptions bench;
  bool load = false;
  bool gpu = false;
  bench::GpuBenchOptions gpu_bench;
  bool no_peers = false;
  bool json = false;
  TruncationFlags truncation;
  RemoteBenchFlags remote;
};

std::vector<int> parse_list(const std::string& flag, const std::string& text, int least, int most) {
  std::vector<int> values;
  std::istringstream stream(text);
  for (std::string item; std::getline(stream, item, ',');) {
    values.push_back(static_cast<int>(parse_integer(flag, item, least, most)));
  }
  if (values.empty()) throw usage_error(flag + " is empty: it must be numbers with commas between them");
  return values;
}

// Thrown to leave the benchmark after a Ctrl-C, by way of what cleans up.
struct BenchInterrupted {};

void stop_if_interrupted() {
  if (Interrupt::requested()) throw BenchInterrupted();
}

// The model on llama.cpp, and on the engine whose steps are ours where that is another.
struct BenchModels {
  std::unique_ptr<LlamaModel> llama;
  std::unique_ptr<NativeModel> ours;
};

ModelFile random_or_given_file(const BenchFlags& flags) {
  if (!flags.model.path.empty()) return {flags.model.path};
  RandomModelOptions random = random_model_preset(flags.geometry, flags.layers);
  random.weight_type = flags.weights;
  return write_random_model_file(random);
}

// A model of random weights exists as a file only until it is loaded.
BenchModels load_random_or_given(const BenchFlags& flags) {
  const ModelFileGuard guard(random_or_given_file(flags));
  stop_if_interrupted();
  LlamaModelOptions options;
  options.path = guard.get().path;
  options.gpu_layers = flags.model.gpu_layers;
  BenchModels models;
  models.llama = std::make_unique<LlamaModel>(options);
  if (flags.model.choice == EngineChoice::kNativeCpu) {
    const int threads = flags.model.threads > 0 ? flags.model.threads : usable_cores();
    models.ours = std::make_unique<NativeModel>(
        NativeModelOptions{.path = options.path, .device = NativeDevice::kCpu, .threads = threads});
  }
  return models;
}

double ms(double seconds) { return seconds * 1e3; }

constexpr const char* kHeader =
    "branches  private   bare ms   ours ms   ratio    model ms  stats ms  book ms   fork ms  fork/step\n";

std::string row(const bench::StepTimes& t) {
  return fmt::format("{:>8}  {:>7}  {:>8.2f}  {:>8.2f}  {:>6.3f}  {:>9.2f}  {:>8.3f}  {:>7.3f}  {:>8.3f}  {:>9.3f}\n",
                     t.branches, t.private_tokens, ms(t.bare), ms(t.ours), t.ratio, ms(t.model), ms(t.statistics),
                     ms(t.bookkeeping), ms(t.fork), t.fork / t.ours);
}

nlohmann::json to_json(const bench::StepBenchResult& result, const LlamaModel& model) {
  nlohmann::json out;
  out["model"] = {{"name", model.info().name},
                  {"architecture", model.info().architecture},
                  {"parameters", model.info().parameters}};
  out["threads"] = result.threads;
  for (const bench::StepTimes& t : result.steps) {
    out["steps"].push_back({{"branches", t.branches},
                            {"private_tokens", t.private_tokens},
                            {"bare_s", t.bare},
                            {"ours_s", t.ours},
                            {"ours_fastest_s", t.fastest},
                            {"ratio", t.ratio},
                            {"model_s", t.model},
                            {"statistics_s", t.statistics},
                            {"bookkeeping_s", t.bookkeeping},
                            {"fork_s", t.fork}});
  }
  const bench::StatisticsTimes& s = result.statistics;
  out["statistics"] = {{"rows", s.rows},
                       {"n_vocab", s.n_vocab},
                       {"oracle_s", s.oracle},
                       {"fast_s", s.fast},
                       {"ratio", s.oracle / s.fast}};
  for (const bench::LinearFit& fit : result.fits) {
    out["fits"].push_back({{"branches", fit.branches},
                           {"base_s", fit.base},
                           {"slope_s_per_attended_token", fit.slope},
                           {"r_squared", fit.r_squared}});
  }
  return out;
}

nlohmann::json to_json(const bench::RunTime& run) { return {{"seconds", run.seconds}, {"tokens", run.tokens}}; }

nlohmann::json to_json(const bench::GpuBenchResult& result) {
  nlohmann::json out;
  for (const bench::GpuStep& s : result.steps) {
    out["steps"].push_back({{"geometry", s.geometry},
                            {"trees", s.shape.trees},
                            {"branches", s.shape.branches},
                            {"private_tokens", s.shape.private_tokens},
                            {"kv_type", name_of(s.shape.kv)},
                            {"step_s", s.step},
                            {"floor_s", s.floor},
                            {"llama_s", s.peer},
                            {"kv_bytes_per_token", s.kv_bytes},
                            {"kv_ideal_bytes_per_token", s.kv_ideal}});
  }
  for (const bench::GpuRoom& r : result.rooms) {
    out["rooms"].push_back({{"geometry", r.geometry},
                            {"kv_type", name_of(r.kv)},
                            {"token_bytes", r.token_bytes},
                            {"kv_bytes", r.kv_bytes},
                            {"questions_of_48_x_8192", r.questions}});
  }
  for (const bench::ChainAndTree& c : result.chains) {
    out["chains"].push_back({{"tokens", c.tokens},
                             {"tree", to_json(c.tree)},
                             {"chain", to_json(c.chain)},
                             {"llama_chain", to_json(c.peer_chain)}});
  }
  for (const bench::Questions& q : result.questions) {
    out["questions"].push_back({{"questions", q.questions},
                                {"tokens", q.tokens},
                                {"together", to_json(q.together)},
                                {"one_by_one", to_json(q.one_by_one)}});
  }
  return out;
}

double rate(const bench::RunTime& run) { return static_cast<double>(run.tokens) / run.seconds; }

// What was measured, as it comes.
bench::GpuBenchWatch gpu_tables() {
  bench::GpuBenchWatch watch;
  watch.on_step = [](const bench::GpuStep& s) {
    const int rows = s.shape.trees * s.shape.branches;
    const std::string peer = s.peer > 0 ? fmt::format("{:>9.3f}  {:>7.2f}", ms(s.peer), s.peer / s.step)
                                        : fmt::format("{:>9}  {:>7}", "-", "-");
    write_stdout(
        fmt::format("{:<12} {:>5} x {:<8}  {:>7}  {:>4}  {:>9.3f}  {:>8.3f}  {:>7.2f}  {}  {:>8.0f}  {:>10.3f}\n",
                    s.geometry, s.shape.trees, s.shape.branches, s.shape.private_tokens, name_of(s.shape.kv),
                    ms(s.floor), ms(s.step), s.step / s.floor, peer, rows / s.step, s.kv_bytes / s.kv_ideal));
    stop_if_interrupted();
  };
  watch.on_room = [](const bench::GpuRoom& r) {
    write_stdout(
        fmt::format("{:<12} {:.1f} GB are left for KV, {:.1f} kB a token in {}: {} questions of 48 branches with 8192 "
                    "tokens each\n",
                    r.geometry, r.kv_bytes / 1e9, r.token_bytes / 1e3, name_of(r.kv), r.questions));
    stop_if_interrupted();
  };
  watch.on_chain = [](const bench::ChainAndTree& c) {
    std::string text = fmt::format("{} tokens: DTS-Greedy with 48 branches {:.2f} s, one chain {:.2f} s", c.tokens,
                                   c.tree.seconds, c.chain.seconds);
    if (c.peer_chain.seconds > 0) {
      text += fmt::format("; on llama.cpp {:.2f} s: the tree takes {:.2f} of it", c.peer_chain.seconds,
                          c.tree.seconds / c.peer_chain.seconds);
    }
    write_stdout(text + "\n");
    stop_if_interrupted();
  };
  watch.on_questions = [](const bench::Questions& q) {
    write_stdout(fmt::format(
        "{} questions of 48 branches with {} tokens: {:.0f} tokens/s at once, {:.0f} one after another: "
        "{:.2f} times as many\n",
        q.questions, q.tokens, rate(q.together), rate(q.one_by_one), rate(q.together) / rate(q.one_by_one)));
    stop_if_interrupted();
  };
  return watch;
}

int measure_gpu(const bench::GpuBenchOptions& options, bool json) {
  if (json) {
    bench::GpuBenchWatch watch;
    watch.on_step = [](const bench::GpuStep&) { stop_if_interrupted(); };
    write_stdout(to_json(bench::run_gpu_bench(options, watch)).dump(2) + "\n");
    return kExitAnswered;
  }
  write_stdout(
      "geometry     trees x branches  private    KV   floor ms   step ms  x floor   llama ms   x ours  tokens/s  KV x "
      "ideal\n");
  bench::run_gpu_bench(options, gpu_tables());
  return kExitAnswered;
}

// The native engine on the GPU, beside what memory alone would cost, and beside llama.cpp where that has the GPU, too.
int bench_gpu(BenchFlags& flags) {
  if (const std::string why = why_no_native_gpu(); !why.empty()) throw Error("--gpu: " + why);
  bench::GpuBenchOptions& options = flags.gpu_bench;
  if (options.profiled) {
    options.geometries = {options.peer_geometry};
    options.cases = {{1, 48, 256}, {1, 48, 1024}, {1, 48, 4096}};
    options.steps = 1;
    options.runs = false;
    return measure_gpu(options, flags.json);
  }
  const auto& names = options.geometries;
  if (flags.no_peers || std::find(names.begin(), names.end(), options.peer_geometry) == names.end()) {
    return measure_gpu(options, flags.json);
  }
  if (!bench::llama_has_gpu()) {
    print_note("llama.cpp was built without CUDA: it is not measured beside");
    return measure_gpu(options, flags.json);
  }
  flags.geometry = options.peer_geometry;
  flags.layers = 0;
  flags.weights = "f16";
  flags.model.path.clear();
  const BenchModels peer = load_random_or_given(flags);
  options.peer = peer.llama.get();
  return measure_gpu(options, flags.json);
}

bench::StepBenchResult measure(const BenchFlags& flags, const BenchModels& models, const std::string& before) {
  bench::StepBenchOptions options = flags.bench;
  options.ours = models.ours.get();
  return bench::run_step_bench(
      *models.llama, options,
      [&](const bench::StepTimes& times) {
        if (!flags.json) write_stdout(before + row(times));
      },
      stop_if_interrupted);
}

nlohmann::json to_json(const bench::LoadTimes& times) {
  return {{"model_s", times.model}, {"first_token_s", times.first_token}, {"last_token_s", times.last_token}};
}

// From a file's name to tokens.
int bench_load(const BenchFlags& flags) {
  const ModelFileGuard guard(random_or_given_file(flags));
  stop_if_interrupted();
  if (const std::string why = why_not_native_cpu(guard.get().path); !why.empty()) throw Error("--load: " + why);
  const bench::LoadBenchOptions options{
      .path = guard.get().path, .threads = flags.model.threads, .rounds = flags.remote.rounds};
  const bench::LoadBenchResult result = bench::run_load_bench(options, stop_if_interrupted);
  if (flags.json) {
    const nlohmann::json out = {{"rounds", options.rounds},
                                {"tokens", options.tokens},
                                {"llama", to_json(result.llama)},
                                {"native_cpu", to_json(result.ours)}};
    return write_stdout(out.dump(2) + "\n"), kExitAnswered;
  }
  const auto line = [](const char* name, const bench::LoadTimes& t) {
    return fmt::format("{:<12}{:>8.2f} {:>12.2f} {:>11.2f}\n", name, t.model, t.first_token, t.last_token);
  };
  const bench::LoadTimes& a = result.llama;
  const bench::LoadTimes& b = result.ours;
  return write_stdout(fmt::format("seconds     loaded  first token   {} tokens\n", options.tokens) +
                      line("llama.cpp", a) + line("native-cpu", b) +
                      line("more", {b.model - a.model, b.first_token - a.first_token, b.last_token - a.last_token})),
         kExitAnswered;
}

// The types that people have files of: what a step costs beside bare llama.cpp depends on them more than on anything.
int bench_all_weights(const BenchFlags& flags) {
  nlohmann::json out;
  if (!flags.json) write_stdout(fmt::format("{:<9}{}", "weights", kHeader));
  for (const char* type : {"f16", "bf16", "q8_0", "q4_0", "q6_K", "q5_K", "q4_K", "q3_K", "q2_K", "iq4_nl", "iq4_xs",
                           "iq3_xxs", "iq2_xxs"}) {
    BenchFlags one = flags;
    one.weights = type;
    one.bench.private_tokens = {flags.bench.private_tokens.front()};
    const BenchModels models = load_random_or_given(one);
    const bench::StepBenchResult result = measure(one, models, fmt::format("{:<9}", type));
    if (flags.json) out[type] = to_json(result, *models.llama);
  }
  if (flags.json) write_stdout(out.dump(2) + "\n");
  return kExitAnswered;
}

int bench(BenchFlags& flags) {
  flags.model.path = *model_path(flags.model, {});
  flags.model.hub_repo.clear();
  if (flags.gpu) return bench_gpu(flags);
  if (flags.remote.chosen) return bench_remote(flags.model, flags.remote, flags.json, stop_if_interrupted);
  if (flags.load) return bench_load(flags);
  if (flags.truncation.chosen) return bench_truncation(flags.model, flags.truncation, flags.json, stop_if_interrupted);
  if (flags.model.context_size != 0) {
    throw usage_error("--ctx-size has no place here: the context is made for --private and --steps");
  }
  flags.bench.engine = flags.model.engine(0, 0);
  flags.bench.engine.lone_rows_alone = true;  // as `run` and `serve` do
  if (flags.weights == "all" && flags.model.path.empty()) return bench_all_weights(flags);
  const BenchModels models = load_random_or_given(flags);
  const LlamaModel& model = *models.llama;
  std::string text = fmt::format("{} ({}), {:.0f} M parameters\n", model.info().name, model.info().architecture,
                                 static_cast<double>(model.info().parameters) / 1e6);
  if (!flags.json) write_stdout(text + kHeader);
  const bench::StepBenchResult result = measure(flags, models, "");
  if (flags.json) return write_stdout(to_json(result, model).dump(2) + "\n"), kExitAnswered;

  const bench::StatisticsTimes& s = result.statistics;
  text = fmt::format(
      "\nstatistics of {} rows of {} logits: {:.2f} ms, {:.1f}x faster than the scalar oracle ({:.1f} ms)\n", s.rows,
      s.n_vocab, ms(s.fast), s.oracle / s.fast, ms(s.oracle));
  for (const bench::LinearFit& fit : result.fits) {
    text += fmt::format("{:>3} branches: step = {:.2f} ms + {:.1f} ns x attended tokens, r^2 = {:.4f}\n", fit.branches,
                        ms(fit.base), fit.slope * 1e9, fit.r_squared);
  }
  return write_stdout(text), kExitAnswered;
}

}  // namespace

void add_bench_command(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<BenchFlags>();
  CLI::App* command = app.add_subcommand("bench", "measure our step against a bare llama.cpp loop on the same model");
  add_model_options(*command, flags->model);
  add_value(*command, "--geometry", "NAME", "without -m: random weights of this geometry (1.5b)",
            [flags](const std::string& text) { flags->geometry = text; });
  add_value(
      *command, "--layers", "N", "without -m: layers of that model, 0 for all it has (4)",
      [flags](const std::string& text) { flags->layers = static_cast<int>(parse_integer("--layers", text, 0, 200)); });
  add_value(*command, "--weights", "TYPE", "without -m: ggml type of the weights, or all: every common one (q8_0)",
            [flags](const std::string& text) { flags->weights = text; });
  add_value(
      *command, "--branches", "N,N,...", "branches that step together (1,2,4,8,48)",
      [flags](const std::string& text) { flags->bench.branches = parse_list("--branches", text, 1, kMostBranches); });
  add_value(
      *command, "--private", "N,N,...", "tokens each branch holds (0,256,1024,2048)",
      [flags](const std::string& text) { flags->bench.private_tokens = parse_list("--private", text, 0, 1 << 20); });
  add_value(*command, "--steps", "N", "measured steps of each (9)", [flags](const std::string& text) {
    flags->bench.steps = static_cast<int>(parse_integer("--steps", text, 1, 10000));
  });
  command->add_flag("--gpu", flags->gpu,
                    "the native engine on the GPU: random weights in the geometries of real models, against the time "
                    "that memory alone would take");
  add_value(*command, "--geometries", "NAME,NAME,...", "with --gpu: only these (1.5b,7b,qwen3-0.6b,phi-4-mini)",
            [flags](const std::string& text) {
              flags->gpu_bench.geometries.clear();
              std::istringstream stream(text);
              for (std::string item; std::getline(stream, item, ',');) flags->gpu_bench.geometries.push_back(item);
            });
  command->add_flag("--no-peers", flags->no_peers, "with --gpu: without llama.cpp beside it");
  command->add_flag(
      "--one-step", flags->gpu_bench.profiled,
      "with --gpu: one step of 48 branches with 256, 1,024 and 4,096 tokens, for ncu --profile-from-start off");
  command->add_flag("--no-runs{false}", flags->gpu_bench.runs, "with --gpu: steps alone, without whole runs");
  command->add_flag("--truncation", flags->truncation.chosen,
                    "how often a server's few log-probabilities would decide as this model's whole distribution does");
  add_value(
      *command, "--seen", "N,N,...", "with --truncation: log-probabilities that are seen (5,20,50,100)",
      [flags](const std::string& text) { flags->truncation.candidates = parse_list("--seen", text, 1, 1 << 20); });
  command->add_flag(
      "--remote", flags->remote.chosen,
      "with --engine and --url: what a tree costs over the server, against plain streams of as many tokens");
  add_value(*command, "--questions", "N", "with --remote: problems that are asked (10)",
            [flags](const std::string& text) {
              flags->remote.questions = static_cast<int>(parse_integer("--questions", text, 1, 30));
            });
  command->add_flag("--load", flags->load,
                    "from a file's name to its first tokens, the native engine on the CPU beside llama.cpp");
  add_value(*command, "--rounds", "N", "with --remote: times each is asked; with --load: loads of each (3)",
            [flags](const std::string& text) {
              flags->remote.rounds = static_cast<int>(parse_integer("--rounds", text, 1, 10000));
            });
  add_value(*command, "--tree-branches", "N", "with --remote: branches of a tree (8)",
            [flags](const std::string& text) {
              flags->remote.branches = static_cast<int>(parse_integer("--tree-branches", text, 2, kMostBranches));
            });
  command->add_flag("--json", flags->json, "one JSON document instead of the table");
  command->callback([flags, &exit_code] {
    const Interrupt interrupt;
    try {
      exit_code = bench(*flags);
    } catch (const BenchInterrupted&) {
      print_error("interrupted");
      exit_code = kExitInterrupted;
    }
  });
}

}  // namespace dts::cli
