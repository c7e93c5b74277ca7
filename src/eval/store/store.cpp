#include "eval/store/store.h"

#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "dts/error.h"
#include "dts/version.h"
#include "eval/store/sqlite.h"

namespace dts::eval {
namespace {

constexpr int kApplicationId = 0x64747331;  // "dts1": in the file's header, so that a foreign database is known as one
constexpr int kFormat = 3;

constexpr const char* kSchema = R"sql(
CREATE TABLE settings(model TEXT NOT NULL, dataset TEXT NOT NULL, method TEXT NOT NULL, settings TEXT NOT NULL,
  PRIMARY KEY(model, dataset, method)) WITHOUT ROWID;
CREATE TABLE runs(started TEXT NOT NULL, version TEXT NOT NULL, command TEXT NOT NULL);
CREATE TABLE claims(model TEXT NOT NULL, dataset TEXT NOT NULL, method TEXT NOT NULL, seed INTEGER NOT NULL,
  question TEXT NOT NULL, process TEXT NOT NULL,
  PRIMARY KEY(model, dataset, method, seed, question)) WITHOUT ROWID;
CREATE TABLE results(model TEXT NOT NULL, dataset TEXT NOT NULL, method TEXT NOT NULL, seed INTEGER NOT NULL,
  question TEXT NOT NULL, task TEXT NOT NULL, difficulty TEXT NOT NULL, gold TEXT NOT NULL, release TEXT NOT NULL, options TEXT NOT NULL,
  answer TEXT NOT NULL,
  score REAL NOT NULL, extracted INTEGER NOT NULL, finished INTEGER NOT NULL, reason TEXT NOT NULL,
  votes INTEGER NOT NULL, voted INTEGER NOT NULL, exhausted INTEGER NOT NULL, branch_events INTEGER NOT NULL, steps INTEGER NOT NULL,
  prompt_tokens INTEGER NOT NULL, unique_tokens INTEGER NOT NULL, branch_tokens INTEGER NOT NULL,
  fed_tokens INTEGER NOT NULL, chosen_tokens INTEGER NOT NULL, seconds REAL NOT NULL, flops REAL NOT NULL,
  traces TEXT NOT NULL, document BLOB NOT NULL, PRIMARY KEY(model, dataset, method, seed, question));
)sql";

constexpr const char* kRowColumns =
    "model, dataset, method, seed, question, task, difficulty, gold, release, options, answer, score, extracted, "
    "finished, "
    "reason, votes, voted, exhausted, branch_events, steps, prompt_tokens, unique_tokens, branch_tokens, fed_tokens, "
    "chosen_tokens, seconds, "
    "flops, traces";

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

// A process's identity: its number alone is reused, so its start time belongs to it. Empty when it is not running: one
// that was killed and whose parent has not asked for its end yet is listed, too.
std::string process_identity(const std::string& pid) {
  std::ifstream stat("/proc/" + pid + "/stat");
  std::string line;
  if (!std::getline(stat, line)) return {};
  // Fields after the command's name, which is in parentheses and may hold anything; start time is field 22.
  std::istringstream fields(line.substr(line.rfind(')') + 1));
  std::string field;
  fields >> field;
  if (field == "Z" || field == "X") return {};
  for (int i = 4; i <= 22; ++i) fields >> field;
  return pid + ":" + field;
}

bool is_alive(const std::string& identity) {
  return process_identity(identity.substr(0, identity.find(':'))) == identity;
}

Statement& bind_key(Statement& statement, const RowKey& key) {
  return statement.bind(key.model)
      .bind(key.dataset)
      .bind(key.method)
      .bind(static_cast<std::int64_t>(key.seed))
      .bind(key.question);
}

constexpr const char* kWhereKey = " WHERE model = ? AND dataset = ? AND method = ? AND seed = ? AND question = ?";

std::string to_text(const std::vector<TraceResult>& traces) {
  nlohmann::json out = nlohmann::json::array();
  for (const TraceResult& trace : traces) {
    const nlohmann::json logprob = trace.mean_logprob ? nlohmann::json(*trace.mean_logprob) : nlohmann::json();
    out.push_back({trace.length, trace.score, trace.answer, logprob, trace.voted});
  }
  return out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::vector<TraceResult> traces_from(const std::string& text, const std::string& path) {
  std::vector<TraceResult> traces;
  try {
    for (const nlohmann::json& item : nlohmann::json::parse(text)) {
      TraceResult trace{item.at(0).get<int>(), item.at(1).get<double>(), item.at(2).get<std::string>()};
      if (item.at(3).is_number()) trace.mean_logprob = item.at(3).get<double>();
      trace.voted = item.at(4).get<bool>();
      traces.push_back(std::move(trace));
    }
  } catch (const nlohmann::json::exception&) {
    throw Error(path + ": the traces of a stored row are damaged");
  }
  return traces;
}

// A cursor over the columns of a row, in the order in which they are named.
class StoredRowReader {
 public:
  explicit StoredRowReader(const Statement& statement) : statement_(statement) {}
  std::string text() { return statement_.text(next_++); }
  std::int64_t integer() { return statement_.integer(next_++); }
  int small() { return static_cast<int>(integer()); }
  bool flag() { return integer() != 0; }
  double real() { return statement_.real(next_++); }
  std::string blob() { return statement_.blob(next_++); }

 private:
  const Statement& statement_;
  int next_ = 0;
};

Row read_row(StoredRowReader& from, const std::string& path) {
  Row row;
  row.key.model = from.text();
  row.key.dataset = from.text();
  row.key.method = from.text();
  row.key.seed = static_cast<std::uint64_t>(from.integer());
  row.key.question = from.text();
  row.task = from.text();
  row.difficulty = from.text();
  row.gold = from.text();
  row.release = from.text();
  row.options = from.text();
  row.answer = from.text();
  row.score = from.real();
  row.extracted = from.flag();
  row.finished = from.flag();
  row.reason = from.text();
  row.votes = from.small();
  row.voted = from.small();
  row.exhausted = from.small();
  row.branch_events = from.small();
  row.steps = from.small();
  row.prompt_tokens = from.integer();
  row.unique_tokens = from.integer();
  row.branch_tokens = from.integer();
  row.fed_tokens = from.integer();
  row.chosen_tokens = from.small();
  row.seconds = from.real();
  row.flops = from.real();
  row.traces = traces_from(from.text(), path);
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

  bool is_empty() const {
    Statement tables(database, "SELECT count(*) FROM sqlite_master");
    tables.step();
    return tables.integer(0) == 0;
  }

  std::int64_t pragma(const char* name) const {
    Statement statement(database, fmt::format("PRAGMA {}", name));
    return statement.step() ? statement.integer(0) : 0;
  }

  void require_ours() const {
    if (pragma("application_id") != kApplicationId) {
      throw Error(database.path() + ": is a database, but not one of dts eval");
    }
    const std::int64_t version = pragma("user_version");
    if (version != kFormat) {
      throw Error(fmt::format("{}: has version {} of the results' format; this program reads version {}",
                              database.path(), version, kFormat));
    }
  }

  Database database;
  std::string self;
};

Store::Store(const std::string& path, bool read_only) : impl_(std::make_unique<Impl>(path, read_only)) {
  Database& database = impl_->database;
  if (impl_->is_empty()) {
    if (read_only) throw Error(path + ": is empty: there are no results in it yet");
    Transaction transaction(database);
    if (impl_->is_empty()) {  // another process may have been faster
      database.execute(kSchema);
      database.execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId, kFormat));
    }
    transaction.commit();
  }
  // Nothing is changed in a file before it is known to be ours.
  impl_->require_ours();
  if (!read_only) database.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
}

