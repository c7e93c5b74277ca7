#include "serve/prometheus.h"

#include <fmt/format.h>

namespace dts::serve {
namespace {

std::string head(const std::string& name, const std::string& type, const std::string& help) {
  return fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

}  // namespace

std::string metric_text(const std::string& name, const std::string& type, const std::string& help, double value) {
  return head(name, type, help) + fmt::format("{} {}\n", name, value);
}

void Metrics::count_response(const std::string& route, int status) {
  const std::scoped_lock lock(mutex_);
  ++responses_[{route, status}];
}

void Metrics::count_run(const TreeDocument& document) {
  const Account& account = document.outcome.account;
  const std::scoped_lock lock(mutex_);
  ++runs_[std::string(to_string(document.outcome.reason))];
  prompt_tokens_ += account.prompt_tokens;
  generated_tokens_ += account.unique_tokens;
  branches_ += account.branches;
  queued_seconds_ += document.times.queued;
  prefill_seconds_ += document.times.prefill;
  decode_seconds_ += document.times.decode;
}

std::string Metrics::text() const {
  const std::scoped_lock lock(mutex_);
  std::string out = head("dts_http_responses_total", "counter", "Responses by route and status.");
  for (const auto& [key, count] : responses_) {
    out += fmt::format("dts_http_responses_total{{route=\"{}\",status=\"{}\"}} {}\n", key.first, key.second, count);
  }
  out += head("dts_runs_total", "counter", "Decoded questions by why they stopped.");
  for (const auto& [reason, count] : runs_) out += fmt::format("dts_runs_total{{reason=\"{}\"}} {}\n", reason, count);
  const auto counter = [&out](const char* name, const char* help, auto value) {
    out += metric_text(name, "counter", help, static_cast<double>(value));
  };
  counter("dts_prompt_tokens_total", "Prompt tokens of decoded questions.", prompt_tokens_);
  counter("dts_generated_tokens_total", "Tokens generated, each once, whatever the number of branches that share it.",
          generated_tokens_);
  counter("dts_branches_total", "Trajectories there were.", branches_);
  counter("dts_queued_seconds_total", "Time questions waited for room in the engine.", queued_seconds_);
  counter("dts_prefill_seconds_total", "Time from admission to the first step.", prefill_seconds_);
  counter("dts_decode_seconds_total", "Time from the first step to the end.", decode_seconds_);
  return out;
}

}  // namespace dts::serve
