// `dts serve`: the OpenAI API with a tree behind it.
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>
#include <sstream>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/decoding_flags.h"
#include "cli/interrupt.h"
#include "cli/model_loader.h"
#include "cli/model_options.h"
#include "cli/output.h"
#include "dts/error.h"
#include "dts/llama.h"
#include "dts/model.h"
#include "io/whole_file.h"
#include "serve/http/http_server.h"
#include "serve/http/server_log.h"
#include "serve/http/signals.h"
#include "serve/page/assets.h"
#include "serve/service.h"
#include "text/display.h"

namespace dts::cli {
namespace {

using namespace text;

using Clock = std::chrono::steady_clock;

constexpr int kSmallLane = 4;

struct ServeFlags {
  ServeFlags() { limits.small_lane = kSmallLane; }

  serve::HttpServerOptions http;
  serve::Limits limits;
  serve::AccessOptions access;
  std::string key_file;
  std::string admin_key_file;
  bool unprotected = false;
  std::string alias;
  std::optional<int> parallel;
  std::optional<int> limit_branches;
  // Whether the options were given.
  bool fixed_max_branches = false;
  bool fixed_samples = false;
  bool log_prompts = false;
  double shutdown_seconds = 10;
  ModelFlags model;
  DecodingOptions decoding;
  std::optional<AnswerForm> answer;
};

void read_keys(const std::string& flag, const std::string& path, std::vector<std::string>& keys) {
  constexpr std::size_t kMostBytes = 1 << 20;
  std::istringstream lines(read_whole_file(path, kMostBytes));
  const std::size_t before = keys.size();
  for (std::string line; std::getline(lines, line);) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (!line.empty()) keys.push_back(line);
  }
  if (keys.size() == before) throw Error(fmt::format("{} {}: it must have a key on each line", flag, path));
}

void check_access(ServeFlags& flags) {
  if (!flags.key_file.empty()) read_keys("--api-key-file", flags.key_file, flags.access.keys);
  if (!flags.admin_key_file.empty()) read_keys("--admin-key-file", flags.admin_key_file, flags.access.admin_keys);
  if (const char* key = std::getenv("DTS_API_KEY"); key != nullptr && *key != '\0') flags.access.keys.emplace_back(key);
  const bool loopback = serve::is_loopback(flags.http.host);
  if (!loopback && flags.access.keys.empty() && flags.access.admin_keys.empty() && !flags.unprotected) {
    throw usage_error(fmt::format(
        "--host is {}, which others can reach: give --api-key-file, --api-key or DTS_API_KEY, or say --unprotected",
        flags.http.host));
  }
  // A page elsewhere can make a browser connect here under a name of its own; it cannot choose these.
  if (loopback) {
    for (const char* name : {"localhost", "127.0.0.1", "::1"}) flags.access.hosts.emplace_back(name);
    flags.access.hosts.push_back(flags.http.host);
  } else if (!flags.access.hosts.empty()) {
    flags.access.hosts.push_back(flags.http.host);
  }
}

// How many branches the engine holds, and what the default method makes of it.
struct Capacity {
  int parallel = 0;
  int branches = 0;  // of one request
};

// `most_branches`: what one engine of the model can keep.
Capacity plan_capacity(ServeFlags& flags, int most_branches) {
  if (flags.parallel && *flags.parallel > most_branches) {
    throw out_of_range("parallel", fmt::format("{}", *flags.parallel), fmt::format("between 1 and {}", most_branches));
  }
  BranchRule& branch = flags.decoding.numbers.branch;
  const int most = flags.parallel.value_or(most_branches);
  const int allowed = std::min(most, flags.limit_branches.value_or(most));
  // What was not asked for gives way.
  if (!flags.fixed_max_branches) branch.max_branches = std::min(branch.max_branches, allowed);
  if (!flags.fixed_samples) flags.decoding.numbers.samples = std::min(flags.decoding.numbers.samples, allowed);
  const SearchOptions defaults = checked_search(flags.decoding, most_branches);
  const int wanted = defaults.method.max_live();
  if (wanted > allowed) {
    throw usage_error(fmt::format("{} may have {} branches (--max-branches, --votes, --samples), but {} is {}",
                                  defaults.method.name, wanted, allowed < most ? "--limit-branches" : "--parallel",
                                  allowed));
  }
  // By default two questions of the default method fit at once.
  int& small_lane = flags.limits.small_lane;
  small_lane = std::clamp(most_branches - flags.parallel.value_or(wanted), 0, small_lane);
  const int two = wanted > most_branches / 2 ? most_branches : 2 * wanted;
  const int parallel = flags.parallel.value_or(std::min(most_branches - small_lane, std::max(two, 48)));
  return {parallel, std::min(parallel, allowed)};
}

// Finishes what runs, or cancels it when that takes too long. A second signal quits at once.
void shut_down(const ServeFlags& flags, const serve::EndSignals& signals, serve::Service& service,
               serve::HttpServer& server) {
  constexpr std::chrono::milliseconds kLook{50};
  constexpr std::chrono::seconds kLastWords{2};  // for clients to read what a cancelled run leaves
  spdlog::info("shutting down: {} questions are queued or running", service.active_runs());
  service.drain();
  server.drain();
  const Clock::time_point deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(flags.shutdown_seconds));
  bool cancelled = false;
  while (server.connections() > 0 || service.active_runs() > 0) {
    if (signals.wait_for(kLook)) _exit(kExitInterrupted);
    if (Clock::now() >= deadline && !cancelled) {
      cancelled = true;
      spdlog::info("cancelling {} questions that did not finish in time", service.active_runs());
      service.cancel_all();
    }
    if (Clock::now() >= deadline + kLastWords) break;
  }
  signals.let_through();
}

