// Where an evaluation keeps what it measured: one SQLite file, a row for each (model, dataset, method, seed, question),
// written the moment the question is done. Everything reported can be recomputed from it without the model.
// docs/evaluation.md describes the tables.
//
// Killed at any moment, it holds whole rows only. Several processes may work on one file: a question is claimed before
// it is decoded, and a claim dies with its process.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace dts::eval {

// What was asked of the model, and how: names one row.
struct RowKey {
  std::string model;  // as a person would name it
  std::string dataset;
  std::string method;  // the label it was given: its name, unless two variants of it are compared
  std::uint64_t seed = 0;
  std::string question;  // its id

  friend bool operator==(const RowKey&, const RowKey&) = default;
  friend bool operator<(const RowKey& a, const RowKey& b) {
    return std::tie(a.model, a.dataset, a.method, a.seed, a.question) <
           std::tie(b.model, b.dataset, b.method, b.seed, b.question);
  }
};

// A trajectory that finished, right or wrong, whether or not it won.
struct TraceResult {
  int length = 0;  // tokens
  double score = 0;
  std::string answer;  // what it votes for; empty: nothing
  std::optional<double> mean_logprob = {};
  bool voted = true;  // it had an answer, and its confidence allowed it

  friend bool operator==(const TraceResult&, const TraceResult&) = default;
};

struct Row {
  RowKey key;
  std::string task;        // the question's, for datasets that average by task
  std::string difficulty;  // the question's
  std::string gold;
  std::string release;     // the question's, where its scoring depends on it
  std::string options;     // multiple choice: the order shown, in letters of the dataset's own: "CABD"; else empty
  std::string answer;      // the winner's; empty: none found
  double score = 0;        // 0..1
  bool extracted = false;  // an answer was found
  bool finished = false;   // at least one trajectory reached its end
  std::string reason;      // why the search stopped (search.h)
  int votes = 0;           // trajectories that finished
  int voted = 0;           // of those, whose answer was counted
  int exhausted = 0;       // trajectories that reached the token budget
  int branch_events = 0;
  int steps = 0;  // tokens on the critical path
  std::int64_t prompt_tokens = 0;
  std::int64_t unique_tokens = 0;  // generated over all branches, each once
  std::int64_t branch_tokens = 0;  // as if nothing were shared
  std::int64_t fed_tokens = 0;
  int chosen_tokens = 0;  // the winner's length
  double seconds = 0;     // prefill and decode, as this question saw it
  double flops = 0;
  std::vector<TraceResult> traces;  // in order of finishing
  std::string document;             // the whole tree, as the tree file has it (JSON); empty when not loaded
};

// The settings of one method: a flat JSON object.
struct StoredSettings {
  std::string model;
  std::string dataset;
  std::string method;
  std::string settings;
};

// One start of an evaluation.
struct StoredRun {
  std::string started;  // UTC, ISO 8601
  std::string version;  // of this program
  std::string command;
};

class Store {
 public:
  // Opens or makes the file. Throws dts::Error for a file that is no results file, of another version, or cannot be
  // written.
  explicit Store(const std::string& path, bool read_only = false);
  ~Store();
  // Throws for a file that Store() would not take; makes and changes none. One that is empty is taken: another process
  // may be about to fill it.
  static void check(const std::string& path);
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // The settings under which the rows of (model, dataset, method) were and will be made. Kept when they are new; throws
  // a usage error that names every difference when the file has others.
  void require_settings(const StoredSettings& wanted);
  std::vector<StoredSettings> settings() const;

  // Notes that an evaluation was started with this command.
  void note_run(const std::string& command);
  std::vector<StoredRun> runs() const;  // the oldest first

  // Takes a question for this process. False when its row is there or a living process has claimed it.
  bool claim(const RowKey& key);
  // Whether claim() would take it now.
  bool is_free(const RowKey& key) const;
  // Writes the row and drops its claim, in one transaction. A row that is there already stays.
  void save(const Row& row);
  // Drops the claim of a question that was not finished.
  void abandon(const RowKey& key);

  bool has(const RowKey& key) const;
  std::size_t count() const;
  // All rows, ordered by key; without their documents.
  std::vector<Row> rows() const;
  std::optional<Row> row(const RowKey& key) const;  // with its document

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dts::eval
