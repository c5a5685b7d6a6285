// The hardware of this node that determines how many aggregators it should have.
#pragma once

#include <cstdint>
#include <string>

namespace forebay::adapters {

struct NodeHardware {
    std::int32_t cores = 1;               // physical cores of the whole node
    std::int32_t network_interfaces = 0;  // high-speed interfaces if there are any, else Ethernet
};

// Reads /sys. If it cannot be read: one core and no interface. Takes well under 1 ms on small
// nodes.
[[nodiscard]] NodeHardware inspect_machine(const std::string& sys = "/sys");

// One aggregator per high-speed interface, since one writer can hardly saturate it, or one for
// every eight cores; at most four, since more would wait for each other.
[[nodiscard]] std::int32_t aggregators_per_node(const NodeHardware& machine) noexcept;

}  // namespace forebay::adapters
