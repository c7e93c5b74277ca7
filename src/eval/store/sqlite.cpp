#include "eval/store/sqlite.h"

#include <fmt/format.h>

#include <cctype>
#include <filesystem>
#include <utility>

#include "dts/error.h"

namespace dts::eval {

namespace {

// The file as SQLite's URI, promising that nobody changes it: only then does SQLite read a file in WAL mode without
// making files beside it.
std::string immutable_uri(const std::string& path) {
  std::string out = "file:";
  for (const char c : path) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' || c == '.' || c == '-' || c == '_';
    out += plain ? std::string(1, c) : fmt::format("%{:02x}", static_cast<unsigned char>(c));
  }
  return out + "?immutable=1";
}

// Changes that are not in the database file yet.
bool has_log(const std::string& path) {
  std::error_code ignored;
  const auto size = std::filesystem::file_size(path + "-wal", ignored);
  return !ignored && size > 0;
}

}  // namespace

Database::Database(const std::string& path, bool read_only) : path_(path) {
  open(path, read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  if (!read_only) return;
  // In a directory that cannot be written to, the first read fails.
  const int first = sqlite3_exec(handle_, "SELECT count(*) FROM sqlite_master", nullptr, nullptr, nullptr);
  if ((first & 0xff) != SQLITE_READONLY && (first & 0xff) != SQLITE_CANTOPEN) return;
  sqlite3_close(std::exchange(handle_, nullptr));
  if (has_log(path)) {
    throw Error(path + ": its last changes are in " + path + "-wal, which can be read in a writable directory only");
  }
  open(immutable_uri(path), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
}

void Database::open(const std::string& name, int flags) {
  if (sqlite3_open_v2(name.c_str(), &handle_, flags, nullptr) != SQLITE_OK) {
    const std::string why = handle_ != nullptr ? sqlite3_errmsg(handle_) : "out of memory";
    sqlite3_close(handle_);
    throw Error(path_ + ": " + why);
  }
  sqlite3_busy_timeout(handle_, 30000);  // another process may be writing
}

Database::~Database() { sqlite3_close(handle_); }

void Database::fail() const { throw Error(path_ + ": " + sqlite3_errmsg(handle_)); }

void Database::execute(const std::string& sql) {
  if (sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

Statement::Statement(const Database& database, std::string_view sql) : database_(database) {
  if (sqlite3_prepare_v2(database.handle(), sql.data(), static_cast<int>(sql.size()), &statement_, nullptr) !=
      SQLITE_OK) {
    database_.fail();
  }
}

Statement::~Statement() { sqlite3_finalize(statement_); }

Statement& Statement::bind(std::string_view text) {
  if (sqlite3_bind_text64(statement_, ++bound_, text.data() != nullptr ? text.data() : "", text.size(),
                          SQLITE_TRANSIENT, SQLITE_UTF8) != SQLITE_OK) {
    database_.fail();
  }
  return *this;
}

Statement& Statement::bind(std::int64_t number) {
  if (sqlite3_bind_int64(statement_, ++bound_, number) != SQLITE_OK) database_.fail();
  return *this;
}

Statement& Statement::bind(double number) {
  if (sqlite3_bind_double(statement_, ++bound_, number) != SQLITE_OK) database_.fail();
  return *this;
}

Statement& Statement::bind_blob(std::string_view bytes) {
  if (sqlite3_bind_blob64(statement_, ++bound_, bytes.data(), bytes.size(), SQLITE_TRANSIENT) != SQLITE_OK) {
    database_.fail();
  }
  return *this;
}

bool Statement::step() {
  const int rc = sqlite3_step(statement_);
  if (rc == SQLITE_ROW) return true;
  if (rc != SQLITE_DONE) database_.fail();
  return false;
}

void Statement::run() {
  while (step()) {
  }
}

std::string Statement::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  return bytes == nullptr ? std::string()
                          : std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
}

std::string Statement::blob(int column) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  return bytes == nullptr ? std::string()
                          : std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
}

Transaction::Transaction(Database& database) : database_(database) { database_.execute("BEGIN IMMEDIATE"); }

Transaction::~Transaction() {
  if (open_) sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
  database_.execute("COMMIT");
  open_ = false;
}

}  // namespace dts::eval
