// From /sys rather than by hwloc, which loads its OpenCL, GL and CUDA plugins (and X11) into the
// program and takes 20 ms; two numbers are not worth that in somebody else's process.
#include "adapters/posix/machine.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

namespace forebay::adapters {

namespace {

using Folder = std::filesystem::directory_iterator;

// Threads of one core name the same siblings.
std::int32_t count_cores(const std::string& sys) {
    std::error_code missing;
    std::set<std::string> siblings;
    for (const auto& cpu : Folder{sys + "/devices/system/cpu", missing}) {
        std::ifstream file{cpu.path() / "topology" / "thread_siblings_list"};
        std::string line;
        if (std::getline(file, line)) {
            siblings.insert(line);
        }
    }
    return static_cast<std::int32_t>(siblings.size());
}

std::int32_t count_entries(const std::string& folder) {
    std::error_code missing;
    const Folder all{folder, missing};
    return static_cast<std::int32_t>(std::distance(begin(all), end(all)));
}

// Loopback, bridges and the ends of virtual cables have no device behind them.
std::int32_t count_ethernet(const std::string& sys) {
    std::error_code missing;
    const Folder all{sys + "/class/net", missing};
    return static_cast<std::int32_t>(std::count_if(begin(all), end(all), [](const auto& one) {
        std::error_code unknown;
        return std::filesystem::exists(one.path() / "device", unknown);
    }));
}

}  // namespace

std::int32_t aggregators_per_node(const Machine& machine) noexcept {
    const std::int32_t wanted = std::max(machine.network_interfaces, machine.cores / 8);
    return std::clamp(wanted, 1, 4);
}

Machine inspect_machine(const std::string& sys) {
    Machine machine;
    machine.cores = std::max(count_cores(sys), 1);
    // InfiniBand and Omni-Path; Slingshot.
    const std::int32_t fabric =
        count_entries(sys + "/class/infiniband") + count_entries(sys + "/class/cxi");
    machine.network_interfaces = fabric > 0 ? fabric : count_ethernet(sys);
    return machine;
}

}  // namespace forebay::adapters
