// Prepares the files of a point, runs its repetitions, and checks the data.
#include "benchmarks/hpio/program/run.hpp"

#include "benchmarks/measure/aligned_bytes.hpp"
#include "benchmarks/measure/clock.hpp"
#include "benchmarks/measure/statistics.hpp"
#include "benchmarks/session/write_all.hpp"
#include "foundation/base/own_fd.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace forebay::bench {

namespace {

using hpio::ContentDifferences;
using hpio::FileContent;
using hpio::HpioDirection;
using hpio::VerifiedData;
using measure::seconds_of;

struct PointRun {
    BenchmarkSession& session;
    const hpio::HpioCommand& request;
    const hpio::Point& point;
    const hpio::ResolvedPattern& job;
    std::string path;
    const FileContent& content;
    LeftoverFile& leftover;

    [[nodiscard]] bool writes() const { return point.direction == HpioDirection::write; }
    // False if the file is an earlier run's, which is then not removed.
    [[nodiscard]] bool makes_file() const {
        return writes() || request.generate != hpio::GeneratedData::none;
    }
};

// The part of the file that this rank fills and checks.
struct RankShare {
    std::int64_t begin = 0;
    std::int64_t end = 0;
};

RankShare share_of(const PointRun& stage) {
    const auto ranks = static_cast<std::int64_t>(stage.session.ranks());
    const std::int64_t each = (stage.job.watched_bytes() + ranks - 1) / ranks;
    const std::int64_t begin = std::min(each * stage.session.rank(), stage.job.watched_bytes());
    return {begin, std::min(begin + each, stage.job.watched_bytes())};
}

// Calls `visit` with successive offsets, and a part of `chunk` for each, over this rank's share.
template <class Visit>
Result<void> each_chunk(const PointRun& stage, std::vector<std::byte>& chunk, const Visit& visit) {
    const RankShare share = share_of(stage);
    for (std::int64_t at = share.begin; at < share.end;) {
        const auto bytes = std::min<std::int64_t>(FileContent::chunk_bytes, share.end - at);
        chunk.resize(static_cast<std::size_t>(bytes));
        if (auto fine = visit(at); !fine) {
            return fine;
        }
        stage.session.progress().lives();
        at += bytes;
    }
    return {};
}

Result<void> write_whole(int fd, std::int64_t at, std::span<const std::byte> bytes,
                         const std::string& path) {
    return write_all({bytes, at}, path, [fd](const PlacedBytes& left) {
        return ::pwrite(fd, left.bytes.data(), left.bytes.size(), left.at);
    });
}

// Returns fewer bytes than asked for, or 0, at the end of the file.
Result<std::size_t> read_some(int fd, std::int64_t at, std::span<std::byte> bytes,
                              const std::string& path) {
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t moved = ::pread(fd, bytes.data() + done, bytes.size() - done,
                                      at + static_cast<std::int64_t>(done));
        if (moved < 0 && errno != EINTR) {
            return failure(system_error(errno, "read " + path));
        }
        if (moved == 0) {
            break;
        }
        done += static_cast<std::size_t>(std::max<ssize_t>(moved, 0));
    }
    return done;
}

constexpr mode_t everyone = 0644;

Result<void> create_empty(const PointRun& stage) {
    const WorkInProgress working(stage.session.progress());
    const OwnFd fd(::open(stage.path.c_str(), O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, everyone));
    if (!fd.valid()) {
        return failure(system_error(errno, "create " + stage.path));
    }
    return {};
}

// Fills this rank's share: before a read with data and gaps, before a write with checked gaps with
// gaps everywhere.
Result<void> fill_share(const PointRun& stage) {
    const WorkInProgress working(stage.session.progress());
    const OwnFd fd(::open(stage.path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!fd.valid()) {
        return failure(system_error(errno, "open " + stage.path));
    }
    std::vector<std::byte> chunk;
    auto filled = each_chunk(stage, chunk, [&](std::int64_t at) {
        if (stage.writes()) {
            stage.content.fill_gaps(at, chunk);
        } else {
            stage.content.fill(at, chunk);
        }
        return write_whole(fd.get(), at, chunk, stage.path);
    });
    if (!filled) {
        return filled;
    }
    if (::fsync(fd.get()) != 0) {
        return failure(system_error(errno, "sync " + stage.path));
    }
    if (stage.request.drop_caches) {
        ::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_DONTNEED);
    }
    return {};
}

