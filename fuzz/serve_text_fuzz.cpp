// libFuzzer: any bytes of a model, in any pieces, are read as they would be at once, and what was shown stays.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "question/reply_text.h"
#include "text/utf8.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dts;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.size() < 2) return 0;
  ReplyTextOptions options;
  options.split_thinking = (data[0] & 1U) != 0;
  options.opens_thinking = (data[0] & 2U) != 0;
  if ((data[0] & 4U) != 0) options.stop = {"aa", "STOP", "\xC3\xA9"};
  const std::size_t piece = 1 + data[1] % 7;

  ReplyText whole(options);
  whole.feed(text.substr(2));
  whole.finish();
  const std::string reasoning = whole.take_reasoning();
  const std::string content = whole.take_content();

  ReplyText pieces(options);
  std::string shown_reasoning, shown_content;
  for (std::size_t at = 2; at < text.size(); at += piece) {
    pieces.feed(text.substr(at, piece));
    shown_reasoning += pieces.take_reasoning();
    shown_content += pieces.take_content();
    if (!reasoning.starts_with(shown_reasoning) || !content.starts_with(shown_content)) std::abort();
  }
  pieces.finish();
  shown_reasoning += pieces.take_reasoning();
  shown_content += pieces.take_content();
  if (shown_reasoning != reasoning || shown_content != content) std::abort();
  if (dts::text::valid_utf8(content) != content || dts::text::valid_utf8(reasoning) != reasoning) std::abort();
  return 0;
}
