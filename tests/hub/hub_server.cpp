#include "hub/hub_server.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/temporary_directory.h"

namespace dts::test {
namespace {

std::string header_of(const std::string& headers, const std::string& name) {
  const std::size_t at = headers.find("\r\n" + name + ": ");
  if (at == std::string::npos) return "";
  const std::size_t begin = at + 2 + name.size() + 2;
  return headers.substr(begin, headers.find("\r\n", begin) - begin);
}

std::string head(int status, const std::string& more) {
  return "HTTP/1.1 " + std::to_string(status) + " X\r\nConnection: close\r\n" + more + "\r\n";
}

std::string with_length(int status, const std::string& body, const std::string& more = "") {
  return head(status, "Content-Length: " + std::to_string(body.size()) + "\r\n" + more) + body;
}

}  // namespace

std::string sha256_of(const std::string& bytes) {
  const TemporaryDirectory folder;
  std::ofstream(folder.file("bytes"), std::ios::binary) << bytes;
  FILE* pipe = popen(("sha256sum " + folder.file("bytes")).c_str(), "r");
  char sum[65] = {};
  const std::size_t got = fread(sum, 1, 64, pipe);
  pclose(pipe);
  return std::string(sum, got);
}

HubServer::HubServer(std::string repo, std::map<std::string, std::string> files)
    : repo_(std::move(repo)),
      files_(std::move(files)),
      storage_([this](const LoopbackRequest& request, LoopbackReply& reply) { answer_storage(request, reply); }),
      hub_([this](const LoopbackRequest& request, LoopbackReply& reply) { answer_hub(request, reply); }) {}

std::vector<std::string> HubServer::hub_heads() const {
  const std::lock_guard lock(mutex_);
  return hub_heads_;
}

std::vector<std::string> HubServer::storage_heads() const {
  const std::lock_guard lock(mutex_);
  return storage_heads_;
}

void HubServer::refuse(LoopbackReply& reply, int status) const {
  const std::string code = faults.error_code.empty() ? "" : "X-Error-Code: " + faults.error_code + "\r\n";
  reply.raw(with_length(status, "{\"error\":\"no\"}", code));
}

std::string HubServer::facts() const {
  nlohmann::json siblings = nlohmann::json::array();
  siblings.push_back({{"rfilename", "README.md"}, {"size", 12}, {"blobId", "00"}});
  for (const auto& [path, bytes] : files_) {
    nlohmann::json sibling = {{"rfilename", path}};
    const std::int64_t size = static_cast<std::int64_t>(bytes.size()) + faults.size_off;
    if (!faults.no_storage_facts) {
      sibling["size"] = size;
      sibling["blobId"] = "1111111111111111111111111111111111111111";
      sibling["lfs"] = {{"sha256", sha256_of(bytes)}, {"size", size}, {"pointerSize", 134}};
    }
    siblings.push_back(sibling);
  }
  return nlohmann::json{{"id", repo_}, {"sha", kCommit}, {"siblings", siblings}}.dump();
}

void HubServer::answer_hub(const LoopbackRequest& request, LoopbackReply& reply) {
  {
    const std::lock_guard lock(mutex_);
    hub_heads_.push_back(request.headers);
  }
  if (request.path.starts_with("/api/models?search=")) {
    nlohmann::json found = nlohmann::json::array();
    const std::size_t begin = request.path.find('=') + 1;
    const std::string word = request.path.substr(begin, request.path.find('&') - begin);
    for (const std::string& name : known_repos) {
      if (name.find(word) != std::string::npos) found.push_back({{"id", name}});
    }
    reply.raw(with_length(200, found.dump()));
    return;
  }
  if (!faults.token.empty() && header_of(request.headers, "Authorization") != "Bearer " + faults.token) {
    return refuse(reply, 401);
  }
  if (request.path == "/api/models/" + repo_ + "/revision/main?blobs=true") {
    if (faults.api_status != 200) return refuse(reply, faults.api_status);
    reply.raw(with_length(200, facts()));
    return;
  }
  const std::string files = "/" + repo_ + "/resolve/" + kCommit + "/";
  if (!request.path.starts_with(files)) return refuse(reply, 404);
  const std::string path = request.path.substr(files.size());
  const auto found = files_.find(path);
  if (found == files_.end()) return refuse(reply, 404);
  if (faults.file_status != 200) return refuse(reply, faults.file_status);
  if (faults.busy > 0) {
    --faults.busy;
    return refuse(reply, 503);
  }
  if (faults.serve_here) return send_file(request, reply, path);
  const std::string target = faults.redirect.empty() ? storage_url() + "/" + path + "?signature=s" : faults.redirect;
  reply.raw(with_length(302, "",
                        "Location: " + target + "\r\nX-Linked-Etag: \"" + sha256_of(found->second) +
                            "\"\r\nX-Linked-Size: " + std::to_string(found->second.size()) + "\r\n"));
}

void HubServer::answer_storage(const LoopbackRequest& request, LoopbackReply& reply) {
  {
    const std::lock_guard lock(mutex_);
    storage_heads_.push_back(request.headers);
  }
  send_file(request, reply, request.path.substr(1, request.path.find('?') - 1));
}

void HubServer::send_file(const LoopbackRequest& request, LoopbackReply& reply, const std::string& path) {
  ++file_requests_;
  std::string bytes = files_.at(path);
  if (faults.spoil) bytes[bytes.size() / 2] ^= 1;
  bytes += std::string(faults.surplus, 'x');
  std::size_t from = 0;
  const std::string range = header_of(request.headers, "Range");
  if (!faults.ignore_ranges && range.starts_with("bytes=")) from = std::strtoull(range.c_str() + 6, nullptr, 10);
  if (from >= bytes.size()) return refuse(reply, 416);
  const std::string rest = bytes.substr(from);
  const std::string size = std::to_string(bytes.size());
  std::string more = faults.no_length ? "" : "Content-Length: " + std::to_string(rest.size()) + "\r\n";
  if (from > 0) {
    const std::size_t first = faults.other_range ? from - 1 : from;
    more +=
        "Content-Range: bytes " + std::to_string(first) + "-" + std::to_string(bytes.size() - 1) + "/" + size + "\r\n";
  }
  if (!reply.raw(head(from > 0 ? 206 : 200, more))) return;
  if (faults.send) return faults.send(from, reply, rest);
  std::size_t sent = rest.size();
  if (faults.break_after > 0 && faults.breaks != 0) {
    sent = std::min(sent, faults.break_after);
    if (faults.breaks > 0) --faults.breaks;
  }
  reply.raw(rest.substr(0, sent));
  body_bytes_ += static_cast<std::int64_t>(sent);
}

}  // namespace dts::test
