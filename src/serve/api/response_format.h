// How the answer of a request must be written: as JSON, by a schema, by a grammar.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "dts/vocabulary.h"

namespace dts {
class JsonField;
}

namespace dts::serve {

struct AnswerFormat {
  enum class Kind { kFree, kJson, kGrammar };

  Kind kind = Kind::kFree;
  std::string schema;   // kJson: a JSON schema
  std::string grammar;  // kGrammar: GBNF
};

// `response_format`, `json_schema` and `grammar` of a body. `ordered`: the same body, with its keys in order.
AnswerFormat read_answer_format(const JsonField& body, const nlohmann::ordered_json& ordered);

// As a grammar. Throws a usage error.
std::string answer_grammar(const AnswerFormat& format, const Vocabulary& vocabulary);

}  // namespace dts::serve
