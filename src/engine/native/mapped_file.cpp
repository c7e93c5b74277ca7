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

// How far an address is beyond the beginning of its page.
std::size_t beyond_page(const std::uint8_t* at, std::size_t page) {
  return reinterpret_cast<std::uintptr_t>(at) % page;
}

void* address(const std::uint8_t* at) { return const_cast<std::uint8_t*>(at); }

std::size_t page_size() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

}  // namespace

bool MappedFile::fetch(const std::uint8_t* from, std::size_t bytes) {
  if (bytes == 0) return true;
  const std::size_t before = beyond_page(from, page_size());
#ifdef MADV_POPULATE_READ
  if (madvise(address(from - before), bytes + before, MADV_POPULATE_READ) == 0) return true;
  if (errno != EINVAL) return false;  // else a kernel that does not know it
#endif
  madvise(address(from - before), bytes + before, MADV_WILLNEED);
  return true;
}

void MappedFile::let_go(const std::uint8_t* from, std::size_t bytes) {
  // Whole pages only: what lies beside may be in use.
  const std::size_t page = page_size();
  const std::size_t before = (page - beyond_page(from, page)) % page;
  if (bytes <= before) return;
  const std::size_t whole = (bytes - before) / page * page;
  if (whole > 0) madvise(address(from + before), whole, MADV_DONTNEED);
}

}  // namespace dts::native