Result<void> prepare(const PointRun& stage) {
    using hpio::GeneratedData;
    if (!stage.makes_file()) {
        return {};
    }
    if (!stage.request.keep_files) {
        stage.leftover.set(stage.path);
    }
    const Result<void> created = stage.session.is_first() ? create_empty(stage) : Result<void>{};
    if (auto all = stage.session.agreed(created); !all) {
        stage.leftover.clear();  // a file that cannot be truncated is not this run's
        return all;
    }
    const bool fills = !stage.writes() || stage.request.verify == VerifiedData::whole_file ||
                       stage.request.generate == GeneratedData::full;
    return stage.session.agreed(fills ? fill_share(stage) : Result<void>{});
}

Result<void> look_at_share(const PointRun& stage, ContentDifferences& differences) {
    const WorkInProgress working(stage.session.progress());
    const bool gaps = stage.request.verify == VerifiedData::whole_file;
    const OwnFd fd(::open(stage.path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd.valid()) {
        return failure(system_error(errno, "open " + stage.path));
    }
    std::vector<std::byte> chunk;
    auto looked = each_chunk(stage, chunk, [&](std::int64_t at) -> Result<void> {
        const auto got = read_some(fd.get(), at, chunk, stage.path);
        if (!got) {
            return failure(got.error());
        }
        // Zeros stand for bytes beyond the end of the file; only a file that was filled has gaps to
        // check there.
        std::fill(chunk.begin() + static_cast<std::ptrdiff_t>(*got), chunk.end(), std::byte{0});
        stage.content.compare(at, chunk, gaps, differences);
        return {};
    });
    struct stat facts{};
    if (looked && gaps && stage.session.is_first() && ::fstat(fd.get(), &facts) == 0 &&
        facts.st_size > stage.job.watched_bytes()) {
        differences.gap_bytes += facts.st_size - stage.job.watched_bytes();
    }
    return looked;
}

Result<void> verify(const PointRun& stage, std::span<const std::byte> memory,
                    ContentDifferences& differences) {
    if (stage.request.verify == VerifiedData::nothing) {
        return {};
    }
    if (!stage.writes()) {
        stage.content.compare_memory(Rank{stage.session.rank()}, memory, differences);
        return {};
    }
    return stage.session.agreed(look_at_share(stage, differences));
}

RepetitionTimes slowest_of(const BenchmarkSession& session, const AccessDurations& own) {
    const double late = session.late(own.began_ns);
    const double io_end = session.late(own.io_began_ns) + seconds_of(own.io_ns);
    return {.open_seconds = session.most(seconds_of(own.open_ns)),
            .io_seconds = session.most(io_end),
            .sync_seconds = session.most(seconds_of(own.sync_ns)),
            .close_seconds = session.most(seconds_of(own.close_ns)),
            .total_seconds = session.most(late + seconds_of(own.total_ns)),
            .first_done_seconds = session.least(io_end)};
}

void note_differences(const PointRun& stage, const ContentDifferences& found, PointResult& to) {
    const BenchmarkSession& session = stage.session;
    to.wrong_data_bytes += session.sum(found.data_bytes);
    to.wrong_gap_bytes += session.sum(found.gap_bytes);
    std::vector<std::string> lines;
    lines.reserve(found.first.size());
    for (const hpio::ByteDifference& one : found.first) {
        lines.push_back(fmt::format("{}: {}", stage.path, describe(one)));
    }
    for (std::string& line : session.gathered(lines, ContentDifferences::shown_max)) {
        if (to.mismatches.size() < ContentDifferences::shown_max) {
            to.mismatches.push_back(std::move(line));
        }
    }
}

void note_hints(const PointRun& stage, const AccessResult& done, PointResult& to) {
    for (std::size_t at = 0; at < done.hints.size(); ++at) {
        const std::string& asked = stage.request.hints[at].second;
        const auto& [key, used] = done.hints[at];
        if (used != asked) {
            to.warnings.push_back(
                fmt::format("the hint {}={} did not take effect (the MPI has "
                            "\"{}\"). Results are those of the latter.",
                            key, asked, used));
        }
    }
}

std::string path_of(const hpio::HpioCommand& request, std::size_t number, std::int64_t repetition) {
    std::string path = fmt::format("{}/{}.{:04d}", request.directory, request.name_prefix, number);
    if (!request.same_file) {
        path += fmt::format(".{:08d}", repetition);
    }
    return path;
}

Result<AccessDurations> run_once(const PointRun& stage, std::span<std::byte> memory,
                                 PointResult& to, measure::LatencyHistogram& latency) {
    if (auto ready = prepare(stage); !ready) {
        return failure(ready.error());
    }
    const Rank rank{stage.session.rank()};
    if (stage.writes()) {
        stage.content.fill_memory(rank, memory);
    } else {
        std::fill(memory.begin(), memory.end(), FileContent::memory_gap);
    }
    const auto done = move_data(stage.session,
                                {.request = stage.request,
                                 .point = stage.point,
                                 .job = stage.job,
                                 .path = stage.path,
                                 .memory = memory},
                                latency);
    if (!done) {
        return failure(done.error());
    }
    ContentDifferences differences;
    if (auto fine = verify(stage, memory, differences); !fine) {
        return failure(fine.error());
    }
    note_differences(stage, differences, to);
    if (to.repetitions.empty()) {
        note_hints(stage, *done, to);
    }
    return done->durations;
}

}  // namespace

