// Walks over one JSON text from left to right without building anything: what every token's event is read with. Whoever
// meets something unexpected gives up, and the event is parsed in full instead, with all its checks; so a cursor must
// never take for good what is not, but may fail as often as it likes.
#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>

namespace dts::remote {

class JsonCursor {
 public:
  explicit JsonCursor(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  bool failed() const { return failed_; }
  // Nothing but space is left, and nothing went wrong.
  bool finished() {
    space();
    return !failed_ && at_ == end_;
  }

  void open(char bracket) { expect(bracket); }
  // Goes to the next member of the object that was opened; false: it is closed. `first`: before the first.
  bool member(bool first, std::string_view& key) {
    if (!next(first, '}')) return false;
    key = string();
    expect(':');
    return !failed_;
  }
  // The same for items of a list.
  bool item(bool first) { return next(first, ']'); }

  std::int64_t integer() {
    space();
    std::int64_t value = 0;
    const auto [stop, status] = std::from_chars(at_, end_, value);
    const bool whole = stop == end_ || (*stop != '.' && *stop != 'e' && *stop != 'E');
    const char* digits = at_ < end_ && *at_ == '-' ? at_ + 1 : at_;
    const bool padded = stop - digits > 1 && *digits == '0';  // 007 is no JSON
    if (status != std::errc() || !whole || padded) return fail(), 0;
    at_ = stop;
    return value;
  }

  double number() {
    space();
    // Only what JSON calls a number: no "inf", no "nan", no sign but minus.
    const char* digits = at_ < end_ && *at_ == '-' ? at_ + 1 : at_;
    if (digits == end_ || *digits < '0' || *digits > '9') return fail(), 0;
    if (*digits == '0' && digits + 1 < end_ && digits[1] >= '0' && digits[1] <= '9') return fail(), 0;
    double value = 0;
    const auto [stop, status] = std::from_chars(at_, end_, value);
    const std::string_view written(at_, static_cast<std::size_t>(stop - at_));
    const std::size_t point = written.find('.');
    const bool bare = point != std::string_view::npos &&
                      (point + 1 == written.size() || written[point + 1] < '0' || written[point + 1] > '9');  // 1.e5
    if (status != std::errc() || bare) return fail(), 0;
    at_ = stop;
    return value;
  }

  // As it is written, without what a backslash would mean: a key or a text that has one fails.
  std::string_view string() {
    expect('"');
    const char* begin = at_;
    while (at_ < end_ && *at_ != '"' && *at_ != '\\' && static_cast<unsigned char>(*at_) >= 0x20) ++at_;
    if (at_ == end_ || *at_ != '"') return fail(), std::string_view();
    return {begin, static_cast<std::size_t>(at_++ - begin)};
  }

  // A text that nobody reads.
  void skip_string() {
    expect('"');
    while (at_ < end_ && *at_ != '"' && static_cast<unsigned char>(*at_) >= 0x20) {
      if (*at_ == '\\') {
        escape();
        if (failed_) return;
      } else {
        ++at_;
      }
    }
    if (at_ == end_ || *at_ != '"') return fail();
    ++at_;
  }

  bool is_string() { return peek() == '"'; }
  bool word(std::string_view word) {
    space();
    if (failed_ || !std::string_view(at_, static_cast<std::size_t>(end_ - at_)).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  // A number, a text, true, false or null that nobody reads.
  void skip_scalar() {
    if (is_string()) return skip_string();
    if (word("null") || word("true") || word("false")) return;
    number();
  }

  void fail() { failed_ = true; }

 private:
  // A backslash and what belongs to it. Halves of surrogate pairs fail: to tell whether the other is there is too much.
  void escape() {
    constexpr std::string_view kPlain = "\"\\/bfnrt";
    const std::string_view rest(at_, static_cast<std::size_t>(end_ - at_));
    if (rest.size() >= 2 && kPlain.find(rest[1]) != std::string_view::npos) {
      at_ += 2;
      return;
    }
    unsigned code = 0;
    const bool whole = rest.size() >= 6 && rest[1] == 'u' &&
                       std::from_chars(at_ + 2, at_ + 6, code, 16).ptr == at_ + 6 && (code < 0xD800 || code > 0xDFFF);
    if (!whole) return fail();
    at_ += 6;
  }
  void space() {
    while (at_ < end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\r' || *at_ == '\n')) ++at_;
  }
  char peek() {
    space();
    return failed_ || at_ == end_ ? '\0' : *at_;
  }
  void expect(char c) {
    if (peek() != c) return fail();
    ++at_;
  }
  bool next(bool first, char close) {
    const char c = peek();
    if (c == close) {
      ++at_;
      return false;
    }
    if (!first) expect(',');
    if (peek() == close) fail();  // a comma before the end
    return !failed_;
  }

  const char* at_;
  const char* end_;
  bool failed_ = false;
};

}  // namespace dts::remote