void Store::check(const std::string& path) {
  const Impl impl(path, /*read_only=*/true);
  if (!impl.is_empty()) impl.require_ours();
}

Store::~Store() = default;

void Store::require_settings(const StoredSettings& wanted) {
  Transaction transaction(impl_->database);
  Statement statement(impl_->database, "SELECT settings FROM settings WHERE model = ? AND dataset = ? AND method = ?");
  statement.bind(wanted.model).bind(wanted.dataset).bind(wanted.method);
  if (!statement.step()) {
    Statement(impl_->database, "INSERT INTO settings VALUES(?, ?, ?, ?)")
        .bind(wanted.model)
        .bind(wanted.dataset)
        .bind(wanted.method)
        .bind(wanted.settings)
        .run();
    transaction.commit();
    return;
  }
  const std::string different = differences(statement.text(0), wanted.settings);
  if (different.empty()) return;
  throw usage_error(fmt::format("{} has results of {} on {} with other settings: {}; give them again, or another file",
                                impl_->database.path(), wanted.method, wanted.dataset, different));
}

std::vector<StoredSettings> Store::settings() const {
  Statement statement(impl_->database,
                      "SELECT model, dataset, method, settings FROM settings ORDER BY model, dataset, method");
  std::vector<StoredSettings> all;
  while (statement.step()) {
    all.push_back({statement.text(0), statement.text(1), statement.text(2), statement.text(3)});
  }
  return all;
}

