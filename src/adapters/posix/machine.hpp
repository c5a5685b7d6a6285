// What this node is made of, as far as it decides how many aggregators it should have.
#pragma once

#include <cstdint>

namespace forebay::adapters {

struct Machine {
    std::int32_t cores = 1;               // physical, of the whole node
    std::int32_t network_interfaces = 0;  // high-speed ones where there are any, else Ethernet
};

// Asks hwloc; takes about ten milliseconds.
[[nodiscard]] Machine inspect_machine();

// One writer can hardly fill a fast interface, and more than four make each other wait: as many as
// there are interfaces, or one for eight cores, at most four.
[[nodiscard]] std::int32_t aggregators_per_node(const Machine& machine) noexcept;

}  // namespace forebay::adapters
