// Counters of one open file on this rank, for the record: collective calls by the engine, and calls
// that were passed on, by function and reason.
#pragma once

#include "collective/engine/file.hpp"
#include "entry/functions.hpp"
#include "foundation/ports/recorder.hpp"
#include "foundation/record/lines.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mpi.h>
#include <mutex>
#include <string>
#include <vector>

namespace forebay::interposer {

class CallCounters final : public ports::CallRecorder {
public:
    // Slot 0 of a function: its own reason (functions.toml) or the whole file's; then the engine's.
    static constexpr std::size_t reasons = static_cast<std::size_t>(engine::Refusal::other) + 1;

    // Without a record nobody asks what was passed on, and no table is made for it.
    explicit CallCounters(bool recording)
        : passed_(recording ? std::make_unique<Table>() : nullptr) {}

    void call(const ports::CallRecord& record) override;
    void error(const Error& error) override;

    // A call that was passed on; `bytes` -1 where they are not known.
    void passed(std::size_t function, engine::Refusal refusal, std::int64_t bytes) noexcept;
    // The function that errors are noted under.
    void now_in(std::size_t function) noexcept { function_ = function; }

    // Collective over `communicator`: the whole job's numbers on rank 0. MPI_COMM_NULL: this
    // rank's. `standing`: why a file is left to the MPI as a whole. Contract: recording.
    void fill(record::FileLine& line, MPI_Comm communicator, const char* standing) const;

private:
    struct Tally {
        std::atomic<std::int64_t> calls{0};
        std::atomic<std::int64_t> bytes{0};
        std::atomic<std::int64_t> unknown{0};  // calls whose bytes are not known
    };

    record::FileTraffic write_;
    record::FileTraffic read_;
    using Table = std::array<std::array<Tally, reasons>, function_count>;
    std::unique_ptr<Table> passed_;
    std::vector<record::ErrorNote> errors_;
    std::vector<record::SlowTargetLine> slow_;
    std::size_t function_ = 0;
};

}  // namespace forebay::interposer
