// Waiting and copying in virtual time.
#include "worlds/simulate/node_daemon.hpp"

namespace forebay::sim {

// With a time-out, as in a real process.
void NodeDaemon::wait(const pool::Word& word, std::uint32_t seen) noexcept {
    constexpr double wait_seconds = 10e-3;
    const std::int64_t before = now_ns();
    ports_.life.wait_for(word, seen, wait_seconds);
    waited_ += static_cast<double>(now_ns() - before) * 1e-9;
}

void NodeDaemon::copy(std::byte* /*to*/, std::span<const std::byte> bytes) noexcept {
    ports_.imagined->copied({static_cast<std::int64_t>(bytes.size()), 1});
}

}  // namespace forebay::sim