int run(ServeFlags& flags) {
  check_access(flags);
  plan_capacity(flags, std::numeric_limits<int>::max());  // what no model could do is said before one is loaded

  const serve::EndSignals signals;
  serve::start_log(STDERR_FILENO);
  serve::ServiceOptions options;
  LoadingHooks hooks;
  hooks.stopping = [&signals] { return signals.wait_for(std::chrono::milliseconds(0)); };
  const std::unique_ptr<LoadedModel> loaded = load_model(flags.model, hooks);
  if (!loaded) {
    print_error("interrupted while the model was being loaded");
    return kExitUnfinished;
  }
  const Model& model = **loaded;
  const Capacity capacity = plan_capacity(flags, model.info().most_branches);
  const std::unique_ptr<Engine> engine = model.make_engine(
      {.max_branches = capacity.parallel + flags.limits.small_lane, .context_length = flags.model.context_size});

  options.model.id = one_line(flags.alias.empty() ? loaded->id() : flags.alias);  // a file's name may be any bytes
  options.model.name = options.model.id;
  options.model.description = model.info().description;
  options.model.created =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  options.model.parameters = model.info().parameters;
  options.model.training_context = model.info().training_context;
  options.limits = flags.limits;
  options.limits.branches = capacity.branches;
  options.defaults = flags.decoding;
  options.defaults.set_sampling(flags.decoding.sampling(model.recommended_sampling().options));
  options.answer = flags.answer;
  options.access = flags.access;
  options.log_prompts = flags.log_prompts;

  serve::Service service(std::move(options), *engine, model.vocabulary());
  serve::HttpServer server(flags.http, service);
  const std::string host =
      flags.http.host.find(':') == std::string::npos ? flags.http.host : "[" + flags.http.host + "]";
  const EngineInfo& info = engine->info();
  write_stdout(fmt::format("{} on http://{}:{}{}\n{} branches of {} tokens; the API is at /v1\n",
                           one_line(loaded->id()), host, server.port(), serve::page_assets().empty() ? "/v1" : "/",
                           capacity.parallel, info.context_length));
  signals.wait();
  shut_down(flags, signals, service, server);
  return kExitAnswered;
}

