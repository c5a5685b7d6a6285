// Sums up the slots of a node, and formats the live line.
#include "benchmarks/measure/progress.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace forebay::measure {

NodeProgress progress_of(std::span<const ProgressSlot> slots) noexcept {
    NodeProgress made;
    for (std::size_t i = 0; i < slots.size(); ++i) {
        const std::int64_t bytes = slots[i].bytes.load(std::memory_order_relaxed);
        made.bytes += bytes;
        made.fastest_bytes = std::max(made.fastest_bytes, bytes);
        if (i == 0 || bytes < made.slowest_bytes) {
            made.slowest_bytes = bytes;
            made.slowest = i;
        }
    }
    return made;
}

std::string live_line(const PhaseText& phase, const NodeProgress& node) {
    std::string line = phase.name;
    if (phase.bytes_of_node > 0) {
        line +=
            fmt::format(" {:.0f} %", std::min(100.0, 100.0 * static_cast<double>(node.bytes) /
                                                         static_cast<double>(phase.bytes_of_node)));
    }
    if (phase.seconds > 0.0) {
        const double rate = static_cast<double>(node.bytes) / phase.seconds;
        line += phase.counted == CountedUnit::bytes
                    ? fmt::format("  {:.1f} MiB/s", rate / 1048576.0)
                    : fmt::format("  {:.0f} ops/s", rate);
    }
    if (node.fastest_bytes > 0 && node.slowest_bytes < node.fastest_bytes) {
        line += fmt::format("  slowest rank {} at {:.0f} % of the fastest",
                            phase.first_rank + static_cast<std::int64_t>(node.slowest),
                            100.0 * static_cast<double>(node.slowest_bytes) /
                                static_cast<double>(node.fastest_bytes));
    }
    return line;
}

}  // namespace forebay::measure
