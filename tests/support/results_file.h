// Results files made by hand, for tests of what is computed from them.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "eval/store/store.h"

namespace dts::eval::test {

class ResultsFile {
 public:
  explicit ResultsFile(const std::string& path, std::string model = "a model", std::string dataset = "aime24")
      : store_(path), model_(std::move(model)), dataset_(std::move(dataset)) {}

  // Rows that follow belong to them.
  void on(const std::string& model, const std::string& dataset) {
    model_ = model;
    dataset_ = dataset;
  }

  // The settings of a method: those that reports read.
  void method(const std::string& label, nlohmann::json settings = nlohmann::json::object()) {
    if (!settings.contains("method")) settings["method"] = label.substr(0, label.find(':'));
    store_.require_settings({model_, dataset_, label, settings.dump()});
  }

  // A row with what most tests vary; `change` may set the rest.
  template <typename Change>
  void add(const std::string& label, const std::string& question, std::uint64_t seed, double score, Change change) {
    Row row;
    row.key = {model_, dataset_, label, seed, question};
    row.gold = "1";
    row.answer = score >= 1 ? "1" : "2";
    row.score = score;
    row.extracted = true;
    row.finished = true;
    row.reason = "enough-finished";
    row.votes = 1;
    row.chosen_tokens = 100;
    row.steps = 100;
    row.unique_tokens = 100;
    row.branch_tokens = 100;
    row.flops = 1e9;
    row.traces = {{100, score, row.answer}};
    change(row);
    store_.save(row);
  }
  void add(const std::string& label, const std::string& question, std::uint64_t seed, double score) {
    add(label, question, seed, score, [](Row&) {});
  }

  Store& store() { return store_; }

 private:
  Store store_;
  std::string model_;
  std::string dataset_;
};

}  // namespace dts::eval::test
