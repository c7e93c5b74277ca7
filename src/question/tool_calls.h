// Calls of tools in what a model says, read while it is said.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "dts/vocabulary.h"

namespace dts {

struct ToolSyntax {
  ToolFormat format = ToolFormat::kHermes;
  std::vector<std::string> names;  // the tools there are
  bool parallel = true;            // false: the first call is the only one
  bool required = false;           // there is nothing but calls
};

// Fed the content of a reply, thinking apart. What was taken is never taken back: text that may be the beginning of a
// call is held until it is known not to be. A call that is no JSON, or has no name, is text. Calls have no ids yet.
class ToolReader {
 public:
  explicit ToolReader(ToolSyntax syntax);

  void feed(std::string_view content);
  // `cut`: the reply had to end here. A call that had begun is then told with the arguments as far as they go, which
  // are no JSON; one whose name is not known yet is text, or nothing where calls are required.
  void finish(bool cut = false);

  std::string take_content();
  std::vector<ToolCall> take_calls();
  // The last call is not whole.
  bool last_is_cut() const { return last_is_cut_; }

 private:
  void scan();
  void scan_tagged(std::string_view open, std::string_view close);
  void scan_bare();
  // Of a JSON object, or of a list of them. False when it is none.
  bool read_calls(std::string_view json, bool known_names_only);
  // Of JSON that ends too early. False when there is no call in it.
  bool read_cut_calls(std::string_view json);
  void add(ToolCall call);
  void say(std::string_view text);

  ToolSyntax syntax_;
  std::string held_;  // fed and not yet decided
  bool finished_ = false;
  bool cut_ = false;
  bool last_is_cut_ = false;
  bool inside_ = false;  // of a call's tags
  bool plain_ = false;   // bare calls only: it is text
  bool called_ = false;  // there was a call
  std::string spaces_;   // at the end of the content: dropped when a call follows
  std::string content_;  // to be taken
  std::vector<ToolCall> calls_;
};

// The calls as one text that is the same for all ways to write them: names and arguments with their keys in order.
std::string canonical_calls(const std::vector<ToolCall>& calls);

// JSON with its keys in order; the text itself, trimmed, when it is none.
std::string canonical_json(std::string_view text);

}  // namespace dts
