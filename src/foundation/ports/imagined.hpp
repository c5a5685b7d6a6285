// A world in which the program's bytes are not there: a simulator of thousands of ranks cannot hold
// 137 GB, and need not. The engine then marks and counts what it would have copied, and says so
// here, so that virtual time can be charged for it. In a real world there is no such port.
#pragma once

#include <cstdint>

namespace forebay::ports {

// One go of copying by one rank.
struct ImaginedCopy {
    std::int64_t bytes = 0;
    std::int64_t pieces = 0;  // contiguous runs
};

class Imagined {
public:
    virtual ~Imagined() = default;
    // This rank's core and its node's memory have been busy with `what`.
    virtual void copied(const ImaginedCopy& what) = 0;
    // The message that this rank sends next is longer by so many bytes that are not there.
    virtual void absent(std::int64_t bytes) = 0;
};

}  // namespace forebay::ports