void add_server_options(CLI::App& command, const std::shared_ptr<ServeFlags>& flags) {
  command.option_defaults()->group("Server");
  add_value(command, "--host", "ADDRESS", "where to listen (default 127.0.0.1)",
            [flags](const std::string& text) { flags->http.host = text; });
  add_value(command, "--port", "N", "TCP port; 0 takes a free one (default 8080)", [flags](const std::string& text) {
    flags->http.port = static_cast<std::uint16_t>(parse_integer("--port", text, 0, 65535));
  });
  add_value(command, "-a,--alias", "NAME", "the model's name in the API (default: its file's)",
            [flags](const std::string& text) {
              if (text.empty()) throw usage_error("--alias is '': it must be a name");
              flags->alias = text;
            });
  add_value(command, "--parallel", "N",
            "branches decoded at once, over all requests (default: those of two questions of the default method)",
            [flags](const std::string& text) {
              flags->parallel = static_cast<int>(parse_integer("--parallel", text, 1, std::numeric_limits<int>::max()));
            });
  add_value(command, "--threads-http", "N", "threads for connections (default 2)", [flags](const std::string& text) {
    flags->http.threads = static_cast<int>(parse_integer("--threads-http", text, 1, 64));
  });
  add_value(command, "--shutdown-seconds", "X", "for what runs to finish after Ctrl-C (default 10)",
            [flags](const std::string& text) {
              flags->shutdown_seconds = static_cast<double>(parse_integer("--shutdown-seconds", text, 0, 86400));
            });
  command.add_flag("--log-prompts", flags->log_prompts, "put questions into the log");

  command.option_defaults()->group("Access");
  add_value(command, "--api-key-file", "FILE", "keys that clients must have, one a line (also: DTS_API_KEY)",
            [flags](const std::string& text) { flags->key_file = text; });
  add_value(command, "--api-key", "KEY", "one such key; other users of the machine can see it",
            [flags](const std::string& text) {
              if (text.empty()) throw usage_error("--api-key is '': it must be a key");
              flags->access.keys.push_back(text);
            });
  add_value(command, "--admin-key-file", "FILE", "keys that see and cancel everybody's questions, one a line",
            [flags](const std::string& text) { flags->admin_key_file = text; });
  command.add_flag("--shared-trees", flags->access.shared_runs,
                   "let every key see and cancel everybody's questions (default: its own)");
  command.add_flag("--unprotected", flags->unprotected, "let everybody in, on an address that others can reach");
  add_value(command, "--allow-host", "NAME",
            "a name by which clients may call this server, beside its address (a proxy's, say)",
            [flags](const std::string& text) { flags->access.hosts.push_back(text); });
  add_value(command, "--cors-origin", "ORIGIN",
            "a site whose pages may use the API, or *; also of a proxy that changes the Host header (default: none)",
            [flags](const std::string& text) { flags->access.origins.push_back(text); });
}

