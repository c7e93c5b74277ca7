#include "hub/blob_download.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <vector>

#include "hub/checksum.h"
#include "hub/hub_answers.h"
#include "text/display.h"
#include "text/numbers.h"

namespace dts::hub {
namespace {

// An open file that is closed again.
class OpenFile {
 public:
  OpenFile(const std::string& path, int flags) : path_(path), fd_(open(path.c_str(), flags | O_CLOEXEC, 0666)) {
    if (fd_ < 0) fail("cannot be opened");
  }
  ~OpenFile() { close(fd_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int fd() const { return fd_; }
  [[noreturn]] void fail(const char* what) const {
    throw Error(fmt::format("{}: {}: {}", path_, what, std::strerror(errno)));
  }

 private:
  std::string path_;
  int fd_;
};

bool stops(const DownloadHooks& hooks) { return hooks.stopping && hooks.stopping(); }

// One process at a time: the hub's own tools take the same lock.
void take_lock(const OpenFile& lock, const std::string& file, const DownloadHooks& hooks) {
  constexpr double kLook = 0.1;
  for (bool told = false; flock(lock.fd(), LOCK_EX | LOCK_NB) != 0; told = true) {
    if (errno != EWOULDBLOCK && errno != EINTR) lock.fail("cannot be locked");
    if (!told && hooks.note) {
      hooks.note(fmt::format("another process is downloading {}: waiting for it", text::one_line(file)));
    }
    web_wait(kLook, hooks.stopping);
  }
}

std::int64_t size_of(const std::string& path) {
  std::error_code failure;
  const std::uintmax_t size = std::filesystem::file_size(path, failure);
  return failure ? -1 : static_cast<std::int64_t>(size);
}

// What the file is, kept in step: the bytes on disk, their number and their sum.
class PartialBlob {
 public:
  PartialBlob(const std::string& path, std::int64_t size, Checksum::Kind kind)
      : file_(path, O_RDWR | O_CREAT), size_(size), sum_(kind, size) {
    const std::int64_t there = lseek(file_.fd(), 0, SEEK_END);
    if (there < 0) file_.fail("cannot be read");
    if (there > size_) {
      clear();
    } else {
      there_ = there;
    }
  }

  // The sum of what an earlier process left.
  void read_again(const DownloadHooks& hooks) {
    std::vector<char> buffer(std::size_t{1} << 20U);
    lseek(file_.fd(), 0, SEEK_SET);
    for (std::int64_t done = 0; done < there_;) {
      if (stops(hooks)) throw WebStopped();
      const auto wanted = std::min<std::int64_t>(there_ - done, static_cast<std::int64_t>(buffer.size()));
      const ssize_t n = read(file_.fd(), buffer.data(), static_cast<std::size_t>(wanted));
      if (n <= 0) file_.fail("cannot be read");
      sum_.add({buffer.data(), static_cast<std::size_t>(n)});
      done += n;
      if (hooks.progress) hooks.progress(done);
    }
  }

  void clear() {
    if (ftruncate(file_.fd(), 0) != 0) file_.fail("cannot be emptied");
    lseek(file_.fd(), 0, SEEK_SET);
    sum_.restart();
    there_ = 0;
  }

  void append(std::string_view bytes) {
    sum_.add(bytes);
    while (!bytes.empty()) {
      const ssize_t n = write(file_.fd(), bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) file_.fail("cannot be written");
      bytes.remove_prefix(static_cast<std::size_t>(n));
      there_ += n;
    }
  }

  void sync() const {
    if (fsync(file_.fd()) != 0) file_.fail("cannot be written");
  }

  std::int64_t there() const { return there_; }
  std::int64_t size() const { return size_; }
  std::string hex() { return sum_.hex(); }

 private:
  OpenFile file_;
  std::int64_t size_;
  std::int64_t there_ = 0;
  Checksum sum_;
};

class Download {
 public:
  Download(const HubApi& api, const HubSettings& settings, const BlobPlace& place, const DownloadHooks& hooks)
      : api_(api), settings_(settings), place_(place), hooks_(hooks) {}

  // Until all bytes are there.
  void fill(PartialBlob& partial) {
    std::int64_t most = partial.there();
    int failures = 0;
    double wait = settings_.retry_seconds;
    while (partial.there() < partial.size()) {
      std::string problem;
      try {
        problem = ask(partial);
      } catch (const WebError& error) {
        if (error.lasting()) throw;
        problem = error.what();
      }
      if (partial.there() >= partial.size()) break;
      // A byte that was never here before is progress; those of a server that begins anew each time are not.
      if (partial.there() > most) {
        most = partial.there();
        failures = 0;
        wait = settings_.retry_seconds;
      }
      if (++failures > settings_.retries) {
        throw Error(
            fmt::format("{}: the download broke off {} times at {} of {} bytes ({}); what has come is kept, and "
                        "the same command carries on from there",
                        name(), failures, text::grouped(partial.there()), text::grouped(partial.size()),
                        problem.empty() ? "the connection was closed" : problem));
      }
      if (hooks_.note && failures == 1) {
        hooks_.note(fmt::format("{}: {}; trying again from byte {}", name(),
                                problem.empty() ? "the connection was closed" : problem,
                                text::grouped(partial.there())));
      }
      web_wait(wait, hooks_.stopping);
      wait = std::min(wait * 2, 30.0);
    }
  }

  std::string name() const { return text::one_line(place_.file.path); }

 private:
  // One request. What was wrong with it, when it is worth another; empty: all came, or the connection was closed.
  std::string ask(PartialBlob& partial) {
    WebRequest request = api_.file_request(place_.repo, place_.commit, place_.file.path);
    request.from = partial.there();
    WebHooks web;
    web.stopping = hooks_.stopping;
    web.on_head = [&](const WebAnswer& answer) { begin(answer, partial, request.from); };
    web.on_body = [&](std::string_view bytes) {
      if (partial.there() + static_cast<std::int64_t>(bytes.size()) > partial.size()) {
        partial.clear();
        throw Error(fmt::format("{}: the server sends more than the {} bytes that the hub names: nothing was kept",
                                name(), text::grouped(partial.size())));
      }
      partial.append(bytes);
      if (hooks_.progress) hooks_.progress(partial.there());
    };
    const WebAnswer answer = web_get(request, web);
    if (answer.status == 200 || answer.status == 206) return "";
    if (answer.status == 416) {
      partial.clear();  // it has no such bytes: from the beginning
      return "the server has no such range";
    }
    if (answer.status == 429 || answer.status >= 500 || answer.status == 408) {
      return fmt::format("the server answers with status {}", answer.status);
    }
    throw Error(api_.explain(answer, place_.repo, place_.file.path));
  }

  // Before the first byte: whether these are the bytes that were asked for.
  void begin(const WebAnswer& answer, PartialBlob& partial, std::int64_t from) const {
    if (answer.status == 206) {
      const auto found = answer.headers.find("content-range");
      const ContentRange range = found == answer.headers.end() ? ContentRange{} : read_content_range(found->second);
      if (range.first != from) {
        throw Error(fmt::format("{}: the server was asked for the bytes from {} on and gives others ('{}')", name(),
                                from, found == answer.headers.end() ? "" : text::one_line(found->second)));
      }
      if (range.total >= 0) check_size(range.total);
    } else if (answer.status == 200) {
      if (partial.there() > 0) partial.clear();  // it knows no ranges
      if (const auto length = answer.headers.find("content-length"); length != answer.headers.end()) {
        std::int64_t bytes = -1;
        std::from_chars(length->second.data(), length->second.data() + length->second.size(), bytes);
        check_size(bytes);
      }
    }
  }

  void check_size(std::int64_t bytes) const {
    if (bytes == place_.file.bytes) return;
    throw Error(fmt::format("{}: the server offers {} bytes, but the hub names {}: nothing was taken", name(),
                            text::grouped(bytes), text::grouped(place_.file.bytes)));
  }

  const HubApi& api_;
  const HubSettings& settings_;
  const BlobPlace& place_;
  const DownloadHooks& hooks_;
};

}  // namespace

void download_blob(const HubApi& api, const HubSettings& settings, const RepoCache& cache, const BlobPlace& place,
                   const DownloadHooks& hooks) {
  const HubFile& file = place.file;
  const std::string blob = cache.blob(file.sum);
  const std::string incomplete = cache.incomplete(file.sum);
  cache.make_folders();
  const OpenFile lock(cache.lock(file.sum), O_RDWR | O_CREAT);
  take_lock(lock, file.path, hooks);
  if (size_of(blob) == file.bytes) return;  // somebody else has brought it

  const Checksum::Kind kind = file.sum.size() == 64 ? Checksum::Kind::kSha256 : Checksum::Kind::kGit;
  PartialBlob partial(incomplete, file.bytes, kind);
  Download download(api, settings, place, hooks);
  const bool resumed = partial.there() > 0;
  if (resumed) partial.read_again(hooks);
  download.fill(partial);
  std::string sum = partial.hex();
  if (sum != file.sum && resumed) {
    // What an earlier process left may have been spoiled: once more, all of it.
    if (hooks.note) {
      hooks.note(
          fmt::format("{}: the sum is wrong; what was there from before is thrown away, and all is downloaded again",
                      download.name()));
    }
    partial.clear();
    download.fill(partial);
    sum = partial.hex();
  }
  if (sum != file.sum) {
    std::remove(incomplete.c_str());
    throw Error(fmt::format("{}: its {} is {}, but the hub names {}: nothing was kept", download.name(),
                            kind == Checksum::Kind::kSha256 ? "SHA-256" : "git sum", sum, file.sum));
  }
  partial.sync();
  if (std::rename(incomplete.c_str(), blob.c_str()) != 0) {
    throw Error(fmt::format("{}: cannot be renamed to {}: {}", incomplete, blob, std::strerror(errno)));
  }
}

}  // namespace dts::hub
