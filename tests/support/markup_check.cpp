#include "support/markup_check.h"

#include <algorithm>
#include <cctype>
#include <cstddef>

#include "text/utf8.h"

namespace dts::test {
namespace {

class Checker {
 public:
  Checker(std::string_view text, bool html) : text_(text), html_(html) {}

  MarkupCheck check() {
    check_characters();
    if (html_ && (starts("<!DOCTYPE html>") || starts("<!doctype html>"))) at_ += 15;
    while (result_.error.empty() && at_ < text_.size()) {
      if (text_[at_] == '<') {
        starts("</") ? read_end_tag() : read_tag();
      } else {
        read_character(false);
      }
    }
    if (result_.error.empty() && !open_.empty()) fail("<" + open_.back() + "> is not closed");
    return result_;
  }

 private:
  bool starts(std::string_view with) const { return text_.substr(at_, with.size()) == with; }

  void fail(const std::string& what) {
    if (result_.error.empty())
      result_.error = what + " at byte " + std::to_string(at_) + ": " + std::string(text_.substr(at_, 60));
    at_ = text_.size();
  }

  void check_characters() {
    for (std::size_t at = 0; at < text_.size();) {
      const text::Character character = text::decode_utf8(text_, at);
      const char32_t code = character.code;
      const bool control = (code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7F && code < 0xA0);
      const bool reorders = (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
      if (!character.valid || control || reorders || (code & 0xFFFEU) == 0xFFFE) {
        at_ = at;
        return fail("a character that must not be there");
      }
      at += character.size;
    }
  }

  std::string read_name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '-'))
      ++at_;
    if (at_ == begin) fail("a name is missing");
    return std::string(text_.substr(begin, at_ - begin));
  }

  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }

  // One character of text, or of a value in quotes.
  void read_character(bool quoted) {
    if (text_[at_] == '<' || (text_[at_] == '>' && !quoted)) return fail("a stray angle bracket");
    if (text_[at_] != '&') {
      ++at_;
      return;
    }
    for (const std::string_view entity : {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"}) {
      if (starts(entity)) {
        at_ += entity.size();
        return;
      }
    }
    fail("an unknown entity");
  }

  void read_attribute(MarkupTag& tag) {
    const std::string name = read_name();
    if (std::find(tag.attributes.begin(), tag.attributes.end(), name) != tag.attributes.end())
      return fail("twice the same attribute");
    tag.attributes.push_back(name);
    if (!starts("=\"")) {
      if (!html_) fail("an attribute without a value");
      return;
    }
    at_ += 2;
    while (at_ < text_.size() && text_[at_] != '"') {
      // The page's security policy quotes its words.
      text_[at_] == '\'' ? static_cast<void>(++at_) : read_character(true);
    }
    if (at_ == text_.size()) return fail("a value is not closed");
    ++at_;
  }

  void read_tag() {
    ++at_;
    MarkupTag tag;
    tag.name = read_name();
    for (skip_spaces(); at_ < text_.size() && text_[at_] != '>' && text_[at_] != '/'; skip_spaces())
      read_attribute(tag);
    const bool empty = starts("/>");
    const bool is_void = html_ && (tag.name == "meta" || tag.name == "br");
    at_ += empty ? 2 : 1;
    if (!empty && !is_void) open_.push_back(tag.name);
    const bool raw = tag.name == "style" || (html_ && tag.name == "script");
    if (raw) at_ = std::min(text_.find("</" + tag.name, at_), text_.size());
    result_.tags.push_back(std::move(tag));
  }

  void read_end_tag() {
    at_ += 2;
    const std::string name = read_name();
    if (open_.empty() || open_.back() != name) return fail("</" + name + "> closes nothing");
    open_.pop_back();
    if (!starts(">")) return fail("an end tag is not closed");
    ++at_;
  }

  std::string_view text_;
  bool html_;
  std::size_t at_ = 0;
  std::vector<std::string> open_;
  MarkupCheck result_;
};

}  // namespace

MarkupCheck check_markup(std::string_view text, bool html) { return Checker(text, html).check(); }

}  // namespace dts::test
