// A hub on loopback ports for tests: the API about repositories, their files behind a redirect to another host as the
// real one has it, and the ways in which such a server can fail.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "remote/loopback_server.h"

namespace dts::test {

inline constexpr const char* kCommit = "0123456789abcdef0123456789abcdef01234567";

// SHA-256 of `bytes`, by the program that everybody has: the oracle of ours.
std::string sha256_of(const std::string& bytes);

struct HubFaults {
  std::size_t break_after = 0;    // bytes of a body, then the connection ends; 0: never
  int breaks = -1;                // so many times; -1: always
  bool ignore_ranges = false;     // 200 with all of it
  bool other_range = false;       // 206, but for bytes that nobody asked for
  bool no_storage_facts = false;  // the API says neither sizes nor sums: the file's own headers do
  bool no_length = false;         // no Content-Length: the end of the connection is the end
  bool spoil = false;             // one byte is another
  std::int64_t size_off = 0;      // added to the size that the API names
  std::size_t surplus = 0;        // bytes after the file's
  int api_status = 200;
  int file_status = 200;
  int busy = 0;             // so many file requests are answered with 503 first
  std::string error_code;   // X-Error-Code
  std::string token;        // else 401; empty: everybody may
  std::string redirect;     // of files: empty: to the other port
  bool serve_here = false;  // files without a redirect
  std::function<void(std::size_t from, LoopbackReply&, const std::string& rest)> send = nullptr;  // instead of all
};

class HubServer {
 public:
  // `files` of `repo`: path to bytes.
  HubServer(std::string repo, std::map<std::string, std::string> files);

  std::string url() const { return hub_.url(); }
  std::string storage_url() const { return storage_.url(); }
  HubFaults faults;                      // set before a request
  std::vector<std::string> known_repos;  // what a search finds

  // Counted since the start.
  std::int64_t body_bytes() const { return body_bytes_; }
  int file_requests() const { return file_requests_; }
  int requests() const { return hub_.requests() + storage_.requests(); }
  std::vector<std::string> hub_heads() const;
  std::vector<std::string> storage_heads() const;

 private:
  void answer_hub(const LoopbackRequest& request, LoopbackReply& reply);
  void answer_storage(const LoopbackRequest& request, LoopbackReply& reply);
  void send_file(const LoopbackRequest& request, LoopbackReply& reply, const std::string& path);
  void refuse(LoopbackReply& reply, int status) const;
  std::string facts() const;

  std::string repo_;
  std::map<std::string, std::string> files_;
  std::atomic<std::int64_t> body_bytes_ = 0;
  std::atomic<int> file_requests_ = 0;
  mutable std::mutex mutex_;
  std::vector<std::string> hub_heads_;
  std::vector<std::string> storage_heads_;
  LoopbackServer storage_;
  LoopbackServer hub_;
};

}  // namespace dts::test
