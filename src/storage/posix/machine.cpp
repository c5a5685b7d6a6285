// Reads /sys instead of using hwloc, which loads its OpenCL, GL and CUDA plugins (and X11) into the
// program and takes 20 ms: too much in the user's process for two numbers.
#include "storage/posix/machine.hpp"

#include "foundation/kernel/calls.hpp"

#include <algorithm>
#include <charconv>
#include <dirent.h>
#include <memory>
#include <string_view>
#include <unistd.h>

namespace forebay::adapters {

namespace {

// The number of elements in a list such as "0-3,8"; 0 if the file cannot be read.
std::int32_t count_listed(const std::string& path) {
    const std::string text = kernel::contents(path).value_or(std::string());
    const char* at = text.data();
    const char* const end = at + text.size();
    std::int32_t count = 0;
    while (at < end) {
        std::int32_t first = 0;
        auto [after, bad] = std::from_chars(at, end, first);
        if (bad != std::errc{}) {
            break;
        }
        std::int32_t last = first;
        if (after < end && *after == '-') {
            after = std::from_chars(after + 1, end, last).ptr;
        }
        count += last - first + 1;
        at = after + 1;  // the comma
    }
    return count;
}

// Takes the number of hardware threads from one core only: reading all takes 1 ms on large nodes.
std::int32_t count_cores(const std::string& sys) {
    const std::string folder = sys + "/devices/system/cpu/";
    const std::int32_t threads = count_listed(folder + "cpu0/topology/thread_siblings_list");
    return count_listed(folder + "online") / std::max(threads, 1);
}

struct DirCloser {
    void operator()(DIR* folder) const noexcept { ::closedir(folder); }
};

// The number of directory entries that `counts` accepts; 0 if there is no such directory.
template <class Counts>
std::int32_t count_entries(const std::string& path, Counts counts) {
    const std::unique_ptr<DIR, DirCloser> folder{::opendir(path.c_str())};
    std::int32_t count = 0;
    while (const dirent* entry = folder ? ::readdir(folder.get()) : nullptr) {
        const std::string_view name{std::data(entry->d_name)};
        count += !name.starts_with('.') && counts(name) ? 1 : 0;
    }
    return count;
}

std::int32_t count_entries(const std::string& path) {
    return count_entries(path, [](std::string_view) { return true; });
}

// Counts physical interfaces: loopback, bridges and virtual ones have no device.
std::int32_t count_ethernet(const std::string& sys) {
    const std::string folder = sys + "/class/net/";
    return count_entries(folder, [&](std::string_view name) {
        return kernel::access((folder + std::string(name) + "/device").c_str(), F_OK) == 0;
    });
}

}  // namespace

std::int32_t aggregators_per_node(const NodeHardware& machine) noexcept {
    const std::int32_t wanted = std::max(machine.network_interfaces, machine.cores / 8);
    return std::clamp(wanted, 1, 4);
}

NodeHardware inspect_machine(const std::string& sys) {
    NodeHardware machine;
    machine.cores = std::max(count_cores(sys), 1);
    // InfiniBand and Omni-Path are in one class, Slingshot in the other.
    const std::int32_t fabric =
        count_entries(sys + "/class/infiniband") + count_entries(sys + "/class/cxi");
    machine.network_interfaces = fabric > 0 ? fabric : count_ethernet(sys);
    return machine;
}

}  // namespace forebay::adapters
