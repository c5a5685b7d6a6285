// Turns the command line and the settings into the daemon's options, with defaults from the
// machine.
#include "pool/daemon/options.hpp"

#include "foundation/base/host_name.hpp"
#include "foundation/kernel/calls.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

namespace forebay::daemon {

namespace {

constexpr std::int64_t mebibyte = 1 << 20;
// A journal's default size is twice the pool's, and this.
constexpr std::int64_t journal_bytes_more = 128 * mebibyte;
constexpr std::int64_t second_ns = 1'000'000'000;
// The year 2100; the setting has the same maximum.
constexpr std::int64_t job_end_max = 4'102'444'800;

// The node's memory, or less where a control group limits it (memory.max).
pool::MemoryLimit memory_limit() {
    const auto pages = static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES));
    const auto page = static_cast<std::int64_t>(::sysconf(_SC_PAGESIZE));
    pool::MemoryLimit limit{.bytes = std::max<std::int64_t>(pages, 0) * page};
    const auto text_of = [](const std::string& file) {
        return kernel::contents(file).value_or("");
    };
    for (const std::string& file :
         pool::memory_limit_files(text_of("/proc/self/cgroup"), text_of("/proc/self/mountinfo"))) {
        limit = pool::lesser_limit(std::move(limit), file, text_of(file));
    }
    return limit;
}

// Takes the pool's size from the settings; 0 there means the default for this machine.
void choose_cap(DaemonOptions& daemon, const UserSettings& settings, const NodeFacts& around) {
    const std::int64_t wanted = settings.number(Setting::pool_cap);
    daemon.memory = around.memory;
    daemon.pool.cap_bytes = wanted == 0 ? pool::usual_cap(around.memory.bytes)
                                        : pool::bounded_cap(wanted, around.memory);
    if (wanted != 0 && wanted < pool::cap_least) {
        daemon.notes.push_back(
            fmt::format("pool_cap is {} bytes, and the pool takes {} MiB, the "
                        "least that it works with.",
                        wanted, pool::cap_least / mebibyte));
    }
    if (wanted > daemon.pool.cap_bytes) {
        daemon.notes.push_back(fmt::format(
            "pool_cap is {} MiB, and the pool takes {} MiB at most: {} allows {} MiB to the pool "
            "and the programs together. Give the job more memory, or let pool_cap be less.",
            wanted / mebibyte, daemon.pool.cap_bytes / mebibyte, around.memory.file,
            around.memory.bytes / mebibyte));
    }
}

std::string absolute(std::string_view path, const std::string& folder) {
    return path.starts_with('/') ? std::string{path} : folder + "/" + std::string{path};
}

tl::unexpected<Error> refuse(std::string_view what, std::string_view why) {
    return failure(
        Error{ErrorCode::argument, 0,
              fmt::format("cannot use {} ({}). forebayd takes --socket PATH, --rescue "
                          "FOLDER, --samples COUNT, --node NUMBER, --nodes COUNT and --host "
                          "NAME; "
                          "`forebay pool start` starts it.",
                          what, why)});
}

constexpr std::uint32_t nodes_max = 65536;

// nullopt: `text` is not a whole number, or it is above nodes_max.
std::optional<std::uint32_t> number_in(std::string_view text) {
    std::uint32_t number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool whole = read.ec == std::errc{} && read.ptr == text.data() + text.size();
    return whole && number <= nodes_max ? std::optional{number} : std::nullopt;
}

// False: there is no such option, or its value is not valid.
bool take_word(std::string_view word, std::string_view value, ServerOptions& options) {
    const auto number = number_in(value);
    if (word == "--host") {
        options.host = value;
    } else if (word == "--node" && number) {
        options.daemon.node = *number;
    } else if (word == "--nodes" && number && *number > 0) {
        options.daemon.nodes = *number;
    } else if (word == "--samples" && number && *number <= CountSamples::most) {
        options.daemon.samples_max = *number;
    } else {
        return false;
    }
    return true;
}

