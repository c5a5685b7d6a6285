// Containers on one machine share the kernel's boot ID but not their process numbers.
#include "storage/posix/host.hpp"

#include "foundation/kernel/calls.hpp"

#include <cstring>
#include <functional>
#include <sched.h>
#include <string>
#include <sys/stat.h>

namespace forebay::adapters {

std::optional<std::uint64_t> host_number() {
    const auto boot = kernel::contents("/proc/sys/kernel/random/boot_id");
    struct stat processes{};
    if (!boot || kernel::stat("/proc/self/ns/pid", &processes) != 0) {
        return std::nullopt;
    }
    return std::hash<std::string>{}(*boot + ":" + std::to_string(processes.st_ino));
}

CoreSet usable_cores() noexcept {
    cpu_set_t set;
    CoreSet cores{};
    static_assert(sizeof cores <= sizeof set);
    CPU_ZERO(&set);
    if (::sched_getaffinity(0, sizeof set, &set) == 0) {
        std::memcpy(cores.data(), &set, sizeof cores);
    }
    return cores;
}

}  // namespace forebay::adapters
