#include "eval/store.h"

#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "dts/error.h"
#include "eval/sqlite.h"

namespace dts::eval {
namespace {

constexpr int kApplicationId = 0x64747331;  // "dts1": in the file's header, so that a foreign database is known as one
constexpr int kVersion = 1;

constexpr const char* kSchema = R"sql(
CREATE TABLE settings(dataset TEXT NOT NULL, method TEXT NOT NULL, settings TEXT NOT NULL,
  PRIMARY KEY(dataset, method)) WITHOUT ROWID;
CREATE TABLE claims(dataset TEXT NOT NULL, method TEXT NOT NULL, seed INTEGER NOT NULL, question TEXT NOT NULL,
  process TEXT NOT NULL, PRIMARY KEY(dataset, method, seed, question)) WITHOUT ROWID;
CREATE TABLE results(dataset TEXT NOT NULL, method TEXT NOT NULL, seed INTEGER NOT NULL, question TEXT NOT NULL,
  task TEXT NOT NULL, difficulty TEXT NOT NULL, gold TEXT NOT NULL, answer TEXT NOT NULL, score REAL NOT NULL,
  extracted INTEGER NOT NULL, finished INTEGER NOT NULL, reason TEXT NOT NULL, votes INTEGER NOT NULL,
  exhausted INTEGER NOT NULL, branch_events INTEGER NOT NULL, steps INTEGER NOT NULL, prompt_tokens INTEGER NOT NULL,
  unique_tokens INTEGER NOT NULL, branch_tokens INTEGER NOT NULL, fed_tokens INTEGER NOT NULL,
  chosen_tokens INTEGER NOT NULL, seconds REAL NOT NULL, flops REAL NOT NULL, document BLOB NOT NULL,
  PRIMARY KEY(dataset, method, seed, question));
)sql";

constexpr const char* kRowColumns =
    "dataset, method, seed, question, task, difficulty, gold, answer, score, extracted, finished, reason, votes, "
    "exhausted, branch_events, steps, prompt_tokens, unique_tokens, branch_tokens, fed_tokens, chosen_tokens, seconds, "
    "flops";

// Trees compress about tenfold.
std::string compress_text(const std::string& text) {
  uLongf size = compressBound(text.size());
  std::string out(8 + size, '\0');
  const std::uint64_t plain = text.size();
  std::memcpy(out.data(), &plain, 8);
  if (compress2(reinterpret_cast<Bytef*>(out.data() + 8), &size, reinterpret_cast<const Bytef*>(text.data()),
                text.size(), 6) != Z_OK) {
    throw Error("a tree could not be compressed");
  }
  out.resize(8 + size);
  return out;
}

std::string decompress_text(const std::string& bytes, const std::string& path) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 31U;
  std::uint64_t plain = 0;
  if (bytes.size() >= 8) std::memcpy(&plain, bytes.data(), 8);
  if (bytes.size() < 8 || plain > kMost) throw Error(path + ": a stored tree is damaged");
  std::string out(plain, '\0');
  uLongf size = plain;
  if (uncompress(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(bytes.data() + 8),
                 bytes.size() - 8) != Z_OK ||
      size != plain) {
    throw Error(path + ": a stored tree is damaged");
  }
  return out;
}

// A process's identity: its number alone is reused, so its start time belongs to it. Empty when it is not running.
std::string process_identity(const std::string& pid) {
  std::ifstream stat("/proc/" + pid + "/stat");
  std::string line;
  if (!std::getline(stat, line)) return {};
  // Fields after the command's name, which is in parentheses and may hold anything; start time is field 22.
  std::istringstream fields(line.substr(line.rfind(')') + 1));
  std::string field;
  for (int i = 3; i <= 22; ++i) fields >> field;
  return pid + ":" + field;
}

bool is_alive(const std::string& identity) {
  return process_identity(identity.substr(0, identity.find(':'))) == identity;
}

Statement& bind_key(Statement& statement, const RowKey& key) {
  return statement.bind(key.dataset).bind(key.method).bind(static_cast<std::int64_t>(key.seed)).bind(key.question);
}

constexpr const char* kWhereKey = " WHERE dataset = ? AND method = ? AND seed = ? AND question = ?";

Row read_row(const Statement& s) {
  Row row;
  row.key = {s.text(0), s.text(1), static_cast<std::uint64_t>(s.integer(2)), s.text(3)};
  row.task = s.text(4);
  row.difficulty = s.text(5);
  row.gold = s.text(6);
  row.answer = s.text(7);
  row.score = s.real(8);
  row.extracted = s.integer(9) != 0;
  row.finished = s.integer(10) != 0;
  row.reason = s.text(11);
  row.votes = static_cast<int>(s.integer(12));
  row.exhausted = static_cast<int>(s.integer(13));
  row.branch_events = static_cast<int>(s.integer(14));
  row.steps = static_cast<int>(s.integer(15));
  row.prompt_tokens = s.integer(16);
  row.unique_tokens = s.integer(17);
  row.branch_tokens = s.integer(18);
  row.fed_tokens = s.integer(19);
  row.chosen_tokens = static_cast<int>(s.integer(20));
  row.seconds = s.real(21);
  row.flops = s.real(22);
  return row;
}

