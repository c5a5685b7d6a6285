// Decides what a tier does when a program opens a file of which another tier has bytes that the
// parallel file system lacks. Pure.
#pragma once

#include <cstdint>

namespace forebay::tier {

// The state of the tier that has the bytes, as its fast place shows it.
enum class PeerState {
    unseen,  // its place is not here: a node's own disk
    alive,   // it has the place, and can be asked by it
    dead,    // nobody has the place, and what it would have moved can be moved by anybody
};

struct PeerFile {
    // Whether the file's marker says that another tier has newer bytes, and in which generation:
    // when the program's open began, and now.
    bool is_marked = false;
    std::uint64_t generation_before = 0;
    std::uint64_t generation = 0;
    bool writes = false;   // the program's open
    bool empties = false;  // by O_TRUNC
    PeerState peer = PeerState::unseen;
    std::int64_t silent_ns = 0;  // for so long neither the marker nor the file has changed
    std::int64_t silent_ns_max = 0;
};

enum class PeerStep {
    proceed,    // the file has all bytes that were closed before the open began
    overwrite,  // it does not, but the program wants none of them
    wait,
    ask,        // and wait
    take_over,  // move what the dead tier has left
    refuse,     // with an error and a message
};

[[nodiscard]] PeerStep next_peer_step(const PeerFile& file) noexcept;

}  // namespace forebay::tier
