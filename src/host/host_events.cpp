#include "host/host_events.h"

#include "dts/text_search.h"

namespace dts::host {
namespace {

std::string_view name_of_type(SearchEvent::Type type) {
  switch (type) {
    case SearchEvent::Type::kStep:
      return "step";
    case SearchEvent::Type::kBranch:
      return "branch";
    case SearchEvent::Type::kFinish:
      return "finish";
    case SearchEvent::Type::kExhaust:
      return "exhaust";
    case SearchEvent::Type::kRetire:
      return "retire";
    case SearchEvent::Type::kDone:
      return "done";
  }
  return "";
}

}  // namespace

HostEvent HostEvents::event_of(const SearchEvent& event) {
  HostEvent told;
  told.type = name_of_type(event.type);
  told.step = event.step;
  told.segment = event.segment;
  told.live = search_.live();
  told.finished = static_cast<int>(search_.finished().size());
  told.tokens = static_cast<std::int64_t>(search_.tree().unique_tokens());
  if (event.type == SearchEvent::Type::kStep) grow(told.grown);
  if (event.type == SearchEvent::Type::kBranch) told.children = search_.tree().segment(event.segment).children;
  if (event.type == SearchEvent::Type::kFinish) {
    for (const FinishedTrace& trace : search_.finished()) {
      if (trace.leaf == event.segment) told.answer = trace.answer;
    }
  }
  return told;
}

void HostEvents::grow(std::vector<GrownToken>& grown) {
  const Tree& tree = search_.tree();
  while (told_.size() < tree.segments().size()) {
    open_.push_back(static_cast<SegmentId>(told_.size()));
    told_.push_back(0);
  }
  std::vector<SegmentId> still_open;
  for (const SegmentId id : open_) {
    const Segment& segment = tree.segment(id);
    std::size_t& told = told_[static_cast<std::size_t>(id)];
    for (; told < segment.tokens.size(); ++told) {
      const TokenRecord& record = segment.tokens[told];
      grown.push_back({id, record, shown_piece(vocabulary_, record.token)});
    }
    if (segment.state == SegmentState::kLive) still_open.push_back(id);
  }
  open_ = std::move(still_open);
}

}  // namespace dts::host
