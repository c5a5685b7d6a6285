// This node's hardware, as far as it decides how many aggregators the node should have.
#pragma once

#include <cstdint>
#include <string>

namespace forebay::adapters {

struct NodeHardware {
    std::int32_t cores = 1;               // physical, of the whole node
    std::int32_t network_interfaces = 0;  // high-speed ones where there are any, else Ethernet
};

// Reads /sys; what cannot be read counts as one core and no interface. Takes well under a
// millisecond on small nodes.
[[nodiscard]] NodeHardware inspect_machine(const std::string& sys = "/sys");

// One writer can hardly fill a fast interface, and more than four make each other wait: as many as
// there are interfaces, or one for eight cores, at most four.
[[nodiscard]] std::int32_t aggregators_per_node(const NodeHardware& machine) noexcept;

}  // namespace forebay::adapters
