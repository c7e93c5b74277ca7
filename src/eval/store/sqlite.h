// The little of SQLite's C interface that the store needs, with its errors as exceptions.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace dts::eval {

class Database {
 public:
  // Throws dts::Error naming the file. Read only, it can be in a directory that cannot be written to.
  Database(const std::string& path, bool read_only);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void execute(const std::string& sql);
  sqlite3* handle() const { return handle_; }
  const std::string& path() const { return path_; }
  [[noreturn]] void fail() const;  // throws SQLite's last words

 private:
  void open(const std::string& name, int flags);

  std::string path_;
  sqlite3* handle_ = nullptr;
};

// A prepared statement: bind in order, step, read columns. Reset when it goes out of scope.
class Statement {
 public:
  Statement(const Database& database, std::string_view sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& bind(std::string_view text);
  Statement& bind(std::int64_t number);
  Statement& bind(int number) { return bind(static_cast<std::int64_t>(number)); }
  Statement& bind(bool flag) { return bind(static_cast<std::int64_t>(flag ? 1 : 0)); }
  Statement& bind(double number);
  Statement& bind_blob(std::string_view bytes);

  bool step();  // true: a row is there
  void run();   // to the end

  std::string text(int column) const;
  std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  double real(int column) const { return sqlite3_column_double(statement_, column); }
  std::string blob(int column) const;

 private:
  const Database& database_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
};

// Rolled back unless committed. Takes the write lock at once, so that what it reads stays true.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace dts::eval
