// One table, and a query prepared once for each thing that is asked.
#include "tier/index/replica_index.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <fmt/format.h>
#include <initializer_list>
#include <sqlite3.h>
#include <string_view>
#include <utility>
#include <vector>

namespace forebay::tier {

namespace {

constexpr const char* schema =
    "CREATE TABLE IF NOT EXISTS replica ("
    " file_system INTEGER NOT NULL, inode INTEGER NOT NULL, state INTEGER NOT NULL,"
    " generation INTEGER NOT NULL, bytes INTEGER NOT NULL, heat REAL NOT NULL,"
    " used_ns INTEGER NOT NULL, dirtied_ns INTEGER NOT NULL, path TEXT NOT NULL,"
    " PRIMARY KEY (file_system, inode)) WITHOUT ROWID;"
    // With what is summed up, so that sums are made of an index alone.
    "CREATE INDEX IF NOT EXISTS replica_path ON replica (path, bytes);"
    "CREATE INDEX IF NOT EXISTS replica_waiting ON replica (path, bytes) WHERE dirtied_ns != 0;";
constexpr const char* columns =
    "file_system, inode, state, generation, bytes, heat, used_ns, dirtied_ns, path";
// Paths at or below ?1, which ends with no slash; the third is what follows "?1/" in the order.
constexpr const char* below = "(path = ?1 OR (path >= ?2 AND path < ?3))";

// How many there are, and how large. SQLite goes by rows where a condition has an OR, so that a
// path itself and what is below it are two queries.
constexpr const char* sums_of_all =
    "SELECT count(*), ifnull(sum(bytes), 0) FROM replica INDEXED BY replica_path WHERE ";
constexpr const char* sums_of_waiting =
    "SELECT count(*), ifnull(sum(bytes), 0) FROM replica INDEXED BY replica_waiting "
    "WHERE dirtied_ns != 0 AND ";
constexpr const char* at_path = "path = ?1";
constexpr const char* below_path = "path >= ?1 AND path < ?2";

bool means_no_list(int code) noexcept {
    return code == SQLITE_NOTADB || code == SQLITE_CORRUPT || code == SQLITE_ERROR;
}

struct PathRange {
    std::string itself;
    std::string first;
    std::string behind;
};
PathRange range_of(const std::string& path) {
    const std::string stem = path == "/" ? "" : path;
    return {stem, stem + "/", stem + "0"};  // "0" follows "/"
}

}  // namespace

// A prepared query. It is bound, stepped through, and reset by its next use.
class ReplicaIndex::Query {
public:
    Query() = default;
    Query(const Query&) = delete;
    Query& operator=(const Query&) = delete;
    ~Query() { sqlite3_finalize(statement_); }

    [[nodiscard]] int prepare(sqlite3* database, const std::string& sql) {
        return sqlite3_prepare_v3(database, sql.c_str(), -1, SQLITE_PREPARE_PERSISTENT, &statement_,
                                  nullptr);
    }
    void begin() {
        sqlite3_reset(statement_);
        bound_ = 0;
    }
    void bind(std::int64_t number) { sqlite3_bind_int64(statement_, ++bound_, number); }
    void bind(std::uint64_t number) { bind(static_cast<std::int64_t>(number)); }
    void bind(double number) { sqlite3_bind_double(statement_, ++bound_, number); }
    void bind(const std::string& text) {
        sqlite3_bind_text64(statement_, ++bound_, text.data(), text.size(), SQLITE_TRANSIENT,
                            SQLITE_UTF8);
    }
    // SQLITE_ROW, SQLITE_DONE, or an error.
    [[nodiscard]] int step() { return sqlite3_step(statement_); }
    // Ends a query that has been stepped through, so that it holds no lock.
    void end() { sqlite3_reset(statement_); }