void add_limit_options(CLI::App& command, const std::shared_ptr<ServeFlags>& flags) {
  command.option_defaults()->group("Limits of one request");
  serve::Limits& limits = flags->limits;
  const auto whole = [&command, flags](const std::string& name, const std::string& description, auto& target,
                                       std::int64_t least = 1, std::int64_t most = std::numeric_limits<int>::max()) {
    add_value(command, name, "N", description, [flags, name, &target, least, most](const std::string& text) {
      target = static_cast<std::remove_reference_t<decltype(target)>>(parse_integer(name, text, least, most));
    });
  };
  whole("--limit-tokens", "tokens of a trajectory (default: what the context holds)", limits.max_tokens);
  whole("--limit-total-tokens", "tokens over all branches (default: what they can hold)", limits.max_total_tokens, 1,
        std::numeric_limits<std::int64_t>::max());
  add_value(command, "--limit-branches", "N", "branches at once (default: --parallel)",
            [flags](const std::string& text) {
              flags->limit_branches =
                  static_cast<int>(parse_integer("--limit-branches", text, 1, std::numeric_limits<int>::max()));
            });
  whole("--limit-branch-k", "children of a decision token (default 16)", limits.branch_k);
  add_value(command, "--limit-seconds", "X", "time for prompt and decoding (default 600)",
            [flags](const std::string& text) {
              const double value = parse_number("--limit-seconds", text);
              if (!(value > 0 && value < 1e9)) {
                throw usage_error(fmt::format("--limit-seconds is {}: it must be a number above 0", text));
              }
              flags->limits.seconds = value;
            });
  add_value(command, "--limit-mib", "N", "memory beside the engine's that it may take at most, MiB (default 1024)",
            [flags](const std::string& text) {
              flags->limits.request_bytes = parse_integer("--limit-mib", text, 1, 1 << 20) << 20U;
            });
  whole("--limit-n", "choices (default 8)", limits.choices, 1, 64);
  whole("--limit-messages", "messages of a chat (default 1024)", limits.messages);
  whole("--limit-body", "bytes of a body (default 2 MiB)", limits.body_bytes, 1024, std::int64_t{1} << 30U);
  command.option_defaults()->group("Limits of all together");
  whole("--max-queue", "questions queued or running; beyond it 429 (default 128)", limits.runs);
  whole("--limit-key-runs", "of those, a key's (default: all, or half where there are several keys)", limits.key_runs);
  add_value(command, "--max-queue-seconds", "X", "for a question to start; after it 503 (default 300)",
            [flags](const std::string& text) {
              const double value = parse_number("--max-queue-seconds", text);
              if (!(value > 0 && value < 1e9)) {
                throw usage_error(fmt::format("--max-queue-seconds is {}: it must be a number above 0", text));
              }
              flags->limits.queue_seconds = value;
            });
  whole("--small-lane", "branches beside --parallel for requests that want no more (default 4)", limits.small_lane, 0,
        64);
  add_value(command, "--prefix-cache", "N", "memory for prompts that others may begin with, MiB; 0: none (default 256)",
            [flags](const std::string& text) {
              flags->limits.prefix_bytes = parse_integer("--prefix-cache", text, 0, 1 << 24) << 20U;
            });
  whole("--max-connections", "connections (default 512)", limits.connections);
  whole("--keep-trees", "trees kept of questions that are done (default 64)", limits.kept_runs, 0);
  add_value(command, "--keep-mib", "N", "memory for them, MiB (default 256)", [flags](const std::string& text) {
    flags->limits.kept_bytes = static_cast<std::size_t>(parse_integer("--keep-mib", text, 0, 1 << 20)) << 20U;
  });
}

}  // namespace

void add_serve_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("serve", "answer over HTTP, as OpenAI's API does, with a page to watch");
  auto flags = std::make_shared<ServeFlags>();
  command->footer(
      "The options below Method, Budget and Sampling are what a request that says nothing gets.\n"
      "Ctrl-C finishes what runs and ends; a second one quits at once.\n\n"
      "  dts serve -m model.gguf\n"
      "  DTS_API_KEY=... dts serve -m model.gguf --host 0.0.0.0 --port 80");
  add_server_options(*command, flags);
  add_limit_options(*command, flags);
  command->option_defaults()->group("Method");
  add_answer_option(*command, flags->answer, "as the question is; a request has dts.answer");
  add_model_options(*command, flags->model);
  add_decoding_options(*command, flags->decoding);
  command->callback([flags, command, &exit_code] {
    const auto given = [command](const char* name) { return command->get_option(name)->count() > 0; };
    flags->fixed_max_branches = given("--max-branches");
    flags->fixed_samples = given("--samples");
    exit_code = run(*flags);
  });
}

}  // namespace dts::cli
