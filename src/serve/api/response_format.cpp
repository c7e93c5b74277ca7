#include "serve/api/response_format.h"

#include "json/field.h"
#include "json/parse.h"

namespace dts::serve {

AnswerFormat read_answer_format(const JsonField& body, const nlohmann::ordered_json& ordered) {
  AnswerFormat format;
  const auto set = [&](const JsonField& field, AnswerFormat::Kind kind) {
    if (format.kind != AnswerFormat::Kind::kFree) field.fail("the answer can have one format only");
    format.kind = kind;
  };
  if (const JsonField asked = body["response_format"]; !asked.absent()) {
    asked.check_object();
    const std::string& type = asked["type"].string();
    if (type == "json_object") {
      set(asked, AnswerFormat::Kind::kJson);
      format.schema = R"({"type": "object"})";
      // llama.cpp's way to say it.
      if (const JsonField schema = asked["schema"]; !schema.absent()) {
        schema.check_object();
        format.schema = ordered.at("response_format").at("schema").dump();
      }
    } else if (type == "json_schema") {
      set(asked, AnswerFormat::Kind::kJson);
      asked["json_schema"].check_object();
      asked["json_schema"]["schema"].check_object();
      format.schema = ordered.at("response_format").at("json_schema").at("schema").dump();
    } else if (type != "text") {
      asked["type"].fail("it must be one of text, json_object, json_schema");
    }
  }
  if (const JsonField schema = body["json_schema"]; !schema.absent()) {
    schema.check_object();
    set(schema, AnswerFormat::Kind::kJson);
    format.schema = ordered.at("json_schema").dump();
  }
  if (const JsonField grammar = body["grammar"]; !grammar.absent() && !grammar.string().empty()) {
    set(grammar, AnswerFormat::Kind::kGrammar);
    format.grammar = grammar.string();
  }
  return format;
}

std::string answer_grammar(const AnswerFormat& format, const Vocabulary& vocabulary) {
  if (format.kind != AnswerFormat::Kind::kJson) return format.grammar;
  return vocabulary.grammar_of_schema(format.schema);
}

}  // namespace dts::serve
