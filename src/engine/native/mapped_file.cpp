#include "engine/native/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "dts/error.h"

namespace dts::native {

MappedFile::MappedFile(const std::string& path) {
  const auto failed = [&] { return Error(path + ": cannot be mapped: " + std::strerror(errno)); };
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw failed();
  struct stat facts = {};
  void* memory = MAP_FAILED;
  if (fstat(file, &facts) == 0 && facts.st_size > 0) {
    size_ = static_cast<std::size_t>(facts.st_size);
    memory = mmap(nullptr, size_, PROT_READ, MAP_SHARED, file, 0);
  }
  const Error error = failed();  // before close() changes errno
  close(file);
  if (memory == MAP_FAILED) throw error;
  data_ = static_cast<const std::uint8_t*>(memory);
}

MappedFile::~MappedFile() { munmap(const_cast<std::uint8_t*>(data_), size_); }

namespace {

// The addresses of the pages that a stretch lies on.
struct Pages {
  std::uintptr_t first;
  std::uintptr_t end;
  void* data() const { return reinterpret_cast<void*>(first); }
  std::size_t size() const { return end - first; }
};

std::uintptr_t page_size() { return static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE)); }

}  // namespace

bool MappedFile::fetch(const std::uint8_t* from, std::size_t bytes) {
  if (bytes == 0) return true;
  const auto begin = reinterpret_cast<std::uintptr_t>(from);
  const std::uintptr_t page = page_size();
  const Pages pages = {begin / page * page, (begin + bytes + page - 1) / page * page};
#ifdef MADV_POPULATE_READ
  if (madvise(pages.data(), pages.size(), MADV_POPULATE_READ) == 0) return true;
  if (errno != EINVAL) return false;  // else a kernel that does not know it
#endif
  madvise(pages.data(), pages.size(), MADV_WILLNEED);
  return true;
}

void MappedFile::let_go(const std::uint8_t* from, std::size_t bytes) {
  // Whole pages only: what lies beside may be in use.
  const auto begin = reinterpret_cast<std::uintptr_t>(from);
  const std::uintptr_t page = page_size();
  const Pages pages = {(begin + page - 1) / page * page, (begin + bytes) / page * page};
  if (pages.first < pages.end) madvise(pages.data(), pages.size(), MADV_DONTNEED);
}

}  // namespace dts::native
