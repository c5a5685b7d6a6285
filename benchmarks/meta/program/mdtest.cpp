// mdtest's phases: tree creation, the operations on items, tree removal.
#include "benchmarks/meta/program/mdtest.hpp"

#include "benchmarks/measure/mixing.hpp"
#include "benchmarks/meta/program/calls.hpp"
#include "benchmarks/session/output.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace forebay::bench {

namespace {

using measure::now_ns;
using measure::seconds_of;
using meta::ItemKind;

// The context of a phase on one rank.
struct MdtestTeam {
    BenchmarkSession& session;
    const meta::MetaCommand& request;
    MPI_Comm ranks;
    std::int64_t tasks;
    std::int64_t rank;
    std::int64_t items;  // per rank; fewer after a stonewall
    std::int64_t shift;  // distance from one phase's rank to the next one's
    std::int64_t iteration;
    std::string name;  // name of this iteration's directory
    const FileCalls& calls;
    ItemData& data;
    MdtestOutcome& outcome;
    std::int64_t& wrong_files;
    std::vector<std::string>& wrong;
};

// Which rank's items this rank accesses. As in mdtest, it differs from phase to phase, so that no
// phase benefits from caches that the one before has filled.
enum class RankShift { stat = 1, read = 2, remove = 3 };
std::int64_t seen_rank(const MdtestTeam& team, RankShift look) {
    return (team.rank + static_cast<std::int64_t>(look) * team.shift) % team.tasks;
}

// The number of -d directories in use: ranks take the first ones.
std::int64_t bases(const MdtestTeam& team) {
    return std::min(std::ssize(team.request.directories), team.tasks);
}

// This iteration's directory in the `number`th directory of -d; a rank's is found by its rank.
std::string base_path(const MdtestTeam& team, std::int64_t number) {
    const auto at = static_cast<std::size_t>(number % std::ssize(team.request.directories));
    return team.request.directories[at] + "/" + team.name;
}

// The rank whose tree holds a rank's items; nullopt: a shared tree.
std::optional<std::int64_t> owner_of(const MdtestTeam& team, std::int64_t rank) {
    return team.request.unique_tree ? std::optional(rank) : std::nullopt;
}

// The path of an item of `rank`.
std::string item_path(const MdtestTeam& team, ItemKind kind, std::int64_t rank, std::int64_t item) {
    const meta::MetaCommand& request = team.request;
    const meta::DirectoryTree& tree = request.tree;
    const std::string folder = tree.path(base_path(team, rank), owner_of(team, rank),
                                         tree.holder_of(item, request.items_each));
    const bool shared = request.shared_file && kind == ItemKind::file;
    return folder + "/" +
           meta::item_name(kind, shared ? std::nullopt : std::optional(rank),
                           tree.named(item, request.items_each));
}

std::uint64_t stream_of(const MdtestTeam& team, std::int64_t rank, std::int64_t item) {
    return team.request.shared_file
               ? static_cast<std::uint64_t>(item)
               : static_cast<std::uint64_t>(rank) << 40U | static_cast<std::uint64_t>(item);
}

// --run-cmd-before-phase and -after-phase: run once on each node. An empty command does nothing.
Result<void> run_on_node(const MdtestTeam& team, const std::string& command) {
    return command.empty() || !team.session.is_first_here() ? Result<void>{} : run_command(command);
}

Result<void> keep_calls(const MdtestTeam& team, std::string name,
                        const std::vector<TimedCall>& calls, std::int64_t begin_ns) {
    if (team.request.operations_prefix.empty()) {
        return {};
    }
    std::replace(name.begin(), name.end(), ' ', '_');
    std::string text = "time,runtime,tp\n";
    for (const TimedCall& call : calls) {
        const double seconds = seconds_of(call.lasted_ns);
        text += fmt::format("{:.9f},{:.9f},{:.3f}\n", seconds_of(call.begin_ns - begin_ns), seconds,
                            seconds > 0 ? 1.0 / seconds : 0.0);
    }
    return write_text(fmt::format("{}-{}-{}-{}.csv", team.request.operations_prefix, name,
                                  team.iteration, team.rank),
                      text);
}

// Items [from, to), unless the time ends before; `begin_ns` is the phase's begin.
struct ItemRange {
    std::int64_t from = 0;
    std::int64_t to = 0;
    std::int64_t begin_ns = 0;
    double seconds_max = 0;  // 0: no time limit
};

template <class Operation>
Result<void> timed_items(MdtestTeam& team, PhaseStopwatch& watch, const ItemRange& stretch,
                         const Operation& operation) {
    const WorkInProgress working(team.session.progress());
    Result<void> result;
    for (std::int64_t item = stretch.from; item < stretch.to && result; ++item) {
        if (stretch.seconds_max > 0 &&
            seconds_of(now_ns() - stretch.begin_ns) >= stretch.seconds_max) {
            break;
        }
        result = watch.time([&] { return operation(item); });
    }
    return result;
}

// Times `operation` on `count` items. Collective: a rank that fails stops, and all ranks get its
// error. With `seconds_max`, every rank then continues to the number of items that the fastest one
// reached, returned in `reached`; as in mdtest that counts as part of the phase.
template <class Operation>
Result<void> phase(MdtestTeam& team, const std::string& name, std::int64_t count,
                   double seconds_max, std::int64_t* reached, const Operation& operation) {
    PhaseStopwatch watch(team.session.progress(), team.request.operations_prefix.empty()
                                                      ? LatencyDetail::totals
                                                      : LatencyDetail::every_call);
    Result<void> result = run_on_node(team, team.request.command_before);
    team.session.begin(name, 0);
    if (team.request.barriers || !team.request.command_before.empty()) {
        team.session.barrier(team.ranks);
    }
    const std::int64_t begin = now_ns();
    if (result) {
        result = timed_items(team, watch, {0, count, begin, seconds_max}, operation);
    }
    if (seconds_max > 0) {
        const std::int64_t own = watch.operations();
        MPI_Allreduce(&own, reached, 1, MPI_INT64_T, MPI_MAX, team.ranks);
        if (result) {
            result = timed_items(team, watch, {own, *reached, begin, 0}, operation);
        }
    }
    {
        const WorkInProgress working(team.session.progress());
        if (team.request.sync_all) {
            ::sync();
        }
        if (auto ran = run_on_node(team, team.request.command_after); result) {
            result = ran;
        }
    }
    const double seconds = seconds_of(now_ns() - begin);
    team.session.end();
    if (result) {
        result = keep_calls(team, name, watch.calls(), begin);
    }
    auto all = team.session.agreed(result, team.ranks);
    if (!all) {
        return all;
    }
    if (team.session.sum(watch.operations(), team.ranks) > 0) {
        add_round(team.session, team.ranks, watch, seconds, team.session.late(begin, team.ranks),
                  team.outcome.rows.row("mdtest", name, team.tasks));
    }
    return {};
}

void note_wrong(MdtestTeam& team, const std::string& path, std::uint64_t stream,
                std::int64_t bytes) {
    if (const auto mismatch = team.data.check(stream, bytes)) {
        ++team.wrong_files;
        if (team.wrong.size() < 8) {
            team.wrong.push_back(fmt::format("{}: {}", path, describe(*mismatch)));
        }
    }
}

Result<void> create_file(MdtestTeam& team, std::int64_t rank, std::int64_t item) {
    const meta::MetaCommand& request = team.request;
    const std::string path = item_path(team, ItemKind::file, rank, item);
    const std::uint64_t stream = stream_of(team, rank, item);
    if (request.make_node && !request.shared_file) {
        return team.calls.make_node(path);
    }
    auto fd = team.calls.open(path, O_CREAT | O_RDWR);
    if (!fd) {
        return failure(fd.error());
    }
    if (request.write_bytes > 0) {
        const auto bytes = team.data.of(stream, request.write_bytes);
        if (auto fine = team.calls.write(*fd, bytes, path); !fine) {
            return fine;
        }
    }
    if (request.sync) {
        if (auto fine = team.calls.sync(*fd, path); !fine) {
            return fine;
        }
    }
    if (request.verify_write && request.backend == meta::MetaBackend::posix) {
        ::lseek(fd->get(), 0, SEEK_SET);
        const auto part = team.data.buffer().first(static_cast<std::size_t>(request.write_bytes));
        if (auto fine = team.calls.read(*fd, part, path); !fine) {
            return fine;
        }
        note_wrong(team, path, stream, request.write_bytes);
    }
    return team.calls.close(std::move(*fd), path);
}

Result<void> read_file(MdtestTeam& team, std::int64_t rank, std::int64_t item) {
    const meta::MetaCommand& request = team.request;
    const std::string path = item_path(team, ItemKind::file, rank, item);
    auto fd = team.calls.open(path, O_RDONLY);
    if (!fd) {
        return failure(fd.error());
    }
    if (request.read_bytes > 0) {
        const auto part = team.data.buffer().first(static_cast<std::size_t>(request.read_bytes));
        if (auto fine = team.calls.read(*fd, part, path); !fine) {
            return fine;
        }
        if (request.verify_read && request.backend == meta::MetaBackend::posix) {
            note_wrong(team, path, stream_of(team, rank, item), request.read_bytes);
        }
    }
    return team.calls.close(std::move(*fd), path);
}

// Creates the directories of trees level by level, or removes them in reverse order. A shared tree
// exists once in each directory of -d.
Result<void> trees(MdtestTeam& team, bool create) {
    const meta::DirectoryTree& tree = team.request.tree;
    const bool unique = team.request.unique_tree;
    const std::int64_t first = unique ? team.rank : 0;
    const std::int64_t trees = unique ? 1 : team.rank == 0 ? bases(team) : 0;
    const std::int64_t count = tree.directories() * trees;
    return phase(
        team, create ? "Tree creation" : "Tree removal", count, 0, nullptr,
        [&](std::int64_t number) {
            const std::int64_t which = create ? number : count - 1 - number;
            const std::string path = tree.path(base_path(team, first + which / tree.directories()),
                                               owner_of(team, first), which % tree.directories());
            return create ? team.calls.make_directory(path) : team.calls.remove_directory(path);
        });
}

Result<void> create_items(MdtestTeam& team, ItemKind kind) {
    const meta::MetaCommand& request = team.request;
    const char* const name = kind == ItemKind::file ? "File creation" : "Directory creation";
    const bool all_by_first = request.collective_create;
    const std::int64_t count = !all_by_first    ? request.items
                               : team.rank == 0 ? request.items * team.tasks
                                                : 0;
    const bool walled = request.stonewall_seconds > 0 && kind == ItemKind::file && !all_by_first;
    std::int64_t reached = count;
    auto fine =
        phase(team, name, count, walled ? static_cast<double>(request.stonewall_seconds) : 0,
              &reached, [&](std::int64_t number) {
                  const std::int64_t rank = all_by_first ? number / request.items : team.rank;
                  const std::int64_t item = all_by_first ? number % request.items : number;
                  return kind == ItemKind::file
                             ? create_file(team, rank, item)
                             : team.calls.make_directory(item_path(team, kind, rank, item));
              });
    if (fine && walled) {
        team.items = reached;
    }
    return fine;
}

Result<void> stat_items(MdtestTeam& team, ItemKind kind) {
    const measure::SeededPermutation order(
        static_cast<std::uint64_t>(std::max<std::int64_t>(team.items, 1)),
        team.request.seed + static_cast<std::uint64_t>(team.rank));
    const char* const name = kind == ItemKind::file ? "File stat" : "Directory stat";
    return phase(team, name, team.items, 0, nullptr, [&](std::int64_t number) {
        const std::int64_t item =
            team.request.random_stat
                ? static_cast<std::int64_t>(order(static_cast<std::uint64_t>(number)))
                : number;
        return team.calls.stat(item_path(team, kind, seen_rank(team, RankShift::stat), item));
    });
}

Result<void> remove_items(MdtestTeam& team, ItemKind kind) {
    const bool shared = team.request.shared_file && kind == ItemKind::file;
    const char* const name = kind == ItemKind::file ? "File removal" : "Directory removal";
    // Rank 0 removes the shared items, in each directory.
    const std::int64_t count = !shared ? team.items : team.rank == 0 ? team.items * bases(team) : 0;
    return phase(team, name, count, 0, nullptr, [&](std::int64_t number) {
        const std::string path =
            shared ? item_path(team, kind, number / team.items, number % team.items)
                   : item_path(team, kind, seen_rank(team, RankShift::remove), number);
        return kind == ItemKind::file ? team.calls.unlink(path) : team.calls.remove_directory(path);
    });
}

Result<void> rename_directories(MdtestTeam& team) {
    const auto renamed = [&](bool back) {
        return [&team, back](std::int64_t item) {
            const std::string path = item_path(team, ItemKind::directory, team.rank, item);
            const std::string other = path + ".renamed";
            return back ? team.calls.rename(other, path) : team.calls.rename(path, other);
        };
    };
    if (auto fine = phase(team, "Directory rename", team.items, 0, nullptr, renamed(false));
        !fine) {
        return fine;
    }
    Result<void> result;
    const WorkInProgress working(team.session.progress());
    for (std::int64_t item = 0; item < team.items && result; ++item) {
        result = renamed(true)(item);
    }
    return team.session.agreed(result, team.ranks);
}

Result<void> phases_of(MdtestTeam& team, ItemKind kind) {
    const meta::MetaCommand& request = team.request;
    if (request.creates) {
        if (auto fine = create_items(team, kind); !fine) {
            return fine;
        }
    }
    if (request.stats) {
        if (auto fine = stat_items(team, kind); !fine) {
            return fine;
        }
    }
    if (request.renames && kind == ItemKind::directory) {
        if (auto fine = rename_directories(team); !fine) {
            return fine;
        }
    }
    if (request.reads && kind == ItemKind::file) {
        auto fine = phase(team, "File read", team.items, 0, nullptr, [&](std::int64_t item) {
            return read_file(team, seen_rank(team, RankShift::read), item);
        });
        if (!fine) {
            return fine;
        }
    }
    return request.removes ? remove_items(team, kind) : Result<void>{};
}

Result<void> all_phases(MdtestTeam& team) {
    const meta::MetaCommand& request = team.request;
    if (request.creates) {
        if (auto fine = trees(team, true); !fine) {
            return fine;
        }
    }
    if (request.folders) {
        if (auto fine = phases_of(team, ItemKind::directory); !fine) {
            return fine;
        }
    }
    if (request.files) {
        if (auto fine = phases_of(team, ItemKind::file); !fine) {
            return fine;
        }
    }
    return request.removes ? trees(team, false) : Result<void>{};
}

// -x: the number of items that a run with -W reached, for a later run without -C.
std::int64_t items_of(const meta::MetaCommand& request) {
    std::int64_t items = 0;
    if (!request.creates && !request.stonewall_file.empty()) {
        std::ifstream file(request.stonewall_file);
        file >> items;
    }
    return items > 0 ? items : request.items;
}

Result<void> keep_items(const meta::MetaCommand& request, std::int64_t items) {
    if (!request.creates || request.stonewall_file.empty()) {
        return {};
    }
    std::ofstream file(request.stonewall_file);
    file << items << '\n';
    file.close();
    return file ? Result<void>{} : failure(system_error(EIO, "write " + request.stonewall_file));
}

// Rank 0 creates the directories of an iteration, and records them in `made`.
Result<void> make_base(const MdtestTeam& team, MadeDirectories& made) {
    if (team.rank != 0 || !team.request.creates ||
        team.request.backend != meta::MetaBackend::posix) {
        return {};
    }
    for (std::int64_t number = 0; number < bases(team); ++number) {
        const std::string base = base_path(team, number);
        const int made_here = make_with_parents(base);
        if (made_here == 0) {
            made.add(base);
        } else if (made_here != EEXIST) {
            return failure(system_error(made_here, "create " + base));
        }
    }
    return {};
}

Result<void> remove_base(const MdtestTeam& team, MadeDirectories& made) {
    if (team.rank != 0 || team.request.backend != meta::MetaBackend::posix) {
        return {};
    }
    for (std::int64_t number = 0; number < bases(team); ++number) {
        const std::string base = base_path(team, number);
        if (team.request.removes) {
            ::rmdir(base.c_str());
        }
        made.forget(base);
    }
    return {};
}

Result<void> iterate(MdtestTeam& team, MadeDirectories& made) {
    if (auto fine = team.session.agreed(make_base(team, made), team.ranks); !fine) {
        return fine;
    }
    if (auto fine = all_phases(team); !fine) {
        return fine;
    }
    const Result<void> kept =
        team.rank == 0 ? keep_items(team.request, team.items) : Result<void>{};
    if (auto fine = team.session.agreed(kept, team.ranks); !fine) {
        return fine;
    }
    return remove_base(team, made);
}

}  // namespace

