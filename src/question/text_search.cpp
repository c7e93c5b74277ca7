#include "dts/text_search.h"

#include <utility>

#include "dts/answer.h"
#include "question/reply_text.h"
#include "question/stop_readers.h"

namespace dts {

std::string shown_piece(const Vocabulary& vocabulary, Token token) {
  return vocabulary.is_end(token) ? std::string() : vocabulary.piece(token, true);
}

std::shared_ptr<Search> make_text_search(const Vocabulary& vocabulary, const ChatPrompt& prompt, SearchOptions options,
                                         TextSearchOptions how) {
  if (!how.read_answer) {
    how.read_answer = [opens = prompt.opens_thinking](std::string_view text) { return extract_answer(text, opens); };
  }
  const ReplyTextOptions reading{how.split_thinking, prompt.opens_thinking, how.stop};
  SearchText text;
  text.same_answer = how.same_answer ? std::move(how.same_answer) : SameAnswer(equivalent);
  text.is_end = [&vocabulary](Token token) { return vocabulary.is_end(token); };
  text.answer_of = [&vocabulary, reading, read = std::move(how.read_answer)](std::span<const Token> tokens) {
    if (!reading.stop.empty()) {
      ReplyText reader(reading);
      for (const Token token : tokens) reader.feed(shown_piece(vocabulary, token));
      return read(reader.kept());
    }
    std::string all;
    for (const Token token : tokens) all += shown_piece(vocabulary, token);
    return read(all);
  };
  text.filter = std::move(how.filter);
  if (!how.stop.empty()) {
    text.ends_here = [readers = std::make_shared<StopReaders>(vocabulary, reading)](const Tree& tree, SegmentId leaf) {
      return readers->stops_at(tree, leaf);
    };
  }
  return std::make_shared<Search>(prompt.tokens, std::move(options), std::move(text), vocabulary.size());
}

TreeDocument document_of(const Search& search, const Vocabulary& vocabulary, const ChatPrompt& prompt,
                         const EngineInfo& info, const JobTimes& times) {
  TreeDocument document;
  document.prompt = prompt.text;
  document.prompt_tokens = prompt.tokens;
  document.opens_thinking = prompt.opens_thinking;
  document.options = search.options();
  document.tree = search.tree();
  document.texts = segment_texts(document.tree, [&](Token token) { return shown_piece(vocabulary, token); });
  document.outcome = search.outcome();
  document.engine = {info.kind, info.capabilities};
  document.times.queued = times.queued;
  document.times.prefill = times.prefill;
  document.times.decode = times.decode;
  const Account& account = document.outcome.account;
  // The prompt's last token is the first one fed.
  document.flops = info.flops_per_token * static_cast<double>(account.prompt_tokens - 1 + account.fed_tokens) +
                   info.flops_per_attended * static_cast<double>(account.attended_tokens);
  return document;
}

}  // namespace dts