void Store::note_run(const std::string& command) {
  Statement(impl_->database, "INSERT INTO runs VALUES(strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), ?, ?)")
      .bind(dts::kVersion)
      .bind(command)
      .run();
}

std::vector<StoredRun> Store::runs() const {
  Statement statement(impl_->database, "SELECT started, version, command FROM runs ORDER BY rowid");
  std::vector<StoredRun> all;
  while (statement.step()) all.push_back({statement.text(0), statement.text(1), statement.text(2)});
  return all;
}

bool Store::has(const RowKey& key) const {
  Statement statement(impl_->database, fmt::format("SELECT 1 FROM results{}", kWhereKey));
  return bind_key(statement, key).step();
}

bool Store::is_free(const RowKey& key) const {
  if (has(key)) return false;
  Statement held(impl_->database, fmt::format("SELECT process FROM claims{}", kWhereKey));
  return !bind_key(held, key).step() || !is_alive(held.text(0));
}

bool Store::claim(const RowKey& key) {
  Transaction transaction(impl_->database);
  if (!is_free(key)) return false;
  Statement take(impl_->database, "INSERT OR REPLACE INTO claims VALUES(?, ?, ?, ?, ?, ?)");
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
  Statement insert(
      impl_->database,
      fmt::format("INSERT OR IGNORE INTO results({}, document) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,"
                  "?,?,?,?,?,?,?,?)",
                  kRowColumns));
  bind_key(insert, row.key)
      .bind(row.task)
      .bind(row.difficulty)
      .bind(row.gold)
      .bind(row.release)
      .bind(row.options)
      .bind(row.answer)
      .bind(row.score)
      .bind(row.extracted)
      .bind(row.finished)
      .bind(row.reason)
      .bind(row.votes)
      .bind(row.voted)
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
      .bind(to_text(row.traces))
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
  Statement statement(
      impl_->database,
      fmt::format("SELECT {} FROM results ORDER BY model, dataset, method, seed, question", kRowColumns));
  std::vector<Row> rows;
  while (statement.step()) {
    StoredRowReader reader(statement);
    rows.push_back(read_row(reader, impl_->database.path()));
  }
  return rows;
}

std::optional<Row> Store::row(const RowKey& key) const {
  Statement statement(impl_->database, fmt::format("SELECT {}, document FROM results{}", kRowColumns, kWhereKey));
  if (!bind_key(statement, key).step()) return std::nullopt;
  StoredRowReader reader(statement);
  Row row = read_row(reader, impl_->database.path());
  row.document = decompress_text(reader.blob(), impl_->database.path());
  return row;
}

}  // namespace dts::eval
