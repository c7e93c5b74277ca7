#include "hub/hub_api.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <thread>

#include "json/field.h"
#include "json/parse.h"
#include "text/ascii.h"
#include "text/display.h"
#include "text/nearest.h"

namespace dts::hub {
namespace {

constexpr std::size_t kLongestAnswer = std::size_t{64} << 20U;
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

std::string header(const WebAnswer& answer, const std::string& name) {
  const auto found = answer.headers.find(name);
  return found == answer.headers.end() ? "" : found->second;
}

// W/"abc" -> abc
std::string tag_of(std::string tag) {
  if (tag.starts_with("W/")) tag = tag.substr(2);
  if (tag.size() >= 2 && tag.front() == '"' && tag.back() == '"') tag = tag.substr(1, tag.size() - 2);
  return tag;
}

}  // namespace

WebRequest HubApi::request(const std::string& path) const {
  WebRequest request;
  request.url = settings_.endpoint + path;
  request.token = settings_.token;
  request.token_origin = origin_of(settings_.endpoint);
  request.connect_seconds = settings_.connect_seconds;
  request.stall_seconds = settings_.stall_seconds;
  return request;
}

WebRequest HubApi::file_request(const std::string& repo, const std::string& commit, const std::string& path) const {
  return request(fmt::format("/{}/resolve/{}/{}", repo, commit, url_path(path)));
}

// The body of a 200. Broken connections and a server that is busy are tried again.
std::string HubApi::read(const std::string& path, WebAnswer& answer) const {
  double wait = settings_.retry_seconds;
  for (int attempt = 0;; ++attempt, wait *= 2) {
    std::string body;
    WebHooks hooks;
    hooks.stopping = stopping_;
    hooks.on_body = [&body](std::string_view bytes) {
      if (body.size() + bytes.size() > kLongestAnswer) throw Error("the hub's answer is longer than any that it has");
      body += bytes;
    };
    try {
      answer = web_get(request(path), hooks);
      const bool busy = answer.status == 429 || answer.status >= 500;
      if (!busy) return body;
      if (attempt >= 2) {
        throw WebError(fmt::format("{} answers with status {}", settings_.endpoint, answer.status), false);
      }
    } catch (const WebError& error) {
      if (error.lasting() || attempt >= 2) throw;
    }
    std::this_thread::sleep_for(std::chrono::duration<double>(wait));
  }
}

RepoFacts HubApi::facts(const std::string& repo) const {
  WebAnswer answer;
  const std::string body = read(fmt::format("/api/models/{}/revision/main?blobs=true", repo), answer);
  if (answer.status != 200) throw Error(explain(answer, repo, ""));
  const std::string document = "the hub's answer about " + repo;
  nlohmann::json json;
  try {
    json = parse_json(body, {.depth = 64, .values = 4'000'000});
  } catch (const JsonError&) {
    throw Error(fmt::format("{} is no hub: its answer about {} is not JSON", settings_.endpoint, repo));
  }
  const JsonField field(json, document);
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

void HubApi::complete(const std::string& repo, const std::string& commit, HubFile& file) const {
  if (file.bytes > 0 && !file.sum.empty()) return;
  WebRequest head = file_request(repo, commit, file.path);
  head.head_only = true;
  WebHooks hooks;
  hooks.stopping = stopping_;
  const WebAnswer answer = web_get(head, hooks);
  if (answer.status >= 400) throw Error(explain(answer, repo, file.path));
  std::string size = header(answer, "x-linked-size");
  if (size.empty() && answer.status == 200) size = header(answer, "content-length");
  std::int64_t bytes = 0;
  std::from_chars(size.data(), size.data() + size.size(), bytes);
  if (file.bytes == 0) file.bytes = bytes;
  std::string tag = tag_of(header(answer, "x-linked-etag"));
  if (tag.empty()) tag = tag_of(header(answer, "etag"));
  if (file.sum.empty() && is_sum(tag)) file.sum = tag;
  if (file.bytes <= 0 || file.bytes > kLargestFile || file.sum.empty()) {
    throw Error(
        fmt::format("{}: the hub does not say how large {} is and what its SHA-256 is, so that it cannot be "
                    "checked: nothing was taken",
                    repo, text::one_line(file.path)));
  }
}

std::vector<std::string> HubApi::near_repos(const std::string& repo) const {
  constexpr std::size_t kMostNamed = 3;
  const std::string name = repo.substr(repo.find('/') + 1);
  // The whole name first, then its beginning: where the end is mistyped a search for all of it finds nothing.
  std::vector<std::string> words = {name};
  if (const std::size_t dash = name.find_last_of("-_."); dash != std::string::npos && dash > 2) {
    words.push_back(name.substr(0, dash));
  }
  words.push_back(name.substr(0, std::max<std::size_t>(3, name.size() / 2)));
  std::vector<std::pair<int, std::string>> found;
  for (const std::string& word : words) {
    try {
      WebAnswer answer;
      const std::string body =
          read(fmt::format("/api/models?search={}&filter=gguf&sort=downloads&limit=50", url_path(word)), answer);
      if (answer.status != 200) return {};
      const nlohmann::json json = parse_json(body, {.depth = 64, .values = 1'000'000});
      JsonField(json).each([&](const JsonField& model) {
        const std::string& id = model["id"].string();
        if (id.size() > 96) return;
        found.emplace_back(text::edit_distance(text::lower_case(id), text::lower_case(repo)), text::one_line(id));
      });
    } catch (const WebStopped&) {
      throw;
    } catch (const Error&) {
      return {};  // names are a courtesy: the error that they belong to is what counts
    }
    if (!found.empty()) break;
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> names;
  for (const auto& [distance, id] : found) {
    if (names.size() < kMostNamed) names.push_back(id);
  }
  return names;
}

std::string HubApi::explain(const WebAnswer& answer, const std::string& repo, const std::string& what) const {
  const std::string code = header(answer, "x-error-code");
  const std::string page = settings_.endpoint + "/" + repo;
  const bool has_token = !settings_.token.empty();
  if (code == "GatedRepo" || (answer.status == 403 && code.empty())) {
    return fmt::format("{} is gated (status {}): ask for access at {}{}", repo, answer.status, page,
                       has_token ? ", with the account that the token belongs to" : ", then set HF_TOKEN");
  }
  if (code == "EntryNotFound" || (answer.status == 404 && !what.empty())) {
    return fmt::format("{} has no file {}", repo, text::one_line(what));
  }
  if (code == "RepoNotFound" || answer.status == 404 || (answer.status == 401 && !has_token)) {
    const std::vector<std::string> near = near_repos(repo);
    return fmt::format("{} is not on {} (status {}), or it is private{}{}", repo, settings_.endpoint, answer.status,
                       has_token ? "" : ": then set HF_TOKEN",
                       near.empty() ? "" : fmt::format("; near to it are {}", fmt::join(near, ", ")));
  }
  if (answer.status == 401) {
    return fmt::format("{} does not accept the token (status 401): HF_TOKEN, or the file that holds it, is out of date",
                       settings_.endpoint);
  }
  if (answer.status == 403) {
    return fmt::format("{} refuses {} (status 403): the token has no right to read it", settings_.endpoint, repo);
  }
  const std::string message = header(answer, "x-error-message");
  return fmt::format("{} answers with status {} for {}{}", settings_.endpoint, answer.status,
                     repo + (what.empty() ? "" : "/" + text::one_line(what)),
                     message.empty() ? "" : ": " + text::shorten(text::one_line(message), 200));
}

}  // namespace dts::hub