DaemonOptions daemon_options(const UserSettings& settings, const NodeFacts& around) {
    DaemonOptions daemon;
    choose_cap(daemon, settings, around);
    daemon.pool.processors = around.processors;
    daemon.pool.window_bytes = settings.number(Setting::pool_window);
    daemon.pool.age_max_ns = settings.number(Setting::pool_age) * second_ns;
    daemon.pool.quiet_ns = settings.number(Setting::pool_quiet) * 1'000'000;
    daemon.pool.request_bytes_max = settings.number(Setting::request_bytes_max);
    daemon.pool.requests_in_flight =
        static_cast<std::int32_t>(settings.number(Setting::pool_requests_in_flight));
    daemon.pool.files_at_once =
        static_cast<std::int32_t>(settings.number(Setting::pool_files_at_once));
    daemon.pool.read_ahead_bytes = settings.number(Setting::pool_read_ahead);
    daemon.readers = static_cast<std::uint32_t>(settings.number(Setting::pool_readers));
    daemon.writers = static_cast<std::uint32_t>(settings.number(Setting::pool_writers));
    daemon.hands_over_anywhere = settings.flag(Setting::pool_writers_anywhere);
    daemon.pool.consistency =
        static_cast<pool::CacheConsistency>(settings.number(Setting::pool_consistency));
    // The setting's choices have the order of the enum, here and for pool_consistency above.
    daemon.storage =
        pool::has_no_room_for_dirty_pages(around.memory)
            ? adapters::StoragePreference::written_out
            : static_cast<adapters::StoragePreference>(settings.number(Setting::storage));
    daemon.through = settings.text(Setting::pool_durability) == "global";
    daemon.pool.sync_to_journal = settings.text(Setting::pool_fsync) == "node";
    const std::int64_t told = settings.number(Setting::pool_job_end);
    const std::int64_t margin = settings.number(Setting::pool_deadline);
    if (margin > 0) {
        daemon.job_end_ns = (told == 0 ? around.job_end_s : told) * second_ns;
        daemon.job_margin_ns = margin * second_ns;
    }
    return daemon;
}

// The end of the job as Slurm gives it, in seconds since 1970; 0: none, or no plausible time.
std::int64_t job_end() {
    const char* const text = std::getenv("SLURM_JOB_END_TIME");
    const std::string_view digits{text == nullptr ? "" : text};
    std::int64_t end = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), end);
    const bool whole = read.ec == std::errc{} && read.ptr == digits.data() + digits.size();
    return whole && end > 0 && end <= job_end_max ? end : 0;
}

// Replaces %h in a directory's name by the node's host name, and %n by its number in the job.
std::string placed(std::string_view folder, std::string_view host, std::uint32_t node) {
    std::string whole;
    for (std::size_t at = 0; at < folder.size(); ++at) {
        const std::string_view mark = folder.substr(at, 2);
        if (mark == "%n") {
            whole += std::to_string(node);
        } else if (mark == "%h") {
            whole += host;
        } else {
            whole += folder[at];
            continue;
        }
        ++at;
    }
    return whole;
}

// The path with symbolic links resolved, as the kernel names open files.
std::string real_path(const std::string& path) {
    std::error_code unknown;
    const std::filesystem::path real = std::filesystem::weakly_canonical(path, unknown);
    return unknown ? path : real.string();
}