    [[nodiscard]] std::int64_t number(int column) {
        return sqlite3_column_int64(statement_, column);
    }
    [[nodiscard]] std::string text(int column) {
        const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
        return text == nullptr ? "" : text;
    }
    [[nodiscard]] ListedReplica row() {
        ListedReplica row;
        row.name = {static_cast<std::uint64_t>(number(0)), static_cast<std::uint64_t>(number(1))};
        const std::int64_t state = number(2);
        const bool known = state >= 0 && state <= static_cast<int>(ReplicaState::rescued);
        row.state = known ? static_cast<ReplicaState>(state) : ReplicaState::none;
        row.generation = static_cast<std::uint64_t>(number(3));
        row.bytes = number(4);
        row.heat = sqlite3_column_double(statement_, 5);
        row.used_ns = number(6);
        row.dirtied_ns = number(7);
        row.path = text(8);
        return row;
    }

private:
    sqlite3_stmt* statement_ = nullptr;
    int bound_ = 0;
};

struct ReplicaIndex::Queries {
    Query put;
    Query remove;
    Query find;
    Query visit;
    Query waiting;
    Query sums_at;
    Query sums_below;
    Query waiting_at;
    Query waiting_below;
};

void ReplicaIndex::CloseDatabase::operator()(sqlite3* database) const noexcept {
    sqlite3_close(database);
}

ReplicaIndex::ReplicaIndex(std::string path) : path_{std::move(path)} {}

ReplicaIndex::~ReplicaIndex() = default;

Result<std::unique_ptr<ReplicaIndex>> ReplicaIndex::open(const std::string& path) {
    std::unique_ptr<ReplicaIndex> index{new ReplicaIndex{path}};
    const auto prepared = index->prepare();
    if (!prepared) {
        return failure(prepared.error());
    }
    if (*prepared) {
        return index;
    }
    index = std::unique_ptr<ReplicaIndex>{};
    // SQLite must not take the old file's write-ahead log for the new one's.
    for (const char* const suffix : {"-wal", "-shm", ""}) {
        const std::string old = path + suffix;
        const std::string aside = path + ".damaged" + suffix;
        if (std::rename(old.c_str(), aside.c_str()) != 0 && errno != ENOENT) {
            return failure(system_error(errno, "put aside " + old));
        }
    }
    index.reset(new ReplicaIndex{path});
    const auto again = index->prepare();
    if (!again) {
        return failure(again.error());
    }
    if (!*again) {
        return failure(index->error(SQLITE_CORRUPT));
    }
    return index;
}

Result<bool> ReplicaIndex::prepare() {
    sqlite3* opened = nullptr;
    const int code = sqlite3_open_v2(
        path_.c_str(), &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX,
        nullptr);
    database_.reset(opened);
    if (code != SQLITE_OK) {
        return failure(error(code));
    }
    constexpr int wait_ms = 10'000;  // for a reader that checkpoints
    sqlite3_busy_timeout(opened, wait_ms);
    Query found;
    int step = found.prepare(opened, "PRAGMA user_version");
    step = step == SQLITE_OK ? found.step() : step;
    if (step != SQLITE_ROW) {
        return means_no_list(step) ? Result<bool>{false} : failure(error(step));
    }
    const std::int64_t has = found.number(0);
    found.end();
    if (has != 0 && has != version) {
        return false;
    }
    new_ = has == 0;
    std::string begin = "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;";
    if (new_) {
        begin +=
            fmt::format("BEGIN IMMEDIATE; {} PRAGMA user_version={}; COMMIT;", schema, version);
    }
    if (const int done = sqlite3_exec(opened, begin.c_str(), nullptr, nullptr, nullptr);
        done != SQLITE_OK) {
        return means_no_list(done) ? Result<bool>{false} : failure(error(done));
    }
    queries_ = std::make_unique<Queries>();
    const std::string select = fmt::format("SELECT {} FROM replica WHERE ", columns);
    const std::array wanted{
        std::pair{
            &queries_->put,
            fmt::format("INSERT OR REPLACE INTO replica ({}) VALUES (?,?,?,?,?,?,?,?,?)", columns)},
        std::pair{&queries_->remove,
                  std::string{"DELETE FROM replica WHERE file_system = ? AND inode = ?"}},
        std::pair{&queries_->find, select + "file_system = ? AND inode = ?"},
        std::pair{&queries_->visit, select + below + " ORDER BY path"},
        std::pair{&queries_->waiting,
                  std::string{"SELECT path FROM replica INDEXED BY replica_waiting "
                              "WHERE dirtied_ns != 0 ORDER BY path"}},
        std::pair{&queries_->sums_at, std::string{sums_of_all} + at_path},
        std::pair{&queries_->sums_below, std::string{sums_of_all} + below_path},
        std::pair{&queries_->waiting_at, std::string{sums_of_waiting} + at_path},
        std::pair{&queries_->waiting_below, std::string{sums_of_waiting} + below_path}};
    for (const auto& [query, sql] : wanted) {
        if (query->prepare(opened, sql) != SQLITE_OK) {
            return false;
        }
    }
    return true;
}

Result<void> ReplicaIndex::carry_out(Query& query) {
    const int code = query.step();
    query.end();
    return code == SQLITE_DONE ? Result<void>{} : failure(error(code));
}

Result<void> ReplicaIndex::put(const ListedReplica& replica) {
    Query& query = queries_->put;
    query.begin();
    query.bind(replica.name.file_system);
    query.bind(replica.name.inode);
    query.bind(static_cast<std::int64_t>(replica.state));
    query.bind(replica.generation);
    query.bind(replica.bytes);
    query.bind(replica.heat);
    query.bind(replica.used_ns);
    query.bind(replica.dirtied_ns);
    query.bind(replica.path);
    return carry_out(query);
}

Result<void> ReplicaIndex::remove(const ReplicaName& name) {
    Query& query = queries_->remove;
    query.begin();
    query.bind(name.file_system);
    query.bind(name.inode);
    return carry_out(query);
}

Result<std::optional<ListedReplica>> ReplicaIndex::find(const ReplicaName& name) {
    Query& query = queries_->find;
    query.begin();
    query.bind(name.file_system);
    query.bind(name.inode);
    const int code = query.step();
    std::optional<ListedReplica> row;
    if (code == SQLITE_ROW) {
        row = query.row();
    }
    query.end();
    return code == SQLITE_ROW || code == SQLITE_DONE ? Result<std::optional<ListedReplica>>{row}
                                                     : failure(error(code));
}

// The rows are read before the first visit, so that a visitor may change the list.
Result<void> ReplicaIndex::visit(const std::string& path,
                                 const std::function<void(const ListedReplica&)>& visitor) {
    const PathRange range = range_of(path);
    std::vector<ListedReplica> rows;
    Query& query = queries_->visit;
    query.begin();
    query.bind(range.itself);
    query.bind(range.first);
    query.bind(range.behind);
    int code = query.step();
    for (; code == SQLITE_ROW; code = query.step()) {
        rows.push_back(query.row());
    }
    query.end();
    if (code != SQLITE_DONE) {
        return failure(error(code));
    }
    for (const ListedReplica& row : rows) {
        visitor(row);
    }
    return {};
}

Result<std::vector<std::string>> ReplicaIndex::waiting() {
    std::vector<std::string> paths;
    Query& query = queries_->waiting;
    query.begin();
    int code = query.step();
    for (; code == SQLITE_ROW; code = query.step()) {
        paths.push_back(query.text(0));
    }
    query.end();
    return code == SQLITE_DONE ? Result<std::vector<std::string>>{std::move(paths)}
                               : failure(error(code));
}

Result<void> ReplicaIndex::add_up(Query& query, std::initializer_list<std::string> paths,
                                  std::int64_t& count, std::int64_t& bytes) {
    query.begin();
    for (const std::string& path : paths) {
        query.bind(path);
    }
    const int code = query.step();
    if (code == SQLITE_ROW) {
        count += query.number(0);
        bytes += query.number(1);
    }
    query.end();
    return code == SQLITE_ROW ? Result<void>{} : failure(error(code));
}

Result<ListedSums> ReplicaIndex::sums(const std::string& path) {
    const PathRange range = range_of(path);
    Queries& ask = *queries_;
    ListedSums all;
    auto done =
        add_up(ask.sums_at, {range.itself}, all.replicas, all.bytes)
            .and_then([&] {
                return add_up(ask.sums_below, {range.first, range.behind}, all.replicas, all.bytes);
            })
            .and_then([&] {
                return add_up(ask.waiting_at, {range.itself}, all.waiting, all.waiting_bytes);
            })
            .and_then([&] {
                return add_up(ask.waiting_below, {range.first, range.behind}, all.waiting,
                              all.waiting_bytes);
            });
    return done ? Result<ListedSums>{all} : failure(std::move(done.error()));
}

Result<void> ReplicaIndex::replace(const std::function<Result<void>()>& fill) {
    if (auto begun = execute("BEGIN IMMEDIATE; DELETE FROM replica;"); !begun) {
        return begun;
    }
    auto filled = fill();
    auto ended = filled ? execute("COMMIT") : Result<void>{};
    if (!filled || !ended) {
        static_cast<void>(execute("ROLLBACK"));
    }
    return filled ? ended : filled;
}

Result<void> ReplicaIndex::execute(const char* sql) {
    const int code = sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr);
    return code == SQLITE_OK ? Result<void>{} : failure(error(code));
}

Error ReplicaIndex::error(int code) const {
    const int system = database_ ? sqlite3_system_errno(database_.get()) : 0;
    const bool full = code == SQLITE_FULL;
    return {full ? ErrorCode::no_space : ErrorCode::input_output, full ? ENOSPC : system,
            fmt::format("cannot use the list of replicas {} ({}). It is made again from the "
                        "replicas where it is removed.",
                        path_, sqlite3_errstr(code))};
}

}  // namespace forebay::tier