void LeftoverFile::set(std::string path) {
    const std::lock_guard lock(mutex_);
    path_ = std::move(path);
    janitor_.watch_over({path_});
}

void LeftoverFile::clear() {
    const std::lock_guard lock(mutex_);
    path_.clear();
    janitor_.dismiss();
}

void LeftoverFile::remove() {
    const std::lock_guard lock(mutex_);
    if (!path_.empty()) {
        ::unlink(path_.c_str());
    }
    // The path stays until clear(), because the monitor may call this before the file is created.
}

Result<PointResult> run_point(BenchmarkSession& session, const hpio::HpioCommand& request,
                              std::size_t number, LeftoverFile& leftover) {
    const hpio::Point& point = request.points[number];
    auto pattern = resolved(point.pattern, session.ranks());
    if (!pattern) {
        return failure(pattern.error());
    }
    PointResult result;
    result.point = point;
    result.job = {.pattern = *pattern, .ranks = session.ranks()};
    measure::AlignedBytes memory(
        static_cast<std::size_t>(result.job.memory_layout(Rank{session.rank()}).extent_bytes()));
    measure::LatencyHistogram latency;
    std::vector<double> own_seconds;
    const std::int64_t bytes_here =
        result.job.data_bytes() / session.ranks() * session.ranks_here();
    for (std::int64_t repetition = 0; repetition < request.repetitions; ++repetition) {
        const std::string path = path_of(request, number, repetition);
        const FileContent content(result.job,
                                  {.seed = request.seed,
                                   .file = path,
                                   .repetition = static_cast<std::uint64_t>(repetition)});
        const PointRun stage{session, request, point, result.job, path, content, leftover};
        session.begin(std::string(name_of(point.direction)), bytes_here);
        const auto durations = run_once(stage, memory.bytes(), result, latency);
        session.end();
        session.barrier();
        if (session.is_first()) {
            leftover.remove();
        }
        leftover.clear();
        if (!durations) {
            return failure(durations.error());
        }
        result.repetitions.push_back(slowest_of(session, *durations));
        own_seconds.push_back(seconds_of(durations->io_ns));
        if (request.wait_seconds > 0 && repetition + 1 < request.repetitions) {
            std::this_thread::sleep_for(std::chrono::seconds(request.wait_seconds));
        }
    }
    result.latency = session.merged(latency, session.world());
    result.io = session.spread(measure::median(own_seconds), session.world());
    return result;
}

}  // namespace forebay::bench
