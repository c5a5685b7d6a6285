// The tables of mdtest's options and of ours, and the estimate of a run.
#include "benchmarks/meta/command.hpp"

#include "benchmarks/measure/byte_units.hpp"
#include "benchmarks/measure/saturated.hpp"
#include "foundation/base/counted.hpp"
#include "foundation/base/units.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <iterator>

namespace forebay::meta {

namespace {

using command_line::CommandOption;
using command_line::OptionArgument;
using measure::saturated_product;

tl::unexpected<Error> wrong(std::string message) {
    return failure({.code = ErrorCode::argument, .message = std::move(message)});
}

using Put = Result<void> (*)(MetaCommand&, const std::string&);

struct MetaOption {
    CommandOption option;
    Put put;
};

// Sets a flag; `member` belongs to MetaCommand, or to the RunOptions in it.
template <auto member, bool inverted = false>
Result<void> put_flag(MetaCommand& to, const std::string& text) {
    const auto on = command_line::flag("the flag", text);
    if (!on) {
        return failure(on.error());
    }
    to.*member = *on != inverted;
    return {};
}

template <std::int64_t MetaCommand::* member, std::int64_t least>
Result<void> put_number(MetaCommand& to, const std::string& text) {
    const auto number = measure::parse_size(text);
    if (!number || *number < least) {
        return wrong(fmt::format("cannot use \"{}\" (it is no number of at least {}). Give one.",
                                 text, least));
    }
    to.*member = *number;
    return {};
}

template <auto member>
Result<void> put_text(MetaCommand& to, const std::string& text) {
    to.*member = text;
    return {};
}

Result<void> put_backend(MetaCommand& to, const std::string& text) {
    std::string upper = text;
    std::transform(upper.begin(), upper.end(), upper.begin(), [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    if (upper != "POSIX" && upper != "DUMMY") {
        return wrong(fmt::format("not built: {} (built: POSIX, DUMMY). Use one of these.", upper));
    }
    to.backend = upper == "POSIX" ? MetaBackend::posix : MetaBackend::dummy;
    return {};
}

Result<void> put_storms(MetaCommand& to, const std::string& text) {
    to.mode = MetaMode::storm;
    if (text.empty() || text == "all") {
        return {};
    }
    to.storms.clear();
    for (const std::string& word : command_line::split(text, ',')) {
        constexpr std::array all{Storm::existing, Storm::own, Storm::shared};
        const auto found =
            std::find_if(all.begin(), all.end(), [&](Storm one) { return name_of(one) == word; });
        if (found == all.end()) {
            return wrong(
                fmt::format("unknown storm \"{}\" (known: existing, private, shared). "
                            "Name some of them.",
                            word));
        }
        to.storms.push_back(*found);
    }
    return {};
}

Result<void> put_ramp(MetaCommand& to, const std::string& text) {
    to.ramp.clear();
    for (const std::string& word : command_line::split(text, ',')) {
        const auto number = command_line::whole_number("--ranks", word);
        if (!number || *number < 1) {
            return wrong(fmt::format("\"{}\" is no list of numbers of ranks. Write 1,2,4.", text));
        }
        to.ramp.push_back(*number);
    }
    return {};
}

Result<void> put_seed(MetaCommand& to, const std::string& text) {
    const auto number = command_line::whole_number("the seed", text);
    if (!number) {
        return failure(number.error());
    }
    to.seed = static_cast<std::uint64_t>(*number);
    return {};
}

constexpr auto yes = OptionArgument::value;
constexpr auto no = OptionArgument::nothing;
constexpr auto maybe = OptionArgument::number_if_there;

// The phases named by -C -T -E -r; until one of these is given, all phases are selected.
struct PhaseSelection {
    bool creates = false;
    bool stats = false;
    bool reads = false;
    bool removes = false;
    bool any = false;
};

// A plain array, because GCC 12 places a std::array of relocated pointers in writable memory.
constexpr MetaOption entries[]{
    MetaOption{{'h', "help", no, "show this and exit", ""}, put_flag<&MetaCommand::help>},
    MetaOption{{0, "version", no, "show the version and exit", ""},
               put_flag<&MetaCommand::version>},
    MetaOption{{'a', "api", yes, "POSIX or DUMMY", "POSIX"}, put_backend},
    MetaOption{{'b', "", yes, "branches of the tree", "1"},
               [](MetaCommand& to, const std::string& v) {
                   const auto number = command_line::whole_number("-b", v);
                   to.tree.branches = number.value_or(0);
                   return number ? Result<void>{} : failure(number.error());
               }},
    MetaOption{{'z', "", yes, "depth of the tree", "0"},
               [](MetaCommand& to, const std::string& v) {
                   const auto number = command_line::whole_number("-z", v);
                   to.tree.depth = number.value_or(-1);
                   return number ? Result<void>{} : failure(number.error());
               }},
    MetaOption{{'L', "", no, "items only at the leaves of the tree", ""},
               [](MetaCommand& to, const std::string& v) {
                   const auto on = command_line::flag("-L", v);
                   to.tree.items_at = on.value_or(true) ? ItemLevel::leaves : ItemLevel::every;
                   return on ? Result<void>{} : failure(on.error());
               }},
    MetaOption{{'d', "", yes, "directories, dir1@dir2@…, given to ranks in turn", "./out"},
               [](MetaCommand& to, const std::string& v) {
                   to.directories = command_line::split(v, '@');
                   const bool named =
                       !v.empty() && std::find(to.directories.begin(), to.directories.end(),
                                               std::string()) == to.directories.end();
                   return named ? Result<void>{}
                                : wrong(
                                      "a directory has no name (it would be the root). Write "
                                      "dir1@dir2, or . for this one.");
               }},
    MetaOption{{'n', "", yes, "items of a rank", "0"}, put_number<&MetaCommand::items, 0>},
    MetaOption{{'I', "", yes, "items of a rank in each directory", "0"},
               put_number<&MetaCommand::items_each, 0>},
    MetaOption{{'i', "", yes, "iterations", "1"}, put_number<&MetaCommand::iterations, 1>},
    MetaOption{{'N', "", yes, "look at the items of the rank so far away", "0"},
               put_number<&MetaCommand::stride, 0>},
    MetaOption{{'f', "", yes, "first number of tasks", "1 with -l, else all"},
               put_number<&MetaCommand::first_tasks, 0>},
    MetaOption{{'l', "", yes, "last number of tasks", "all"},
               put_number<&MetaCommand::last_tasks, 0>},
    MetaOption{{'s', "", yes, "step between numbers of tasks", "1"},
               put_number<&MetaCommand::step_tasks, 1>},
    MetaOption{{'w', "", yes, "bytes to write to each file", "0"},
               put_number<&MetaCommand::write_bytes, 0>},
    MetaOption{{'e', "", yes, "bytes to read from each file", "0"},
               put_number<&MetaCommand::read_bytes, 0>},
    MetaOption{{'W', "", yes, "stop creating after so many seconds", "0"},
               [](MetaCommand& to, const std::string& v) {
                   return put_number<&MetaCommand::stonewall_seconds, 0>(
                       to, v.ends_with('s') ? v.substr(0, v.size() - 1) : v);
               }},
    MetaOption{{'x', "", yes, "file with the number of items that -W reached", ""},
               put_text<&MetaCommand::stonewall_file>},
    MetaOption{{'p', "", yes, "seconds before each iteration", "0"},
               put_number<&MetaCommand::delay_seconds, 0>},
    MetaOption{{'D', "", no, "directories only", ""}, put_flag<&MetaCommand::files, true>},
    MetaOption{{'F', "", no, "files only", ""}, put_flag<&MetaCommand::folders, true>},
    MetaOption{{'U', "", no, "rename directories, too, with -C, -T, -E or -r", ""},
               put_flag<&MetaCommand::renames>},
    MetaOption{{'u', "", no, "a tree of its own for each rank", ""},
               put_flag<&MetaCommand::unique_tree>},
    MetaOption{{'S', "", no, "files that all ranks open", ""}, put_flag<&MetaCommand::shared_file>},
    MetaOption{{'c', "", no, "rank 0 creates everything", ""},
               put_flag<&MetaCommand::collective_create>},
    MetaOption{{'R', "", maybe, "stat in random order, of this seed", ""},
               [](MetaCommand& to, const std::string& v) {
                   to.random_stat = true;
                   return v.empty() ? Result<void>{} : put_seed(to, v);
               }},
    MetaOption{{0, "random-seed", yes, "of -R", "0"}, put_seed},
    MetaOption{{'G', "", yes, "of the data", "0"}, put_seed},
    MetaOption{{'y', "", no, "fsync after writing", ""}, put_flag<&MetaCommand::sync>},
    MetaOption{{'Y', "", no, "sync(2) after each phase, within its time", ""},
               put_flag<&MetaCommand::sync_all>},
    MetaOption{{'X', "verify-read", no, "verify what is read", ""},
               put_flag<&MetaCommand::verify_read>},
    MetaOption{{0, "verify-write", no, "read back and verify after writing", ""},
               put_flag<&MetaCommand::verify_write>},
    MetaOption{{'B', "", maybe, "no barriers between phases (-B 0: barriers)", ""},
               put_flag<&MetaCommand::barriers, true>},
    MetaOption{{'k', "", no, "create files by mknod", ""}, put_flag<&MetaCommand::make_node>},
    MetaOption{{'P', "", no, "print rate and time", ""}, put_flag<&MetaCommand::print_time>},
    MetaOption{{'Z', "", no, "print time instead of rate", ""},
               [](MetaCommand& to, const std::string& v) {
                   to.print_time = true;
                   return put_flag<&MetaCommand::print_rate, true>(to, v);
               }},
    MetaOption{{0, "showRankStatistics", no, "list the ranks' times", ""},
               put_flag<&MetaCommand::show_ranks>},
    MetaOption{{0, "print-all-procs", no, "as --showRankStatistics", ""},
               put_flag<&MetaCommand::show_ranks>},
    MetaOption{{0, "saveRankPerformanceDetails", yes, "the ranks' times as CSV", ""},
               put_text<&MetaCommand::ranks_csv_file>},
    MetaOption{
        {0, "savePerOpDataCSV", yes, "every call as CSV, in PREFIX-phase-iteration-rank.csv", ""},
        put_text<&MetaCommand::operations_prefix>},
    MetaOption{
        {0, "run-cmd-before-phase", yes, "run this on each node before each phase, untimed", ""},
        put_text<&MetaCommand::command_before>},
    MetaOption{{0, "run-cmd-after-phase", yes, "run this on each node after each phase, timed", ""},
               put_text<&MetaCommand::command_after>},
    MetaOption{{0, "warningAsErrors", no, "a warning makes the exit status 2", ""},
               put_flag<&MetaCommand::warnings_are_errors>},
    MetaOption{{'v', "", no, "more words (repeatable)", ""},
               [](MetaCommand& to, const std::string&) {
                   ++to.verbosity;
                   return Result<void>{};
               }},
    MetaOption{{'V', "", yes, "verbosity", "0"}, put_number<&MetaCommand::verbosity, 0>},
    MetaOption{
        {'g', "", no, "ignored: directories have their parent's layout", ""},
        [](MetaCommand& to, const std::string&) {
            to.advice.emplace_back(
                "-g is ignored (directories have their parent's layout). Set another by lfs.");
            return Result<void>{};
        }},
    MetaOption{{'t', "", no, "ignored: the tree rows have it", ""},
               [](MetaCommand& to, const std::string&) {
                   to.advice.emplace_back(
                       "-t is ignored (the rows Tree creation and removal have it).");
                   return Result<void>{};
               }},
    MetaOption{{0, "dataPacketType", yes, "ignored: data are seeded and incompressible", ""},
               [](MetaCommand& to, const std::string&) {
                   to.advice.emplace_back(
                       "--dataPacketType is ignored (data are always seeded and "
                       "incompressible).");
                   return Result<void>{};
               }},
    MetaOption{{0, "storm", yes, "existing,private,shared or all: open, stat, close storms", ""},
               put_storms},
    MetaOption{{0, "ranks", yes, "the storm's numbers of ranks", "1,2,4 … all"}, put_ramp},
    MetaOption{{0, "phase-time", yes, "seconds of a storm's phase at most", "5"},
               [](MetaCommand& to, const std::string& v) {
                   const auto seconds = measure::parse_seconds(v);
                   to.phase_seconds = seconds.value_or(0);
                   return seconds ? Result<void>{} : failure(seconds.error());
               }},
    MetaOption{{0, "dry-run", no, "print the estimate; touch nothing", ""},
               put_flag<&MetaCommand::dry_run>},
    MetaOption{{0, "json", yes, "write the result here as JSON (forebay.bench.meta/1)", ""},
               put_text<&MetaCommand::json_file>},
    MetaOption{{0, "csv", yes, "write a line for each row and iteration here", ""},
               put_text<&MetaCommand::csv_file>},
    MetaOption{{0, "no-live", no, "no live line on a terminal", ""},
               put_flag<&MetaCommand::live, true>},
};

// -C -T -E -r select phases; without any of them all are selected.
constexpr std::array<std::pair<CommandOption, bool PhaseSelection::*>, 4> phase_entries{
    std::pair{CommandOption{'C', "", no, "only create", ""}, &PhaseSelection::creates},
    std::pair{CommandOption{'T', "", no, "only stat", ""}, &PhaseSelection::stats},
    std::pair{CommandOption{'E', "", no, "only read", ""}, &PhaseSelection::reads},
    std::pair{CommandOption{'r', "", no, "only remove", ""}, &PhaseSelection::removes},
};

// mdtest's back ends, whose options are ignored: they choose how data is moved, of which there is
// little here.
constexpr std::array<std::string_view, 26> modules{
    "posix", "dummy",   "mpiio",   "ncmpi",   "hdf5",   "mmap", "aio",   "dfs", "daos",
    "chfs",  "cephfs",  "finchfs", "rados",   "hdfs",   "ime",  "im",    "s3",  "s3-libs3",
    "s3-4c", "S3_plus", "S3_EMC",  "s3-curl", "libnfs", "nfs",  "gfarm", "pmdk"};

std::vector<CommandOption> table() {
    std::vector<CommandOption> result;
    for (const MetaOption& entry : entries) {
        result.push_back(entry.option);
    }
    for (const auto& [option, member] : phase_entries) {
        result.push_back(option);
    }
    const auto limits = command_line::limit_options_of(command_line::run_limits);
    result.insert(result.end(), limits.begin(), limits.end());
    return result;
}

// Applies one option of table().
Result<void> put(const command_line::GivenOption& given, MetaCommand& request,
                 PhaseSelection& phases) {
    const std::size_t own = std::size(entries);
    if (given.option < own) {
        return entries[given.option].put(request, given.value);
    }
    if (given.option < own + phase_entries.size()) {
        phases.*phase_entries[given.option - own].second = true;
        phases.any = true;
        return {};
    }
    return command_line::put_limit(given.option - own - phase_entries.size(), given.value,
                                   request.limits);
}

Result<void> settle_items(MetaCommand& request) {
    if (auto fine = checked(request.tree); !fine) {
        return fine;
    }
    const std::int64_t holders = request.tree.holders();
    if (request.mode == MetaMode::storm) {
        request.items = request.items == 0 ? 100 : request.items;
        return {};
    }
    const bool both = request.items_each > 0 && request.items > 0;
    if (request.items_each == 0) {
        request.items_each = request.items / holders;
    }
    if (request.items_each == 0) {
        return wrong(
            fmt::format("nothing to do (-n {} over {} directories). Give -n or -I, at "
                        "least one item a directory.",
                        request.items, holders));
    }
    const std::int64_t asked = request.items;
    if (__builtin_mul_overflow(request.items_each, holders, &request.items)) {
        return wrong(
            fmt::format("too many items (-I {} in {} directories each). Give less of either.",
                        request.items_each, holders));
    }
    if (both && asked != request.items) {
        return wrong(
            fmt::format("-n {} and -I {} do not agree (-I makes {} items; mdtest makes tree after "
                        "tree instead, which is not built). Give one of them, and -b and -z for "
                        "more directories.",
                        asked, request.items_each, request.items));
    }
    return {};
}

Result<void> check(const MetaCommand& request) {
    if (!request.files && !request.folders) {
        return wrong("-D and -F exclude each other. Give one of them, or neither for both.");
    }
    if (request.shared_file && request.folders) {
        return wrong("-S is for files only (directories cannot be shared so). Give -F, too.");
    }
    if (request.make_node && (request.write_bytes > 0 || request.read_bytes > 0)) {
        return wrong("-k makes empty files (mknod opens none). Leave it out, or -w and -e.");
    }
    if (request.verify_read && request.read_bytes > request.write_bytes && request.creates) {
        return wrong("-X verifies more than is written (-e is larger than -w). Make -w as large.");
    }
    if (request.read_bytes > request.write_bytes && request.creates && request.reads) {
        return wrong("-e is larger than -w (the files end before). Make -w as large.");
    }
    return {};
}

}  // namespace

std::string_view name_of(Storm storm) noexcept {
    constexpr std::array<std::string_view, 3> names{"existing", "private", "shared"};
    return names[static_cast<std::size_t>(storm)];
}

Result<MetaCommand> parse_command(std::span<const std::string> words) {
    const std::vector<CommandOption> known = table();
    MetaCommand request;
    const auto parsed = command_line::parse(
        known, command_line::without_modules(words, modules, "the calls are plain ones of POSIX",
                                             request.advice));
    if (!parsed) {
        return failure(parsed.error());
    }
    PhaseSelection phases;
    for (const command_line::GivenOption& given : *parsed) {
        if (auto fine = put(given, request, phases); !fine) {
            return wrong(fmt::format("{}: {}", command_line::shown(known[given.option]),
                                     fine.error().message));
        }
    }
    if (phases.any) {
        request.creates = phases.creates;
        request.stats = phases.stats;
        request.reads = phases.reads;
        request.removes = phases.removes;
    } else {
        request.renames = true;
    }
    if (request.help || request.version) {
        return request;
    }
    if (auto fine = settle_items(request); !fine) {
        return failure(fine.error());
    }
    if (auto fine = check(request); !fine) {
        return failure(fine.error());
    }
    return request;
}

std::string help_text() {
    return "forebay-meta: mdtest's phases, and storms of open, stat and close.\n\n"
           "  mpiexec -n 4 forebay-meta -n 1000 -d /scratch/md -i 3 -u\n"
           "  mpiexec -n 4 forebay-meta --storm all -n 1000 -d /scratch/md\n\n" +
           command_line::help(table()) +
           "Exit status: 0 good, 1 usage, 2 I/O error, 3 data wrong, 4 time limit, 5 refused by\n"
           "the budget, 128 + n ended by the signal n.\n";
}

Result<std::vector<std::int64_t>> ramp_of(const MetaCommand& request, std::int64_t ranks) {
    std::vector<std::int64_t> ramp = request.ramp;
    if (request.mode == MetaMode::mdtest) {
        const std::int64_t least = request.last_tasks == 0 ? ranks : 1;
        const std::int64_t first = request.first_tasks == 0 ? least : request.first_tasks;
        const std::int64_t last = request.last_tasks == 0 ? ranks : request.last_tasks;
        for (std::int64_t tasks = first; tasks <= std::min(last, ranks);
             tasks += request.step_tasks) {
            ramp.push_back(tasks);
        }
        if (ramp.size() > 1 && !(request.creates && request.removes)) {
            return wrong(
                "cannot run several numbers of tasks (-f, -l, -s) without creating and removing "
                "(they use the same directories, as mdtest's do). Give one number, or all phases.");
        }
        return ramp.empty() ? wrong(fmt::format("no task to run on (-f {} -l {} of {}). "
                                                "Start more ranks.",
                                                request.first_tasks, request.last_tasks,
                                                counted(ranks, "rank")))
                            : Result<std::vector<std::int64_t>>(ramp);
    }
    for (const std::int64_t tasks : ramp) {
        if (tasks > ranks) {
            return wrong(
                fmt::format("{} ranks are more than there are ({}). Start more, or ask "
                            "for fewer.",
                            tasks, ranks));
        }
    }
    for (std::int64_t tasks = 1; request.ramp.empty() && tasks < ranks; tasks *= 2) {
        ramp.push_back(tasks);
    }
    if (request.ramp.empty()) {
        ramp.push_back(ranks);
    }
    return ramp;
}

namespace {

using Ramp = std::vector<std::int64_t>;

// Estimated space of a file or directory without data: one block.
constexpr std::int64_t item_bytes = 4096;

measure::RunEstimate estimate_of_storms(const MetaCommand& request, const Ramp& ramp) {
    measure::RunEstimate total;
    for (const std::int64_t tasks : ramp) {
        for (const Storm storm : request.storms) {
            const std::int64_t files =
                storm == Storm::shared ? 1 : saturated_product(tasks, request.items);
            total.files = saturated_sum(total.files, files);
        }
    }
    const std::int64_t most = *std::max_element(ramp.begin(), ramp.end());
    total.bytes_kept_max = saturated_product(most, request.items, item_bytes);
    return total;
}

measure::RunEstimate estimate_of_phases(const MetaCommand& request, const Ramp& ramp) {
    const std::int64_t most = *std::max_element(ramp.begin(), ramp.end());
    const std::int64_t trees =
        request.unique_tree ? most : std::min(most, std::ssize(request.directories));
    const std::int64_t kinds = (request.files ? 1 : 0) + (request.folders ? 1 : 0);
    // With -S all ranks of a tree open the same files.
    const std::int64_t makers = request.shared_file ? trees : most;
    const std::int64_t made = saturated_sum(saturated_product(makers, request.items, kinds),
                                            saturated_product(trees, request.tree.directories()));
    const std::int64_t rounds =
        saturated_product(request.iterations, static_cast<std::int64_t>(ramp.size()));
    const std::int64_t opened = request.files ? saturated_product(most, request.items) : 0;
    const std::int64_t files = request.files ? saturated_product(makers, request.items) : 0;
    measure::RunEstimate total;
    if (request.creates) {
        total.files = saturated_product(made, rounds);
        total.bytes_written = saturated_product(opened, request.write_bytes, rounds);
        total.bytes_kept_max = saturated_sum(saturated_product(files, request.write_bytes),
                                             saturated_product(made, item_bytes));
    }
    total.bytes_read = request.reads ? saturated_product(opened, request.read_bytes, rounds) : 0;
    return total;
}

}  // namespace

Result<measure::RunEstimate> estimate(const MetaCommand& request, std::int64_t ranks) {
    const auto ramp = ramp_of(request, ranks);
    if (!ramp) {
        return failure(ramp.error());
    }
    return request.mode == MetaMode::storm ? estimate_of_storms(request, *ramp)
                                           : estimate_of_phases(request, *ramp);
}

}  // namespace forebay::meta
