// hwloc behind two numbers. Without it, or where it fails: one core, no interface.
#include "adapters/posix/machine.hpp"

#include <algorithm>

#ifdef FOREBAY_HAVE_HWLOC
#include <hwloc.h>
#include <memory>
#endif

namespace forebay::adapters {

std::int32_t aggregators_per_node(const Machine& machine) noexcept {
    const std::int32_t wanted = std::max(machine.network_interfaces, machine.cores / 8);
    return std::clamp(wanted, 1, 4);
}

#ifdef FOREBAY_HAVE_HWLOC

namespace {

struct Destroy {
    void operator()(hwloc_topology* topology) const noexcept { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, Destroy>;

Topology load_topology() {
    hwloc_topology* raw = nullptr;
    if (hwloc_topology_init(&raw) != 0) {
        return nullptr;
    }
    Topology topology{raw};
    hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    return hwloc_topology_load(raw) == 0 ? std::move(topology) : nullptr;
}

std::int32_t count_interfaces(hwloc_topology* topology, hwloc_obj_osdev_type_t type) {
    std::int32_t count = 0;
    hwloc_obj_t device = nullptr;
    while ((device = hwloc_get_next_osdev(topology, device)) != nullptr) {
        count += device->attr->osdev.type == type ? 1 : 0;
    }
    return count;
}

}  // namespace

Machine inspect_machine() {
    Machine machine;
    const Topology topology = load_topology();
    if (!topology) {
        return machine;
    }
    const int cores = hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_CORE);
    machine.cores = std::max(cores, 1);
    const std::int32_t fabric = count_interfaces(topology.get(), HWLOC_OBJ_OSDEV_OPENFABRICS);
    machine.network_interfaces =
        fabric > 0 ? fabric : count_interfaces(topology.get(), HWLOC_OBJ_OSDEV_NETWORK);
    return machine;
}

#else

Machine inspect_machine() { return Machine{}; }

#endif

}  // namespace forebay::adapters
