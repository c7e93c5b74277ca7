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

void MappedFile::let_go(const std::uint8_t* from, std::size_t bytes) const {
  // Whole pages only: what lies beside may be in use.
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const auto offset = static_cast<std::size_t>(from - data_);
  const std::size_t first = (offset + page - 1) / page * page;
  const std::size_t end = (offset + bytes) / page * page;
  if (first < end) madvise(const_cast<std::uint8_t*>(data_) + first, end - first, MADV_DONTNEED);
}

}  // namespace dts::native
