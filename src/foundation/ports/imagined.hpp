// Port of the simulator only: file data does not exist there, because a machine with thousands of
// ranks has more of it (137 GB) than the simulator has memory. The engine marks and counts the
// bytes that it would have copied, and reports them here so that virtual time is charged for them.
// In a real run there is no such port.
#pragma once

#include <cstdint>

namespace forebay::ports {

// One copy operation of one rank.
struct ImaginedCopy {
    std::int64_t bytes = 0;
    std::int64_t pieces = 0;  // contiguous runs
};

class Imagined {
public:
    virtual ~Imagined() = default;
    // Charges this rank's core and its node's memory bandwidth for `what`.
    virtual void copied(const ImaginedCopy& what) = 0;
    // The next message of this rank counts as longer by `bytes` bytes of data that does not exist.
    virtual void absent(std::int64_t bytes) = 0;
};

}  // namespace forebay::ports
