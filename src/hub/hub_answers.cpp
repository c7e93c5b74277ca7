#include "hub/hub_answers.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "json/field.h"
#include "json/parse.h"
#include "text/ascii.h"
#include "text/display.h"

namespace dts::hub {
namespace {

constexpr std::int64_t kLargestFile = std::int64_t{1} << 50U;

bool is_hex(std::string_view text, std::size_t size) {
  return text.size() == size &&
         std::all_of(text.begin(), text.end(), [](char c) { return text::is_digit(c) || (c >= 'a' && c <= 'f'); });
}

bool is_sum(std::string_view text) { return is_hex(text, 64) || is_hex(text, 40); }

// A path that stays inside the snapshot's folder.
bool is_inside(std::string_view path) {
  if (path.empty() || path.size() > 1024) return false;
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string_view name = path.substr(at, end - at);
    if (name.empty() || name == "." || name == ".." || name.size() > 255) return false;
    at = end + 1;
  }
  return std::none_of(path.begin(), path.end(),
                      [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\\' || c == '\x7f'; });
}

// Size and sum as far as the hub says them.
HubFile read_file_facts(const JsonField& sibling) {
  HubFile file;
  file.path = sibling["rfilename"].string();
  if (!sibling["size"].absent()) file.bytes = sibling["size"].integer(0, kLargestFile);
  if (!sibling["blobId"].absent()) file.sum = sibling["blobId"].string();
  if (const JsonField lfs = sibling["lfs"]; !lfs.absent()) {
    file.sum = lfs["sha256"].string();
    file.bytes = lfs["size"].integer(0, kLargestFile);
  }
  if (!is_sum(file.sum)) file.sum.clear();
  return file;
}

// W/"abc" -> abc
std::string tag_of(std::string tag) {
  if (tag.starts_with("W/")) tag = tag.substr(2);
  if (tag.size() >= 2 && tag.front() == '"' && tag.back() == '"') tag = tag.substr(1, tag.size() - 2);
  return tag;
}

// A whole number at the beginning of `text`; -1: there is none.
std::int64_t number_of(std::string_view text) {
  std::int64_t number = -1;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

RepoFacts read_repo_facts(std::string_view body, const std::string& name) {
  const nlohmann::json json = parse_json(body, {.depth = 64, .values = 4'000'000});
  const JsonField field(json, name);
  RepoFacts facts;
  facts.commit = field["sha"].string();
  if (!is_hex(facts.commit, facts.commit.size()) || facts.commit.size() < 7 || facts.commit.size() > 64) {
    field["sha"].fail("it must be a commit");
  }
  field["siblings"].each([&](const JsonField& sibling) {
    HubFile file = read_file_facts(sibling);
    if (file.path.ends_with(".gguf") && !is_inside(file.path)) {
      sibling["rfilename"].fail("it must be a path inside the repository");
    }
    if (is_inside(file.path)) facts.files.push_back(std::move(file));
  });
  return facts;
}

std::vector<std::string> read_repo_names(std::string_view body) {
  constexpr std::size_t kLongestName = 96;
  const nlohmann::json json = parse_json(body, {.depth = 64, .values = 1'000'000});
  std::vector<std::string> names;
  JsonField(json).each([&](const JsonField& model) {
    const std::string& id = model["id"].string();
    if (id.size() <= kLongestName) names.push_back(text::one_line(id));
  });
  return names;
}

void read_file_headers(const WebAnswer& answer, HubFile& file) {
  std::string size = header_of(answer, "x-linked-size");
  if (size.empty() && answer.status == 200) size = header_of(answer, "content-length");
  if (const std::int64_t bytes = number_of(size); file.bytes == 0 && bytes > 0 && bytes <= kLargestFile) {
    file.bytes = bytes;
  }
  std::string tag = tag_of(header_of(answer, "x-linked-etag"));
  if (tag.empty()) tag = tag_of(header_of(answer, "etag"));
  if (file.sum.empty() && is_sum(tag)) file.sum = tag;
}

bool is_checkable(const HubFile& file) { return file.bytes > 0 && !file.sum.empty(); }

ContentRange read_content_range(std::string_view text) {
  ContentRange range;
  if (!text.starts_with("bytes ")) return range;
  text.remove_prefix(6);
  range.first = number_of(text);
  if (const std::size_t slash = text.find('/'); slash != std::string_view::npos) {
    range.total = number_of(text.substr(slash + 1));
  }
  return range;
}

std::string header_of(const WebAnswer& answer, const std::string& name) {
  const auto found = answer.headers.find(name);
  return found == answer.headers.end() ? "" : found->second;
}

}  // namespace dts::hub
