// Searches the ancestors of this process for a launcher.
#include "benchmarks/session/terminal.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <string>
#include <string_view>
#include <unistd.h>

namespace forebay::bench {

namespace {

// As the kernel reports them, cut to 15 characters.
constexpr std::array<std::string_view, 13> launchers{
    "mpiexec", "mpiexec.hydra",   "mpiexec.mpich", "mpiexec.openmpi",
    "mpirun",  "hydra_pmi_proxy", "mpirun.mpich",  "mpirun.openmpi",
    "orterun", "orted",           "prterun",       "prted",
    "srun"};
constexpr int generations_max = 12;

bool is_launcher(long process) {
    std::ifstream file(fmt::format("/proc/{}/comm", process));
    std::string name;
    std::getline(file, name);
    return std::find(launchers.begin(), launchers.end(), name) != launchers.end();
}

// The parent of a process; 0 if there is none, or it is unknown.
long parent_of(long process) {
    std::ifstream file(fmt::format("/proc/{}/status", process));
    for (std::string word; file >> word;) {
        if (word == "PPid:") {
            long parent = 0;
            file >> parent;
            return parent;
        }
    }
    return 0;
}

// The launcher that a user or batch script has started: the outermost one. There may be shells
// between it and this process.
long launcher() {
    long found = 0;
    long process = ::getppid();
    for (int i = 0; i < generations_max && process > 1; ++i) {
        if (is_launcher(process)) {
            found = process;
        } else if (found != 0) {
            break;
        }
        process = parent_of(process);
    }
    return found;
}

}  // namespace

bool speaks_to_terminal() {
    if (::isatty(STDERR_FILENO) == 1) {
        return true;
    }
    std::error_code error;
    const auto own = std::filesystem::read_symlink("/proc/self/fd/2", error).string();
    const long above = launcher();
    if (above == 0 || !(own.starts_with("pipe:") || own.starts_with("socket:"))) {
        return false;
    }
    const auto theirs =
        std::filesystem::read_symlink(fmt::format("/proc/{}/fd/2", above), error).string();
    return theirs.starts_with("/dev/pts/") || theirs.starts_with("/dev/tty");
}

}  // namespace forebay::bench
