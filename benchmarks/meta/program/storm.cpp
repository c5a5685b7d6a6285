// The phases of a storm.
#include "benchmarks/meta/program/storm.hpp"

#include "benchmarks/meta/program/calls.hpp"

#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>

namespace forebay::bench {

namespace {

using measure::now_ns;
using measure::seconds_of;
using meta::Storm;

struct StormTeam {
    BenchmarkSession& session;
    const meta::MetaCommand& request;
    MPI_Comm ranks;
    Storm storm;
    std::int64_t tasks;
    std::vector<std::string> folders;  // of this storm; dealt to the ranks in turn
    const FileCalls& calls;
    MdtestOutcome& outcome;
    std::int64_t done;  // this rank's files that exist
};

std::string path_of(const StormTeam& crew, std::int64_t item) {
    const auto turn = static_cast<std::size_t>(crew.session.rank()) % crew.folders.size();
    return crew.storm == Storm::shared
               ? crew.folders.front() + "/shared"
               : fmt::format("{}/{}.{}", crew.folders[turn], crew.session.rank(), item);
}

bool over(const StormTeam& crew, std::int64_t begin_ns) {
    return seconds_of(now_ns() - begin_ns) >= crew.request.phase_seconds;
}

// Adds the measurements of a stopwatch under the name of an operation. Its time is the sum of its
// own calls: opens and closes alternate, so wall-clock time would include both.
void note(StormTeam& crew, const std::string& name, const PhaseStopwatch& watch) {
    add_round(crew.session, crew.ranks, watch, seconds_of(watch.busy_ns()), 0.0,
              crew.outcome.rows.row(std::string(name_of(crew.storm)), name, crew.tasks));
}

// Runs `body` on each rank in a phase that begins with a barrier; `body` gets its begin.
template <class Body>
Result<void> phase(StormTeam& crew, const std::string& name, const Body& body) {
    crew.session.begin(name, 0);
    crew.session.barrier(crew.ranks);
    const std::int64_t begin = now_ns();
    Result<void> result;
    {
        const WorkInProgress working(crew.session.progress());
        result = body(begin);
    }
    crew.session.end();
    return crew.session.agreed(result, crew.ranks);
}

// Opens and closes in alternation; `name` is the row of the opens.
Result<void> open_and_close(StormTeam& crew, const std::string& name, int flags,
                            std::int64_t count) {
    PhaseStopwatch opens(crew.session.progress());
    PhaseStopwatch closes(crew.session.progress());
    auto all = phase(crew, name, [&](std::int64_t begin) {
        Result<void> result;
        for (std::int64_t item = 0; item < count && result && !over(crew, begin); ++item) {
            const std::string path = path_of(crew, item);
            OwnFd fd;
            result = opens.time([&]() -> Result<void> {
                auto opened = crew.calls.open(path, flags);
                if (!opened) {
                    return failure(opened.error());
                }
                fd = std::move(*opened);
                return {};
            });
            if (result) {
                result = closes.time([&] { return crew.calls.close(std::move(fd), path); });
            }
        }
        return result;
    });
    if (!all) {
        return all;
    }
    note(crew, name, opens);
    note(crew, name == "open" ? "close" : "close of new", closes);
    crew.done = opens.operations();
    return {};
}

template <class Operation>
Result<void> each(StormTeam& crew, const std::string& name, std::int64_t count,
                  const Operation& operation) {
    PhaseStopwatch watch(crew.session.progress());
    auto all = phase(crew, name, [&](std::int64_t begin) {
        Result<void> result;
        for (std::int64_t item = 0; item < count && result; ++item) {
            if (name == "stat" && over(crew, begin)) {
                break;
            }
            result = watch.time([&] { return operation(path_of(crew, item)); });
        }
        return result;
    });
    if (all) {
        note(crew, name, watch);
    }
    return all;
}

Result<void> make_existing(StormTeam& crew, std::int64_t count) {
    Result<void> result;
    const WorkInProgress working(crew.session.progress());
    for (std::int64_t item = 0; item < count && result; ++item) {
        const std::string path = path_of(crew, item);
        auto fd = crew.calls.open(path, O_CREAT | O_WRONLY);
        result = fd ? crew.calls.close(std::move(*fd), path) : failure(fd.error());
        crew.session.progress().did(1);
    }
    return crew.session.agreed(result, crew.ranks);
}

Result<void> remove_quietly(StormTeam& crew, std::int64_t count) {
    Result<void> result;
    const WorkInProgress working(crew.session.progress());
    for (std::int64_t item = 0; item < count && result; ++item) {
        result = crew.calls.unlink(path_of(crew, item));
        crew.session.progress().did(1);
    }
    return crew.session.agreed(result, crew.ranks);
}

Result<void> storm_phases(StormTeam& crew) {
    const std::int64_t count = crew.request.items;
    const bool is_first = crew.session.is_first();
    // Files before the phases: all exist, none exists, or (shared) all exist so that no rank
    // creates one.
    if (crew.storm == Storm::existing) {
        if (auto fine = make_existing(crew, count); !fine) {
            return fine;
        }
        crew.done = count;
    } else {
        const int flags = crew.storm == Storm::own ? O_CREAT | O_EXCL | O_WRONLY : O_CREAT | O_RDWR;
        if (auto fine = open_and_close(crew, "create", flags, count); !fine) {
            return fine;
        }
    }
    const std::int64_t there = crew.done;
    const auto stat = [&](const std::string& path) { return crew.calls.stat(path); };
    if (auto fine = open_and_close(crew, "open", O_RDONLY, there); !fine) {
        return fine;
    }
    if (auto fine = each(crew, "stat", there, stat); !fine) {
        return fine;
    }
    if (crew.storm == Storm::own) {
        return each(crew, "remove", there,
                    [&](const std::string& path) { return crew.calls.unlink(path); });
    }
    const std::int64_t left = crew.storm == Storm::existing ? count : is_first ? 1 : 0;
    return remove_quietly(crew, left);
}

Result<void> make_folders(const StormTeam& crew, MadeDirectories& made) {
    if (!crew.session.is_first() || crew.request.backend != meta::MetaBackend::posix) {
        return {};
    }
    for (const std::string& folder : crew.folders) {
        if (const int wrong = make_with_parents(folder); wrong != 0) {
            return failure(system_error(wrong, "create " + folder));
        }
        made.add(folder);
    }
    return {};
}

Result<void> remove_folders(const StormTeam& crew) {
    Result<void> result;
    for (const std::string& folder : crew.folders) {
        if (auto removed = crew.calls.remove_directory(folder); result && !removed) {
            result = removed;
        }
    }
    return result;
}

// The storm's directory in each -d directory that a rank uses; a shared file has only one.
std::vector<std::string> folders_of(const meta::MetaCommand& request, Storm storm,
                                    std::int64_t tasks) {
    const std::int64_t most = storm == Storm::shared ? 1 : tasks;
    std::vector<std::string> folders;
    for (const std::string& directory : request.directories) {
        if (std::ssize(folders) < most) {
            folders.push_back(fmt::format("{}/storm.{}-{}", directory, name_of(storm), tasks));
        }
    }
    return folders;
}

Result<void> run_crew(StormTeam& crew, MadeDirectories& made) {
    if (auto fine = crew.session.agreed(make_folders(crew, made), crew.ranks); !fine) {
        return fine;
    }
    for (std::int64_t iteration = 0; iteration < crew.request.iterations; ++iteration) {
        if (auto fine = storm_phases(crew); !fine) {
            return fine;
        }
    }
    const bool removes =
        crew.session.is_first() && crew.request.backend == meta::MetaBackend::posix;
    return crew.session.agreed(removes ? remove_folders(crew) : Result<void>{}, crew.ranks);
}

}  // namespace

Result<void> run_storm(BenchmarkSession& session, const meta::MetaCommand& request, Storm storm,
                       std::int64_t tasks, MadeDirectories& made, MdtestOutcome& outcome) {
    MPI_Comm ranks = first_ranks(session, tasks);
    Result<void> result;
    const std::vector<std::string> folders = folders_of(request, storm, tasks);
    if (ranks != MPI_COMM_NULL) {
        const FileCalls calls(request.backend);
        StormTeam crew{session, request, ranks, storm, tasks, folders, calls, outcome, 0};
        result = run_crew(crew, made);
        MPI_Comm_free(&ranks);
    }
    session.quiet_barrier();
    auto all = session.agreed(result);
    if (session.is_first()) {
        if (!all) {
            made.remove();
        }
        for (const std::string& folder : folders) {
            made.forget(folder);
        }
    }
    return all;
}

}  // namespace forebay::bench