void MadeDirectories::add(std::string directory) {
    const std::lock_guard lock(mutex_);
    directories_.push_back(std::move(directory));
    watch_trees();
}

void MadeDirectories::forget(const std::string& directory) {
    const std::lock_guard lock(mutex_);
    std::erase(directories_, directory);
    watch_trees();
}

void MadeDirectories::remove() {
    const std::lock_guard lock(mutex_);
    janitor_.run_ends();
    const timespec ended = moment_now();
    // The main threads of all ranks continue until their directories are gone.
    constexpr int tries_max = 30;
    std::erase_if(directories_, [&](const std::string& directory) {
        return remove_tree(directory, tries_max, ended);
    });
    // Where something remains, ranks are still at work; the janitor removes it when they have
    // ended.
    watch_trees();
    remove_parents();
}

void MadeDirectories::end() {
    const std::lock_guard lock(mutex_);
    remove_parents();
    if (directories_.empty()) {
        janitor_.dismiss();
    }
}

void MadeDirectories::remove_parents() const {
    for (const std::string& folder : parents_) {
        ::rmdir(folder.c_str());
    }
}

MPI_Comm first_ranks(const BenchmarkSession& session, std::int64_t tasks) {
    MPI_Comm ranks = MPI_COMM_NULL;
    MPI_Comm_split(session.world(), session.rank() < tasks ? 0 : MPI_UNDEFINED, session.rank(),
                   &ranks);
    return ranks;
}