// "name: 0.6 there, 0.7 now", for every key whose value differs.
std::string differences(const std::string& stored, const std::string& wanted) {
  const nlohmann::json a = nlohmann::json::parse(stored, nullptr, false);
  const nlohmann::json b = nlohmann::json::parse(wanted, nullptr, false);
  if (!a.is_object() || !b.is_object()) return "the stored settings are damaged";
  std::set<std::string> keys;
  for (const auto& [key, value] : a.items()) keys.insert(key);
  for (const auto& [key, value] : b.items()) keys.insert(key);
  std::string out;
  for (const std::string& key : keys) {
    const std::string there = a.contains(key) ? a[key].dump() : "absent";
    const std::string now = b.contains(key) ? b[key].dump() : "absent";
    if (there != now) out += fmt::format("{}{} is {} there and {} now", out.empty() ? "" : "; ", key, there, now);
  }
  return out;
}

}  // namespace

struct Store::Impl {
  Impl(const std::string& path, bool read_only) : database(path, read_only), self(process_identity(self_pid())) {}
  static std::string self_pid() { return std::to_string(getpid()); }

  std::int64_t pragma(const char* name) const {
    Statement statement(database, fmt::format("PRAGMA {}", name));
    return statement.step() ? statement.integer(0) : 0;
  }

  Database database;
  std::string self;
};

Store::Store(const std::string& path, bool read_only) : impl_(std::make_unique<Impl>(path, read_only)) {
  Database& database = impl_->database;
  if (!read_only) {
    database.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
    Transaction transaction(database);
    Statement tables(database, "SELECT count(*) FROM sqlite_master");
    tables.step();
    if (tables.integer(0) == 0) {
      database.execute(kSchema);
      database.execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId, kVersion));
    }
    transaction.commit();
  }
  if (impl_->pragma("application_id") != kApplicationId) {
    throw Error(path + ": is a database, but not one of dts eval");
  }
  const std::int64_t version = impl_->pragma("user_version");
  if (version != kVersion) {
    throw Error(fmt::format("{}: has version {} of the results' format; this program reads version {}", path, version,
                            kVersion));
  }
}

Store::~Store() = default;

void Store::require_settings(const std::string& dataset, const std::string& method, const std::string& wanted) {
  Transaction transaction(impl_->database);
  const std::string stored = settings(dataset, method);
  if (stored.empty()) {
    Statement(impl_->database, "INSERT INTO settings VALUES(?, ?, ?)").bind(dataset).bind(method).bind(wanted).run();
    transaction.commit();
    return;
  }
  const std::string different = differences(stored, wanted);
  if (different.empty()) return;
  throw usage_error(fmt::format("{} has results of {} on {} with other settings: {}; give them again, or another file",
                                impl_->database.path(), method, dataset, different));
}

std::string Store::settings(const std::string& dataset, const std::string& method) const {
  Statement statement(impl_->database, "SELECT settings FROM settings WHERE dataset = ? AND method = ?");
  statement.bind(dataset).bind(method);
  return statement.step() ? statement.text(0) : std::string();
}

bool Store::has(const RowKey& key) const {
  Statement statement(impl_->database, fmt::format("SELECT 1 FROM results{}", kWhereKey));
  return bind_key(statement, key).step();
}

bool Store::claim(const RowKey& key) {
  Transaction transaction(impl_->database);
  if (has(key)) return false;
  Statement held(impl_->database, fmt::format("SELECT process FROM claims{}", kWhereKey));
  if (bind_key(held, key).step() && is_alive(held.text(0))) return false;
  Statement take(impl_->database, "INSERT OR REPLACE INTO claims VALUES(?, ?, ?, ?, ?)");
  bind_key(take, key).bind(impl_->self).run();
  transaction.commit();
  return true;
}

void Store::abandon(const RowKey& key) {
  Statement statement(impl_->database, fmt::format("DELETE FROM claims{}", kWhereKey));
  bind_key(statement, key).run();
}

void Store::save(const Row& row) {
  Transaction transaction(impl_->database);
  Statement insert(impl_->database,
                   fmt::format("INSERT OR IGNORE INTO results({}, document) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,"
                               "?,?,?,?,?,?)",
                               kRowColumns));
  bind_key(insert, row.key)
      .bind(row.task)
      .bind(row.difficulty)
      .bind(row.gold)
      .bind(row.answer)
      .bind(row.score)
      .bind(row.extracted)
      .bind(row.finished)
      .bind(row.reason)
      .bind(row.votes)
      .bind(row.exhausted)
      .bind(row.branch_events)
      .bind(row.steps)
      .bind(row.prompt_tokens)
      .bind(row.unique_tokens)
      .bind(row.branch_tokens)
      .bind(row.fed_tokens)
      .bind(row.chosen_tokens)
      .bind(row.seconds)
      .bind(row.flops)
      .bind_blob(compress_text(row.document))
      .run();
  abandon(row.key);
  transaction.commit();
}

std::size_t Store::count() const {
  Statement statement(impl_->database, "SELECT count(*) FROM results");
  statement.step();
  return static_cast<std::size_t>(statement.integer(0));
}

std::vector<Row> Store::rows() const {
  Statement statement(impl_->database,
                      fmt::format("SELECT {} FROM results ORDER BY dataset, method, seed, question", kRowColumns));
  std::vector<Row> rows;
  while (statement.step()) rows.push_back(read_row(statement));
  return rows;
}

std::optional<Row> Store::row(const RowKey& key) const {
  Statement statement(impl_->database, fmt::format("SELECT {}, document FROM results{}", kRowColumns, kWhereKey));
  if (!bind_key(statement, key).step()) return std::nullopt;
  Row row = read_row(statement);
  row.document = decompress_text(statement.blob(23), impl_->database.path());
  return row;
}

}  // namespace dts::eval
