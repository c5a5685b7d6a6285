// Reads uname, statvfs, environment variables and files.
#include "benchmarks/ior/program/surroundings.hpp"

#include "benchmarks/measure/byte_units.hpp"
#include "foundation/base/own_fd.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace forebay::bench {

namespace {

constexpr std::string_view mpi_prefix = "IOR_HINT__MPI__";
constexpr std::string_view any_prefix = "IOR_HINT__";

void take_hint(std::string_view line, Hints& hints, std::vector<std::string>& ignored) {
    if (!line.starts_with(any_prefix)) {
        return;
    }
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos || !line.starts_with(mpi_prefix)) {
        ignored.push_back(
            fmt::format("{} is ignored (only IOR_HINT__MPI__name=value has an effect).",
                        line.substr(0, equals)));
        return;
    }
    hints.emplace_back(line.substr(mpi_prefix.size(), equals - mpi_prefix.size()),
                       line.substr(equals + 1));
}

std::int64_t number_of(const char* name) {
    // Safe: called before any thread is created, and the program never sets variables.
    const char* text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
    return text == nullptr ? 0 : measure::parse_size(text).value_or(0);
}

std::string parent_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

std::optional<struct statvfs> file_system_of(const std::string& file) {
    struct statvfs known{};
    std::string path = parent_of(file);
    while (::statvfs(path.c_str(), &known) != 0) {
        if (path == "." || path == "/") {
            return std::nullopt;
        }
        path = parent_of(path);  // -u: the directories are not created yet
    }
    return known;
}

}  // namespace

MachineText machine_text() {
    utsname names{};
    ::uname(&names);
    const std::string brief = fmt::format("{} {}", names.sysname, names.nodename);
    return {brief, fmt::format("{}({})", names.nodename, names.sysname),
            fmt::format("{} {} {} {}", brief, names.release, names.version, names.machine)};
}

Result<Hints> read_hints(const std::string& hints_file, std::vector<std::string>& ignored) {
    Hints hints;
    for (const std::string& line : environment_lines()) {
        take_hint(line, hints, ignored);
    }
    if (hints_file.empty()) {
        return hints;
    }
    const auto text = read_text(hints_file);
    if (!text) {
        return tl::unexpected<Error>(text.error());
    }
    for (std::size_t begin = 0; begin < text->size();) {
        const std::size_t end = std::min(text->find('\n', begin), text->size());
        std::string line = text->substr(begin, end - begin);
        line = line.substr(0, line.find('#'));
        const std::size_t first = line.find_first_not_of(" \t");
        const std::size_t last = line.find_last_not_of(" \t\r");
        if (first != std::string::npos) {
            take_hint(std::string_view(line).substr(first, last - first + 1), hints, ignored);
        }
        begin = end + 1;
    }
    return hints;
}

FakeNodes fake_nodes() {
    return {number_of("IOR_FAKE_NODES"), number_of("IOR_FAKE_TASK_PER_NODES")};
}

std::optional<std::int64_t> free_bytes_at(const std::string& file) {
    const auto known = file_system_of(file);
    return known ? std::optional(static_cast<std::int64_t>(known->f_bavail) *
                                 static_cast<std::int64_t>(known->f_frsize))
                 : std::nullopt;
}

void look_at_file_system(const std::string& file, ior::TestResult& test) {
    const auto found = file_system_of(file);
    if (!found) {
        return;
    }
    const struct statvfs& known = *found;
    const auto unit = static_cast<std::int64_t>(known.f_frsize);
    const auto blocks = static_cast<double>(known.f_blocks);
    test.capacity_bytes = static_cast<std::int64_t>(known.f_blocks) * unit;
    test.free_bytes = static_cast<std::int64_t>(known.f_bavail) * unit;
    test.used_share = blocks > 0 ? 1.0 - static_cast<double>(known.f_bfree) / blocks : 0.0;
    test.inodes = static_cast<std::int64_t>(known.f_files);
    test.used_inodes_share = known.f_files > 0 ? 1.0 - static_cast<double>(known.f_ffree) /
                                                           static_cast<double>(known.f_files)
                                               : 0.0;
}

std::int64_t memory_of_node() {
    return static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
}

Result<std::string> read_text(const std::string& path) {
    const OwnFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd.valid()) {
        return failure(system_error(errno, "read " + path));
    }
    std::string text;
    std::array<char, 4096> part{};
    for (;;) {
        const ssize_t got = ::read(fd.get(), part.data(), part.size());
        if (got < 0) {
            return failure(system_error(errno, "read " + path));
        }
        if (got == 0) {
            return text;
        }
        text.append(part.data(), static_cast<std::size_t>(got));
    }
}

std::optional<std::int64_t> file_bytes(const std::string& path) {
    struct stat known{};
    return ::stat(path.c_str(), &known) == 0 ? std::optional<std::int64_t>(known.st_size)
                                             : std::nullopt;
}

// By lseek, and not by fstat: where a program is linked for older libcs, fstat is a system call of
// its own (foundation/kernel/older_libc), which no preloaded library sees. A pool would know the
// length.
std::optional<std::int64_t> file_bytes_now(const std::string& path) {
    const OwnFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    const off_t end = fd.valid() ? ::lseek(fd.get(), 0, SEEK_END) : -1;
    return end >= 0 ? std::optional<std::int64_t>(end) : file_bytes(path);
}

std::vector<std::string> environment_lines() {
    std::vector<std::string> lines;
    for (char** line = environ; line != nullptr && *line != nullptr; ++line) {
        lines.emplace_back(*line);
    }
    return lines;
}

}  // namespace forebay::bench