Result<void> run_mdtest(BenchmarkSession& session, const meta::MetaCommand& request,
                        std::int64_t tasks, MadeDirectories& made, MdtestOutcome& outcome) {
    const std::int64_t shift = meta::shift_of(request.stride, session.nodes_of_all(), tasks);
    MPI_Comm ranks = first_ranks(session, tasks);
    Result<void> result;
    std::int64_t wrong_files = 0;
    std::vector<std::string> wrong;
    if (ranks != MPI_COMM_NULL) {
        ItemData data(request);
        const FileCalls calls(request.backend);
        for (std::int64_t iteration = 0; iteration < request.iterations && result; ++iteration) {
            std::this_thread::sleep_for(std::chrono::seconds(request.delay_seconds));
            MdtestTeam team{session,     request,        ranks,
                            tasks,       session.rank(), items_of(request),
                            shift,       iteration,      meta::base_name(iteration),
                            calls,       data,           outcome,
                            wrong_files, wrong};
            result = iterate(team, made);
        }
        MPI_Comm_free(&ranks);
    }
    session.quiet_barrier();
    auto all = session.agreed(result);
    outcome.wrong_files += session.sum(wrong_files);
    for (std::string& line : session.gathered(wrong, 8)) {
        outcome.mismatches.push_back(std::move(line));
    }
    if (!all && session.is_first()) {
        made.remove();
    }
    return all;
}

}  // namespace forebay::bench
