#include "bench/remote_bench.h"

#include <algorithm>

#include "bench/plain_streams.h"
#include "dts/error.h"
#include "dts/scheduler.h"
#include "engine/remote/curl_transport.h"

namespace dts::bench {
namespace {

std::unique_ptr<remote::Protocol> protocol_of(const RemoteModelOptions& options, const std::string& name) {
  switch (options.kind) {
    case RemoteKind::kVllm:
      return remote::make_vllm_protocol(name);
    case RemoteKind::kSglang:
      return remote::make_sglang_protocol(name);
    case RemoteKind::kLlamaServer:
      return remote::make_llama_server_protocol(name);
    case RemoteKind::kOpenai:
      break;
  }
  throw usage_error("plain streams are measured on servers that take token ids: openai takes text");
}

void add(StreamCost& to, const StreamCost& cost) {
  to.seconds += cost.seconds;
  to.cpu_seconds += cost.cpu_seconds;
  to.tokens += cost.tokens;
  to.requests += cost.requests;
  to.bytes += cost.bytes;
}

// What one search took, and when it froze.
struct Watched {
  StreamCost whole;
  StreamCost frozen;
  std::vector<PlainStream> at_freeze;   // live branches: where they were, and what they had drawn when they ended
  std::vector<PlainStream> from_start;  // as many as there were leaves, with as many tokens in all
  std::int64_t children = 0;
};

StreamCost cost_since(const StreamCost& then, const Engine& engine) {
  const RemoteTraffic traffic = remote_traffic(engine);
  return {.seconds = wall_seconds() - then.seconds,
          .cpu_seconds = cpu_seconds() - then.cpu_seconds,
          .tokens = 0,
          .requests = traffic.requests - then.requests,
          .bytes = traffic.received_bytes - then.bytes};
}

StreamCost now(const Engine& engine) { return cost_since({}, engine); }

// The tokens of a branch up to `length` of its trajectory, after the prompt.
std::vector<Token> prefix_of(const Search& search, SegmentId leaf, int length) {
  std::vector<Token> tokens(search.prompt().begin(), search.prompt().end());
  const std::vector<Token> drawn = search.tree().tokens_of(leaf);
  tokens.insert(tokens.end(), drawn.begin(), drawn.begin() + length);
  return tokens;
}

Watched decode(Engine& engine, const std::shared_ptr<Search>& search) {
  Watched result;
  Scheduler scheduler(engine);
  const StreamCost start = now(engine);
  StreamCost frozen_at;
  int frozen_length = -1;
  search->on_event = [&](const SearchEvent& event) {
    if (event.type != SearchEvent::Type::kStep || frozen_length >= 0 || search->done()) return;
    if (search->spec().statistics) return;
    frozen_length = event.step;
    frozen_at = now(engine);
  };
  Job job;
  job.search = search;
  scheduler.submit(std::move(job));
  scheduler.run();
  if (!search->outcome().error.empty()) throw Error(search->outcome().error);
  result.whole = cost_since(start, engine);
  if (frozen_length >= 0) result.frozen = cost_since(frozen_at, engine);

  const Tree& tree = search->tree();
  for (SegmentId id = 0; id < static_cast<SegmentId>(tree.segments().size()); ++id) {
    const Segment& segment = tree.segment(id);
    const auto drawn = static_cast<int>(segment.tokens.size());
    result.children += segment.parent == kNoSegment ? 0 : 1;
    if (drawn == 0) continue;
    result.whole.tokens += drawn;
    const int begin = segment.end() - drawn;
    if (frozen_length < 0 || segment.end() <= frozen_length) continue;
    const int from = std::max(begin, frozen_length);
    result.at_freeze.push_back({prefix_of(*search, id, from), segment.end() - from});
    result.frozen.tokens += segment.end() - from;
  }
  const auto leaves = static_cast<std::int64_t>(search->outcome().account.peak_live);
  for (std::int64_t i = 0; i < leaves; ++i) {
    result.from_start.push_back({prefix_of(*search, 0, 0), static_cast<int>(result.whole.tokens / leaves)});
  }
  return result;
}

}  // namespace

RemoteBenchResult run_remote_bench(const Model& model, std::span<const std::string> questions,
                                   const RemoteBenchOptions& options, const std::function<void()>& after_question) {
  const auto protocol = protocol_of(options.model, model.info().name);
  const auto transport = remote::make_curl_transport();
  PlainStreamsOptions plain{.url = options.model.urls.front(), .headers = {}, .sampling = options.search.sampling};
  while (plain.url.ends_with('/')) plain.url.pop_back();
  if (!options.model.api_key.empty()) plain.headers.push_back("Authorization: Bearer " + options.model.api_key);

  std::vector<std::vector<Token>> prompts;
  std::size_t longest = 0;
  for (const std::string& question : questions) {
    prompts.push_back(model.vocabulary().chat(std::vector<ChatMessage>{{"user", question}}).tokens);
    longest = std::max(longest, prompts.back().size());
  }
  const int branches = options.search.method.max_live();
  const auto engine = model.make_engine(
      {.max_branches = branches, .context_length = static_cast<int>(longest) + options.search.max_tokens});
  RemoteBenchResult result;
  for (int round = -1; round < options.rounds; ++round) {  // the first warms the server up, and is not counted
    for (std::size_t i = 0; i < prompts.size(); ++i) {
      SearchOptions asked = options.search;
      asked.seed = static_cast<std::uint64_t>(round + 1);
      const auto search =
          std::make_shared<Search>(prompts[i], asked,
                                   SearchText{.is_end = [&](Token token) { return model.vocabulary().is_end(token); },
                                              .answer_of = [](std::span<const Token>) { return std::string(); }},
                                   engine->info().n_vocab);
      const Watched tree = decode(*engine, search);
      const StreamCost frozen = run_plain_streams(*protocol, *transport, plain, tree.at_freeze);
      const StreamCost whole = run_plain_streams(*protocol, *transport, plain, tree.from_start);
      after_question();
      if (round < 0) continue;
      add(result.whole, tree.whole);
      add(result.whole_plain, whole);
      result.children += tree.children;
      result.whole_ratios.push_back(tree.whole.seconds / whole.seconds);
      if (tree.at_freeze.empty()) continue;
      add(result.frozen, tree.frozen);
      add(result.frozen_plain, frozen);
      ++result.frozen_questions;
      result.frozen_ratios.push_back(tree.frozen.seconds / frozen.seconds);
    }
  }
  result.overshoot = remote_traffic(*engine).overshoot_tokens;
  return result;
}

}  // namespace dts::bench
