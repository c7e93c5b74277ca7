// What a step's attention consists of: runs of pages, and the rows that attend to each.
//
// A row is one fed token. Its attention is cut at fixed positions into parts, each computed by itself and merged in
// order; where the cuts are depends on nothing but the position and on whether the row is a prompt's. So a row's result
// is the same whoever else is in the step, and rows whose pages of a part are the same are computed together: the pages
// are read once for all of them.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/native/branch_table.h"

namespace dts::native {

// A run of pages for a tile of rows; every KV head does it.
struct AttentionItem {
  std::int32_t first_page = 0;      // in AttentionWork::pages
  std::int32_t n_pages = 0;         // at least 1
  std::int32_t first_position = 0;  // of the run's first token; a row attends to positions up to its own
  std::int32_t part = 0;            // which of its rows' parts this is
  std::int32_t first_row = 0;       // in AttentionWork::rows
  std::int32_t n_rows = 0;          // at most the tile
};

struct AttentionWork {
  std::vector<AttentionItem> items;
  std::vector<std::int32_t> pages;
  std::vector<std::int32_t> rows;         // step rows
  std::vector<std::int32_t> part_starts;  // [step rows + 1]: parts of row r are [part_starts[r], part_starts[r + 1])

  void clear();
};

// Where a row that decodes is cut: at multiples of 256 tokens first, so that a lone branch has work for many
// processors, and less often later, where there is enough of it.
int parts_of(int tokens);      // parts of a branch of that many tokens
int first_token_of(int part);  // where a part starts

class AttentionPlanner {
 public:
  // `tile`: rows an item may have.
  explicit AttentionPlanner(int tile) : tile_(tile) {}

  // One feed's rows: `count` tokens at the end of `branch`, which is long enough to hold them already.
  struct FedRows {
    BranchId branch = 0;
    int count = 1;
    bool prompt = false;  // not cut: one part from the first token on; there are rows enough

    friend bool operator==(const FedRows&, const FedRows&) = default;
  };
  // Rows are numbered in the order of the feeds.
  void plan(std::span<const FedRows> feeds, const BranchTable& branches, AttentionWork& work);

 private:
  struct Shared {
    std::int32_t first_page = 0;
    std::int32_t n_pages = 0;
    std::int32_t part = 0;
    std::int32_t last_row = -1;  // in links_; the group's newest
    std::int32_t n_rows = 0;
  };

  void plan_prompt(const FedRows& feed, int first_row, const BranchTable& branches, AttentionWork& work) const;

  int tile_;
  // Reused from step to step.
  std::unordered_map<std::uint64_t, std::size_t> groups_;  // (part, last page) -> index
  std::vector<Shared> shared_;
  std::vector<std::pair<std::int32_t, std::int32_t>> links_;  // (row, the one before it in its group)
};

}  // namespace dts::native
