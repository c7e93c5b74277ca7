#include "cli/builtin_model.h"

#include <fmt/format.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include "dts/error.h"

namespace dts::cli {
namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

// This program's file; empty: not known. A bare root may have no /proc: then the name it was started by has to do.
fs::path program_file() {
  std::error_code failure;
  const fs::path linked = fs::read_symlink("/proc/self/exe", failure);
  if (!failure) return linked;
  const char* started = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  const fs::path found = started == nullptr ? fs::path() : fs::canonical(started, failure);
  return failure ? fs::path() : found;
}

// Beside the installed program, or in the source tree it was built from.
std::optional<std::string> find_shipped(const std::string& name) {
  const fs::path program = program_file();
  const fs::path installed = program.parent_path().parent_path() / "share/dts" / name;
  if (!program.empty() && is_file(installed)) return installed.string();
  const fs::path source = fs::path(DTS_SOURCE_MODEL).parent_path() / name;
  if (is_file(source)) return source.string();
  return std::nullopt;
}

// A name of our own in the directory for temporary files.
std::string temporary_file() {
  std::error_code failure;
  const fs::path directory = fs::temp_directory_path(failure);
  if (failure) throw Error("TMPDIR: no directory for temporary files: " + failure.message());
  std::string path = (directory / "dts-random-XXXXXX").string();
  const int fd = mkstemp(path.data());
  if (fd < 0) throw Error(fmt::format("{}: cannot create a temporary file: {}", path, strerror(errno)));
  close(fd);
  return path;
}

}  // namespace

ModelFile find_builtin_model() {
  if (const char* chosen = std::getenv("DTS_BUILTIN_MODEL"); chosen != nullptr && *chosen != '\0') return {chosen};
  if (const auto found = find_shipped("dts-nano.gguf")) return {*found};
  ModelFile file = write_random_model_file({});
  file.stand_in = true;
  return file;
}

ModelFile write_random_model_file(const RandomModelOptions& options) {
  ModelFile file{.path = temporary_file(), .stand_in = false, .temporary = true};
  try {
    write_random_model(file.path, options);
  } catch (...) {
    unlink(file.path.c_str());
    throw;
  }
  return file;
}

std::string find_builtin_data(const std::string& name) {
  if (const auto found = find_shipped(name)) return *found;
  throw Error(name + ": it comes with the built-in model, which is not installed here");
}

ModelFileGuard::~ModelFileGuard() {
  if (file_.temporary) unlink(file_.path.c_str());
}

}  // namespace dts::cli
