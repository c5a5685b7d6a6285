// Counters of one open file on this rank, for the record: collective calls that the engine carried
// out, and calls that were passed on to the MPI, by function and reason.
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
    // Slots of each function. Slot 0: the function's own reason (functions.toml), or that of the
    // whole file; the others: the engine's refusals.
    static constexpr std::size_t reasons = static_cast<std::size_t>(engine::Refusal::other) + 1;

    // Without a record nobody asks which calls were passed on, so there is no table of them.
    explicit CallCounters(bool recording)
        : passed_(recording ? std::make_unique<Table>() : nullptr) {}

    void call(const ports::CallRecord& record) override;
    void error(const Error& error) override;

    // Counts a call that was passed on. `bytes`: -1 if their number is unknown.
    void passed(std::size_t function, engine::Refusal refusal, std::int64_t bytes) noexcept;
    // Names the function under which errors are noted from now on.
    void now_in(std::size_t function) noexcept { function_ = function; }

    // Collective over `communicator`: puts the numbers of the whole job into `line` on rank 0.
    // MPI_COMM_NULL: puts in those of this rank, and does not communicate. `standing`: the reason
    // if the file as a whole is left to the MPI. Contract: the file is recorded.
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
