// The three access methods: POSIX calls, independent and collective MPI-IO.
#include "benchmarks/hpio/program/access.hpp"

#include "benchmarks/hpio/program/types.hpp"
#include "benchmarks/measure/clock.hpp"
#include "benchmarks/session/mpi_error.hpp"
#include "benchmarks/session/short_write.hpp"
#include "foundation/base/own_fd.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace forebay::bench {

namespace {

using hpio::HpioDirection;
using measure::now_ns;

Result<void> mpi_checked(int code, std::string_view doing, const std::string& path) {
    if (code == MPI_SUCCESS) {
        return {};
    }
    return failure(mpi_error(code, fmt::format("{} {}", doing, path)));
}

// Measures durations between marks; the first mark is the barrier.
class LapTimer {
public:
    void lap(std::int64_t& to) {
        const std::int64_t now = now_ns();
        to = now - last_;
        last_ = now;
    }
    // Excludes the time since the last mark from all durations.
    void skip() {
        const std::int64_t now = now_ns();
        begin_ += now - last_;
        last_ = now;
    }
    [[nodiscard]] std::int64_t last() const { return last_; }
    [[nodiscard]] std::int64_t total() const { return last_ - begin_; }

private:
    std::int64_t begin_ = now_ns();
    std::int64_t last_ = begin_;
};

class MpiFile {
public:
    MpiFile(MPI_Comm ranks, const AccessInput& work) : work_(work), ranks_(ranks) {
        MPI_Info_create(&info_);
        for (const auto& [key, value] : work.request.hints) {
            MPI_Info_set(info_, key.c_str(), value.c_str());
        }
    }
    ~MpiFile() { MPI_Info_free(&info_); }
    MpiFile(const MpiFile&) = delete;
    MpiFile& operator=(const MpiFile&) = delete;
    MpiFile(MpiFile&&) = delete;
    MpiFile& operator=(MpiFile&&) = delete;

    Result<void> open(const MpiAccess& request) {
        const bool writes = work_.point.direction == HpioDirection::write;
        const int mode = writes ? MPI_MODE_CREATE | MPI_MODE_RDWR : MPI_MODE_RDONLY;
        auto fine = mpi_checked(MPI_File_open(ranks_, work_.path.c_str(), mode, info_, &file_),
                                "open", work_.path);
        if (!fine) {
            return fine;
        }
        is_open_ = true;
        if (work_.request.atomic) {
            MPI_File_set_atomicity(file_, 1);
        }
        return mpi_checked(MPI_File_set_view(file_, request.displacement, MPI_BYTE,
                                             request.filetype.get(), "native", info_),
                           "set the view of", work_.path);
    }

    Result<void> move(const MpiAccess& request) {
        const bool collective = work_.point.method == hpio::AccessMethod::collective;
        const bool writes = work_.point.direction == HpioDirection::write;
        void* const memory = work_.memory.data();
        MPI_Datatype type = request.memory.get();
        MPI_Status status;
        int code = MPI_SUCCESS;
        if (writes) {
            code = collective
                       ? MPI_File_write_at_all(file_, 0, memory, request.count, type, &status)
                       : MPI_File_write_at(file_, 0, memory, request.count, type, &status);
        } else {
            code = collective ? MPI_File_read_at_all(file_, 0, memory, request.count, type, &status)
                              : MPI_File_read_at(file_, 0, memory, request.count, type, &status);
        }
        auto fine = mpi_checked(code, writes ? "write" : "read", work_.path);
        return fine ? counted(request, status) : fine;
    }

    Result<void> sync() { return mpi_checked(MPI_File_sync(file_), "sync", work_.path); }

    Result<void> close() {
        if (!is_open_) {
            return {};
        }
        is_open_ = false;
        return mpi_checked(MPI_File_close(&file_), "close", work_.path);
    }

    std::vector<std::pair<std::string, std::string>> effective_hints() const {
        std::vector<std::pair<std::string, std::string>> found;
        MPI_Info used = MPI_INFO_NULL;
        if (!is_open_ || MPI_File_get_info(file_, &used) != MPI_SUCCESS) {
            return found;
        }
        for (const auto& [key, asked] : work_.request.hints) {
            std::array<char, MPI_MAX_INFO_VAL + 1> value{};
            int there = 0;
            MPI_Info_get(used, key.c_str(), MPI_MAX_INFO_VAL, value.data(), &there);
            found.emplace_back(key, there != 0 ? value.data() : "");
        }
        MPI_Info_free(&used);
        return found;
    }

private:
    // Some MPIs report a full disk only by a short count in the status.
    Result<void> counted(const MpiAccess& request, MPI_Status& status) const {
        MPI_Count elements = 0;
        MPI_Get_elements_x(&status, request.memory.get(), &elements);
        MPI_Count size = 0;
        MPI_Type_size_x(request.memory.get(), &size);
        const std::int64_t wanted = std::int64_t{size} * request.count;
        if (elements == MPI_UNDEFINED || elements >= wanted) {
            return {};
        }
        return failure(
            {.code = ErrorCode::input_output,
             .message = fmt::format("{} moved {} of {} B (the MPI reports no error). "
                                    "See whether the disk is full, or the file shorter than it "
                                    "was.",
                                    work_.path, static_cast<std::int64_t>(elements), wanted)});
    }

