#include "eval/datasets/parquet/schema.h"

namespace dts::eval::parquet {
namespace {

constexpr int kMaxDepth = 32;

class SchemaWalk {
 public:
  explicit SchemaWalk(const std::vector<SchemaElement>& elements) : elements_(elements) {}

  Schema read() {
    const SchemaElement& root = next();
    if (root.type || root.num_children < 0) throw FormatError("the schema has no root");
    Schema schema;
    for (std::int32_t i = 0; i < root.num_children; ++i) schema.columns.push_back(read_top());
    if (at_ != elements_.size()) throw FormatError("the schema has columns that belong nowhere");
    schema.leaves = leaves_;
    return schema;
  }

 private:
  const SchemaElement& next() {
    if (at_ == elements_.size()) throw FormatError("the schema ends too soon");
    const SchemaElement& element = elements_[at_++];
    const auto repetition = static_cast<std::int32_t>(element.repetition);
    if (repetition < 0 || repetition > 2) throw FormatError("the schema has a column of unknown repetition");
    return element;
  }

  // Counts the leaves below an element whose own place is already behind us.
  void skip_children(const SchemaElement& element, int depth) {
    if (element.type) {
      ++leaves_;
      return;
    }
    if (depth > kMaxDepth) throw FormatError("the schema is nested too deeply");
    for (std::int32_t i = 0; i < element.num_children; ++i) skip_children(next(), depth + 1);
  }

  static std::uint32_t optional(const SchemaElement& element) {
    return element.repetition == Repetition::kOptional ? 1 : 0;
  }

  static void set_leaf(TopColumn& column, const SchemaElement& element) {
    column.type = *element.type;
    column.type_length = element.type_length;
    column.meaning = element.meaning;
    const auto type = static_cast<std::int32_t>(column.type);
    if (type < 0 || type > 7) {
      column.unsupported = name_of(column.type);
    } else if (element.meaning == Meaning::kOther) {
      column.unsupported = "values of type " + element.meaning_name;
    } else if (column.type == PhysicalType::kFixedLenByteArray && column.type_length <= 0) {
      column.unsupported = "FIXED_LEN_BYTE_ARRAY without a length";
    } else if (column.is_list && (column.type != PhysicalType::kByteArray)) {
      column.unsupported = "a list of " + name_of(column.type);
    }
  }

  TopColumn read_top() {
    const SchemaElement& element = next();
    TopColumn column;
    column.name = element.name;
    column.leaf = leaves_;
    if (element.type) {
      column.max_definition = optional(element);
      if (element.repetition == Repetition::kRepeated) {  // the oldest way to write a list
        column.is_list = true;
        column.max_definition = 1;
        column.item_definition = 1;
      }
      set_leaf(column, element);
      ++leaves_;
    } else if (element.meaning == Meaning::kList && element.num_children == 1 &&
               element.repetition != Repetition::kRepeated) {
      read_list(column, element);
    } else {
      column.unsupported = element.meaning == Meaning::kOther ? "a " + element.meaning_name : "a nested structure";
      skip_children(element, 0);
    }
    return column;
  }

  // The list group is behind us. Below it: a repeated group with the item, or (older) the repeated item itself.
  void read_list(TopColumn& column, const SchemaElement& list) {
    column.is_list = true;
    const SchemaElement& repeated = next();
    column.list_definition = optional(list);
    column.item_definition = column.list_definition + 1;
    if (repeated.repetition != Repetition::kRepeated) {
      column.unsupported = "a list that is not written as a list";
      skip_children(repeated, 0);
    } else if (repeated.type) {
      column.max_definition = column.item_definition;
      set_leaf(column, repeated);
      ++leaves_;
    } else if (repeated.num_children == 1) {
      const SchemaElement& item = next();
      column.max_definition = column.item_definition + optional(item);
      if (item.type && item.repetition != Repetition::kRepeated) {
        set_leaf(column, item);
        ++leaves_;
      } else {
        column.unsupported = "a list of nested structures";
        skip_children(item, 0);
      }
    } else {
      column.unsupported = "a list of nested structures";
      skip_children(repeated, 0);
    }
  }

  const std::vector<SchemaElement>& elements_;
  std::size_t at_ = 0;
  std::size_t leaves_ = 0;
};

}  // namespace

Schema read_schema(const std::vector<SchemaElement>& elements) { return SchemaWalk(elements).read(); }

}  // namespace dts::eval::parquet
