#include "hub/hub_api.h"

#include <fmt/format.h>

#include <algorithm>

#include "json/parse.h"
#include "text/ascii.h"
#include "text/display.h"
#include "text/nearest.h"

namespace dts::hub {
namespace {

constexpr std::size_t kLongestAnswer = std::size_t{64} << 20U;
}  // namespace

WebRequest HubApi::request(const std::string& path) const {
  WebRequest request;
  request.url = settings_.endpoint + path;
  request.token = settings_.token;
  request.token_origin = origin_of(settings_.endpoint);
  request.certificates = settings_.certificates;
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
    web_wait(wait, stopping_);
  }
}

RepoFacts HubApi::facts(const std::string& repo) const {
  WebAnswer answer;
  const std::string body = read(fmt::format("/api/models/{}/revision/main?blobs=true", repo), answer);
  if (answer.status != 200) throw Error(explain(answer, repo, ""));
  try {
    return read_repo_facts(body, "the hub's answer about " + repo);
  } catch (const JsonError&) {
    throw Error(fmt::format("{} is no hub: its answer about {} is not JSON", settings_.endpoint, repo));
  }
}

void HubApi::complete(const std::string& repo, const std::string& commit, HubFile& file) const {
  if (is_checkable(file)) return;
  WebRequest head = file_request(repo, commit, file.path);
  head.head_only = true;
  WebHooks hooks;
  hooks.stopping = stopping_;
  const WebAnswer answer = web_get(head, hooks);
  if (answer.status >= 400) throw Error(explain(answer, repo, file.path));
  read_file_headers(answer, file);
  if (!is_checkable(file)) {
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
      for (std::string& id : read_repo_names(body)) {
        const int distance = text::edit_distance(text::lower_case(id), text::lower_case(repo));
        found.emplace_back(distance, std::move(id));
      }
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
  const std::string code = header_of(answer, "x-error-code");
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
  const std::string message = header_of(answer, "x-error-message");
  return fmt::format("{} answers with status {} for {}{}", settings_.endpoint, answer.status,
                     repo + (what.empty() ? "" : "/" + text::one_line(what)),
                     message.empty() ? "" : ": " + text::shorten(text::one_line(message), 200));
}

}  // namespace dts::hub
