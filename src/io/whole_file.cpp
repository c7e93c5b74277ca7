#include "io/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "dts/error.h"

namespace dts {
namespace {

constexpr std::size_t kReadChunk = 1U << 18U;  // bytes

[[noreturn]] void fail(const std::string& path, const std::string& what, int error) {
  throw Error(path + ": " + what + ": " + std::strerror(error));
}

// Owns a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return fd_; }
  // 0, or the errno of what only shows on closing.
  int close() { return ::close(std::exchange(fd_, -1)) == 0 ? 0 : errno; }

 private:
  int fd_;
};

// 0, or the errno of the write that failed.
int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

std::string read_all(int fd, const std::string& name, std::size_t max_bytes) {
  std::string bytes;
  for (;;) {
    const std::size_t have = bytes.size();
    bytes.resize(have + kReadChunk);
    const ssize_t got = ::read(fd, bytes.data() + have, kReadChunk);
    const int error = errno;
    bytes.resize(have + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && error == EINTR) continue;
    if (got < 0) fail(name, "cannot read", error);
    if (got == 0) return bytes;
    if (bytes.size() > max_bytes)
      throw Error(name + ": larger than the " + std::to_string(max_bytes) + " bytes that are read");
  }
}

// Where a rename has to go so that it replaces the file and not a link to it.
std::string resolve_links(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> resolved(::realpath(path.c_str(), nullptr), &std::free);
  return resolved == nullptr ? path : std::string(resolved.get());
}

// Opens a new, hidden file in the same directory and leaves its name; -1 and errno when it cannot.
int create_beside(const std::string& place, std::string& name) {
  const std::size_t slash = place.rfind('/');
  const std::string directory = slash == std::string::npos ? std::string() : place.substr(0, slash + 1);
  constexpr int kAttempts = 100;  // other writers, and what a crash left behind
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    name = directory + ".dts-" + std::to_string(::getpid()) + "-" + std::to_string(attempt) + ".tmp";
    const int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  return -1;
}

void write_directly(const std::string& path, std::string_view contents) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.get() < 0) fail(path, "cannot write", errno);
  if (const int error = write_all(file.get(), contents); error != 0) fail(path, "cannot write", error);
  if (const int error = file.close(); error != 0) fail(path, "cannot write", error);
}

}  // namespace

std::string read_whole_file(const std::string& path, std::size_t max_bytes) {
  if (path == "-") return read_all(STDIN_FILENO, "standard input", max_bytes);
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) fail(path, "cannot read", errno);
  return read_all(file.get(), path, max_bytes);
}

void write_whole_file(const std::string& path, std::string_view contents) {
  if (path == "-") {
    const int error = write_all(STDOUT_FILENO, contents);
    if (error != 0 && error != EPIPE) fail("standard output", "cannot write", error);
    return;
  }
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) fail(path, "cannot write", EISDIR);
  if (exists && !S_ISREG(status.st_mode)) return write_directly(path, contents);
  if (exists && ::access(path.c_str(), W_OK) != 0) fail(path, "cannot write", errno);

  const std::string place = resolve_links(path);
  std::string temporary;
  Descriptor file(create_beside(place, temporary));
  if (file.get() < 0) fail(path, "cannot write", errno);
  int error = exists && ::fchmod(file.get(), status.st_mode & 07777U) != 0 ? errno : 0;
  if (error == 0) error = write_all(file.get(), contents);
  if (error == 0 && ::fsync(file.get()) != 0) error = errno;
  if (const int closing = file.close(); error == 0) error = closing;
  if (error == 0 && ::rename(temporary.c_str(), place.c_str()) != 0) error = errno;
  if (error == 0) return;
  ::unlink(temporary.c_str());
  fail(path, "cannot write", error);
}

}  // namespace dts