// If a journal is named, it is replayed in any case. New deposits are written to it only where
// writes are to wait for it (pool_durability = node).
Result<void> read_journal(ServerOptions& options, const UserSettings& settings,
                          const NodeFacts& around) {
    JournalOptions& journal = options.daemon.journal;
    const std::string folder =
        placed(settings.text(Setting::pool_journal), around.host, options.daemon.node);
    journal.keeps = settings.text(Setting::pool_durability) == "node";
    if (folder.empty() && journal.keeps) {
        return failure({ErrorCode::argument, 0,
                        "cannot keep a journal (pool_durability is node, and pool_journal names no "
                        "folder). Name one on a local disk."});
    }
    if (!folder.empty()) {
        journal.folder = absolute(folder, around.folder);
        const std::int64_t bytes = settings.number(Setting::pool_journal_size);
        journal.bytes = bytes == 0 ? 2 * options.daemon.pool.cap_bytes + journal_bytes_more : bytes;
        journal.rescue_folders = options.rescue_folders;
        for (const std::string& path : settings.list(Setting::pool_paths)) {
            journal.below.push_back(real_path(absolute(path, around.folder)));
        }
    }
    return {};
}

// The directories for rescue files: those of the command line, else those of the settings, else the
// working directory and the one for temporary files.
void choose_rescue_folders(ServerOptions& options, const UserSettings& settings,
                           const NodeFacts& around) {
    std::vector<std::string>& folders = options.rescue_folders;
    if (folders.empty()) {
        for (const std::string& folder : settings.list(Setting::pool_rescue)) {
            folders.push_back(absolute(folder, around.folder));
        }
    }
    if (folders.empty()) {
        folders = {around.folder, around.temporary_folder};
    }
}

// Reads the rules for files below certain directories, whose symbolic links are resolved, as in the
// names of open files.
Result<void> read_folders(ServerOptions& options, const UserSettings& settings,
                          const NodeFacts& around) {
    auto folders = pool::folder_rules(settings.list(Setting::pool_folders), around.folder);
    if (!folders) {
        return failure(std::move(folders.error()));
    }
    for (pool::FolderRule& one : *folders) {
        one.path = real_path(one.path);
    }
    options.daemon.folders = std::move(*folders);
    return {};
}

}  // namespace

NodeFacts probe_node() {
    NodeFacts around;
    around.memory = memory_limit();
    // The processors that this process may run on.
    around.processors = std::thread::hardware_concurrency();
    std::array<char, 4096> folder{};
    if (kernel::getcwd(folder.data(), folder.size()) > 0 && folder.front() == '/') {
        around.folder = folder.data();
    }
    around.host = host_name();
    const char* const temporary = std::getenv("TMPDIR");
    around.job_end_s = job_end();
    around.temporary_folder = temporary == nullptr || *temporary != '/' ? "/tmp" : temporary;
    return around;
}

Result<ServerOptions> options_of(std::span<char* const> words, const UserSettings& settings,
                                 const NodeFacts& around) {
    ServerOptions options;
    options.daemon = daemon_options(settings, around);
    for (std::size_t i = 0; i < words.size(); i += 2) {
        const std::string_view word{words[i]};
        const bool is_path = word == "--socket" || word == "--rescue";
        const bool is_plain =
            word == "--node" || word == "--nodes" || word == "--host" || word == "--samples";
        if (!is_path && !is_plain) {
            return refuse(word, "there is no such option");
        }
        if (i + 1 == words.size() || *words[i + 1] == '\0') {
            return refuse(word, "it has no value");
        }
        if (is_plain) {
            if (!take_word(word, words[i + 1], options)) {
                return refuse(word, "it is no number that makes sense");
            }
            continue;
        }
        const std::string path = absolute(words[i + 1], around.folder);
        if (word == "--socket") {
            options.socket = path;
        } else {
            options.rescue_folders.push_back(path);
        }
    }
    if (options.daemon.node >= options.daemon.nodes) {
        return refuse("--node", "the daemons of a job are numbered from 0 on");
    }
    if (options.socket.empty()) {
        return refuse("this command line", "it names no socket");
    }
    choose_rescue_folders(options, settings, around);
    if (auto folders = read_folders(options, settings, around); !folders) {
        return failure(std::move(folders.error()));
    }
    if (auto journal = read_journal(options, settings, around); !journal) {
        return failure(std::move(journal.error()));
    }
    return options;
}

}  // namespace forebay::daemon
