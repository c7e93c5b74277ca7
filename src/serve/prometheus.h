// What the server counts, for Prometheus.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "dts/search.h"
#include "dts/tree_file.h"

namespace dts::serve {

// Any thread.
class Metrics {
 public:
  // `route` is one of a fixed set of words, never what a client sent.
  void count_response(const std::string& route, int status);
  void count_run(const TreeDocument& document);

  // The counters in Prometheus' text format; gauges are the caller's.
  std::string text() const;

 private:
  mutable std::mutex mutex_;  // guards what follows
  std::map<std::pair<std::string, int>, std::uint64_t> responses_;
  std::map<std::string, std::uint64_t> runs_;  // by stop reason
  std::int64_t prompt_tokens_ = 0;
  std::int64_t generated_tokens_ = 0;  // unique
  std::int64_t branches_ = 0;
  double queued_seconds_ = 0;
  double prefill_seconds_ = 0;
  double decode_seconds_ = 0;
};

// One metric with its help; `value` as Prometheus reads it.
std::string metric_text(const std::string& name, const std::string& type, const std::string& help, double value);

}  // namespace dts::serve
