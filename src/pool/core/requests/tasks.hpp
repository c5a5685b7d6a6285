// Clients' requests about a file, and when each is answered. Every request has a ticket; a later
// round answers it.
#pragma once

#include "pool/core/state/pool_state.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

namespace forebay::pool {

class FileTasks {
public:
    explicit FileTasks(PoolState& pool_state) : pool_state_{pool_state} {}

    // See Pool::ask(). `file` may be null: there is no such file.
    [[nodiscard]] std::uint64_t ask(PooledFile* file, const FileTask& task);
    // See Pool::drain_all().
    [[nodiscard]] std::uint64_t drain_all();
    // The client has closed the file. This takes effect when everything that it wrote before is
    // taken.
    void close(std::uint32_t client, std::uint32_t slot, std::uint32_t generation);

    // Applies the closes that are due. Returns true if there were any.
    bool apply_closes();
    // Answers or begins requests about the file. Returns true if it did.
    bool look_at(PooledFile& file);
    // The answers since the last call.
    [[nodiscard]] std::vector<TaskCompletion> done();
    // Whether a client waits for another look at the free space of the file's file system.
    [[nodiscard]] static bool asks_for_room(PoolState& pool_state, const PooledFile& file);
    [[nodiscard]] bool idle() const noexcept { return waiting_ == 0 && closes_.empty(); }

private:
    struct Close {
        std::uint32_t client = 0;
        std::uint32_t slot = 0;
        std::uint32_t generation = 0;
        std::int64_t at_ns = 0;
    };
    // The state of a drain_all(), whose ticket stands for one request for each file.
    struct All {
        std::size_t left = 0;                  // files that have not answered yet
        std::uint32_t first_slot = files_max;  // the lowest slot that had an error
        int error = 0;
    };
    // Whether a request can be answered: with success or an error of draining.
    enum class Outlook { waits, done, failed };

    [[nodiscard]] Outlook outlook(PooledFile& file, const FileRequest& asked);
    [[nodiscard]] bool answered(PooledFile& file, const FileRequest& asked);
    bool begin_truncation(PooledFile& file);
    void look_at_journal(PooledFile& file);
    void look_at_arrivals(PooledFile& file);
    bool begin_syncs(PooledFile& file);
    void truncated(PooledFile& file, Length bytes, std::vector<Extent> kept);
    [[nodiscard]] int report_error(PooledFile& file);
    void clear_error(PooledFile& file);
    void answer(const PooledFile& file, std::uint64_t ticket, int error);

    PoolState& pool_state_;
    std::uint64_t next_ticket_ = 1;
    std::size_t waiting_ = 0;
    std::vector<TaskCompletion> done_;
    std::vector<Close> closes_;
    std::map<std::uint64_t, All> all_;
    // Truncations that are done, and are answered when the journal has made `journal_entries`
    // entries durable.
    struct Cut {
        std::uint64_t ticket = 0;
        std::uint64_t journal_entries = 0;
    };
    std::deque<Cut> cut_;
};

}  // namespace forebay::pool
