// The rows of one or more results files, put in order: a model on a dataset, and the methods that were tried there.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dts/tree_file.h"
#include "eval/report/metrics.h"
#include "eval/store/store.h"

namespace dts::eval::report {

// One method's rows and how they were made.
struct MethodResults {
  std::string label;                            // as it is in the file
  std::string name;                             // as it is shown: "short-3@8"
  std::string method;                           // which of `dts methods` it is
  bool ablation = false;                        // another criterion or threshold than the plain method's
  std::map<std::string, std::string> settings;  // as stored, values as text
  Rows rows;                                    // by question, then seed
  Summary summary;                              // of them, against `standard`

  std::string setting(const std::string& key) const;  // empty when there is none
  // Its questions were decoded one at a time: seconds say something.
  bool timed() const { return setting("timing") == "true"; }
};

// A model on a dataset.
struct Benchmark {
  std::string model;
  std::string dataset;
  std::vector<MethodResults> methods;  // in the order of `dts methods`; without the samples of the length study
  MethodResults samples;               // those; its rows may be empty

  const MethodResults* find(std::string_view label) const;  // null when it is not there
  const Rows& baseline() const;                             // of `standard`; may be empty
};

class Results {
 public:
  // Throws dts::Error for a file that cannot be read as results. A row that several files have counts once; where two
  // files have one model's results with different settings, the later file's name, or its path where names are the
  // same, is added to the model's.
  // `regrade_rows`: every row is graded again from its tree (regrade.h).
  explicit Results(const std::vector<std::string>& files, bool regrade_rows = false);

  std::size_t regraded() const { return regraded_; }  // rows whose score changed by it

  const std::vector<Benchmark>& benchmarks() const { return benchmarks_; }
  const std::vector<StoredRun>& runs() const { return runs_; }
  std::size_t rows() const { return rows_.size(); }
  // The models, and the datasets, in order of appearance.
  std::vector<std::string> models() const;
  std::vector<std::string> datasets() const;
  // Reads the whole tree of a row.
  TreeDocument document(const Row& row) const;

 private:
  struct Source {
    std::unique_ptr<Store> store;
    std::map<std::string, std::string> stored_names;  // model as shown -> as it is in the file
  };
  void load(const std::string& file, const std::string& label, std::map<std::string, StoredSettings>& known);
  void arrange(const std::map<std::string, StoredSettings>& known);

  std::vector<Source> sources_;
  std::map<RowKey, std::pair<Row, std::size_t>> rows_;  // with the index of its source; addresses are stable
  std::vector<StoredRun> runs_;
  std::size_t regraded_ = 0;
  std::vector<Benchmark> benchmarks_;
};

}  // namespace dts::eval::report
