// The list of replicas in SQLite (write-ahead logging): one file for each fast place, which its
// daemon writes and others may read meanwhile. Losing it loses nothing: it is made again from the
// replicas.
#pragma once

#include "foundation/base/result.hpp"
#include "tier/catalogue/replica_list.hpp"

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct sqlite3;

namespace forebay::tier {

class ReplicaIndex final : public ReplicaList {
public:
    // PRAGMA user_version of the file.
    static constexpr int version = 2;

    // Opens the list at `path`, in a folder that only its user may write to, and creates it if it
    // is missing. A file that is no list, is damaged, or is of another version is put aside as
    // `path`.damaged and replaced by an empty one.
    [[nodiscard]] static Result<std::unique_ptr<ReplicaIndex>> open(const std::string& path);
    ReplicaIndex(const ReplicaIndex&) = delete;
    ReplicaIndex& operator=(const ReplicaIndex&) = delete;
    ~ReplicaIndex() override;

    // The list was made by open(): what it should hold has to be found by recover().
    [[nodiscard]] bool is_new() const noexcept { return new_; }

    Result<void> put(const ListedReplica& replica) override;
    Result<void> remove(const ReplicaName& name) override;
    [[nodiscard]] Result<std::optional<ListedReplica>> find(const ReplicaName& name) override;
    Result<void> visit(const std::string& path,
                       const std::function<void(const ListedReplica&)>& visitor) override;
    [[nodiscard]] Result<ListedSums> sums(const std::string& path) override;
    // Paths of files that lack bytes of their replicas, in order.
    [[nodiscard]] Result<std::vector<std::string>> waiting();
    Result<void> replace(const std::function<Result<void>()>& fill) override;

private:
    class Query;
    struct Queries;
    struct CloseDatabase {
        void operator()(sqlite3* database) const noexcept;
    };
    using Database = std::unique_ptr<sqlite3, CloseDatabase>;

    explicit ReplicaIndex(std::string path);

    // Opens the file, and prepares all queries; false: it is no list of this version.
    Result<bool> prepare();
    Result<void> execute(const char* sql);
    // Carries out a query that gives no rows, and whose values are bound.
    Result<void> carry_out(Query& query);
    // Adds what a query of sums finds for these paths.
    Result<void> add_up(Query& query, std::initializer_list<std::string> paths, std::int64_t& count,
                        std::int64_t& bytes);
    [[nodiscard]] Error error(int code) const;

    std::string path_;
    bool new_ = false;
    Database database_;
    std::unique_ptr<Queries> queries_;  // closed before the database
};

}  // namespace forebay::tier