    const AccessInput& work_;
    MPI_Comm ranks_;
    MPI_Info info_ = MPI_INFO_NULL;
    MPI_File file_ = MPI_FILE_NULL;
    bool is_open_ = false;
};

// The error of a call that moved none of the `left` bytes from `at` on, and reported none.
Error moved_nothing(const AccessInput& work, std::int64_t at, std::size_t left) {
    if (work.point.direction == HpioDirection::write) {
        return short_write(work.path, at, 0, left);
    }
    return {.code = ErrorCode::input_output,
            .message = fmt::format("{} ends at {} (it has become shorter). See who else uses it.",
                                   work.path, at)};
}

// Makes one system call per piece that is contiguous in memory and in the file.
Result<void> posix_loop(int fd, BenchmarkSession& session, const AccessInput& work,
                        measure::LatencyHistogram& latency) {
    const Rank rank{session.rank()};
    const bool writes = work.point.direction == HpioDirection::write;
    hpio::LayoutWalk memory(work.job.memory_layout(rank));
    hpio::LayoutWalk file(work.job.file_layout(rank));
    while (!file.done() && !memory.done()) {
        const std::int64_t bytes = std::min(file.piece().bytes, memory.piece().bytes);
        const hpio::LayoutPiece from = memory.take(bytes);
        const hpio::LayoutPiece to = file.take(bytes);
        for (std::int64_t done = 0; done < bytes;) {
            std::byte* const at = work.memory.data() + from.offset + done;
            const auto left = static_cast<std::size_t>(bytes - done);
            const std::int64_t begin = now_ns();
            const ssize_t moved = writes ? ::pwrite(fd, at, left, to.offset + done)
                                         : ::pread(fd, at, left, to.offset + done);
            latency.record(now_ns() - begin);
            if (moved < 0 && errno == EINTR) {
                continue;
            }
            if (moved < 0) {
                return failure(system_error(errno, (writes ? "write " : "read ") + work.path));
            }
            if (moved == 0) {
                return failure(moved_nothing(work, to.offset + done, left));
            }
            done += moved;
            session.progress().did(moved);
        }
    }
    return {};
}

// A rank's course through a repetition: from the initial barrier to the agreed result.
struct AccessAttempt {
    explicit AccessAttempt(BenchmarkSession& of) : session(of) {
        done.durations.began_ns = laps.last();
    }

    // Called after the file has been closed.
    Result<AccessResult> ended(const Result<void>& mine) {
        laps.lap(done.durations.close_ns);
        done.durations.total_ns = laps.total();
        working.rest();
        if (auto all = session.agreed(mine); !all) {
            return failure(all.error());
        }
        return done;
    }

    BenchmarkSession& session;
    LapTimer laps;
    AccessResult done;
    WorkInProgress working{session.progress()};
};

// After an error the time is measured to the end, so that all ranks take part in all steps.
Result<AccessResult> with_posix(BenchmarkSession& session, const AccessInput& work,
                                measure::LatencyHistogram& latency) {
    const bool writes = work.point.direction == HpioDirection::write;
    constexpr mode_t everyone = 0644;
    session.barrier();
    AccessAttempt attempt(session);
    LapTimer& laps = attempt.laps;
    AccessDurations& durations = attempt.done.durations;
    OwnFd fd(
        ::open(work.path.c_str(), (writes ? O_WRONLY | O_CREAT : O_RDONLY) | O_CLOEXEC, everyone));
    Result<void> result;
    if (!fd.valid()) {
        result = failure(system_error(errno, "open " + work.path));
    }
    laps.lap(durations.open_ns);
    durations.io_began_ns = laps.last();
    if (result) {
        result = posix_loop(fd.get(), session, work, latency);
    }
    laps.lap(durations.io_ns);
    if (result && writes && work.request.fsync && ::fsync(fd.get()) != 0) {
        result = failure(system_error(errno, "sync " + work.path));
    }
    laps.lap(durations.sync_ns);
    if (fd.valid()) {
        auto closed = fd.close(work.path);
        result = result ? closed : result;
    }
    return attempt.ended(result);
}

Result<AccessResult> with_mpi(BenchmarkSession& session, const AccessInput& work,
                              measure::LatencyHistogram& latency) {
    auto request = access_of(work.job, Rank{session.rank()}, work.request.types);
    if (auto fine = session.agreed(request ? Result<void>{} : failure(request.error())); !fine) {
        return failure(fine.error());
    }
    const bool together =
        work.point.method == hpio::AccessMethod::collective || work.request.collective_fsync;
    MpiFile file(together ? session.world() : MPI_COMM_SELF, work);
    session.barrier();
    AccessAttempt attempt(session);
    LapTimer& laps = attempt.laps;
    AccessDurations& durations = attempt.done.durations;
    // No rank may continue alone after a failed open, since a collective call needs all ranks.
    const Result<void> opened = file.open(*request);
    laps.lap(durations.open_ns);
    attempt.working.rest();
    Result<void> result = session.agreed(opened);
    attempt.working.again();
    laps.skip();
    durations.io_began_ns = laps.last();
    if (result) {
        result = file.move(*request);
        laps.lap(durations.io_ns);
        latency.record(durations.io_ns);
        session.progress().did(work.job.file_layout(Rank{session.rank()}).bytes());
        const bool syncs = work.point.direction == HpioDirection::write && work.request.fsync;
        if (syncs) {
            auto synced = file.sync();
            result = result ? synced : result;
            session.progress().lives();
        }
        laps.lap(durations.sync_ns);
        attempt.done.hints = file.effective_hints();
        laps.skip();
    }
    auto closed = file.close();
    return attempt.ended(result ? closed : result);
}

}  // namespace

Result<AccessResult> move_data(BenchmarkSession& session, const AccessInput& work,
                               measure::LatencyHistogram& latency) {
    return work.point.method == hpio::AccessMethod::posix ? with_posix(session, work, latency)
                                                          : with_mpi(session, work, latency);
}

}  // namespace forebay::bench
