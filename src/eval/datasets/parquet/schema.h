// From parquet's tree of columns to the flat columns that a dataset has.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "eval/datasets/parquet/metadata.h"

namespace dts::eval::parquet {

// A column of single values, or of lists of text; anything else is not supported and says so.
struct TopColumn {
  std::string name;
  std::string unsupported;  // why it cannot be read, for messages; empty: it can
  std::size_t leaf = 0;     // its place among the column chunks of a row group; of the first one when there are several

  PhysicalType type = PhysicalType::kBoolean;
  std::int32_t type_length = 0;
  Meaning meaning = Meaning::kNone;

  bool is_list = false;
  // Definition levels, from which a value, an absent value, an empty and an absent list are told apart.
  std::uint32_t max_definition = 0;   // the value is there
  std::uint32_t item_definition = 0;  // lists: there is an item, perhaps null
  std::uint32_t list_definition = 0;  // lists: there is a list, perhaps empty
};

struct Schema {
  std::vector<TopColumn> columns;
  std::size_t leaves = 0;  // how many column chunks a row group must have
};

Schema read_schema(const std::vector<SchemaElement>& elements);

}  // namespace dts::eval::parquet
