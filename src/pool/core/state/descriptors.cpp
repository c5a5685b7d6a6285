// Chooses the files that give up their descriptors.
#include "pool/core/state/descriptors.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace forebay::pool {

namespace {

// A file counts as idle after one second: a program that visits many files in turn may come to each
// of them again within this time.
constexpr std::int64_t alone_ns = 1'000'000'000;

bool is_idle(PoolState& pool_state, const PooledFile& file) {
    return pool_state.files.state_of(file) == FileState::pooled && file.open->control &&
           file.deposits.held_bytes == 0 && !file.flush.batch && !file.background_task &&
           file.requests.waiting.empty() && !file.prefetch.listed &&
           file.prefetch.asked_by_peer_ns == never_ns &&
           pool_state.now_ns() - file.deposits.written_ns > alone_ns &&
           pool_state.now_ns() - file.opens.opened_ns > alone_ns;
}

}  // namespace

std::size_t give_descriptors_back(PoolState& pool_state, std::size_t most) {
    std::vector<std::pair<std::int64_t, PooledFile*>> idle;
    for (PooledFile& file : pool_state.files.known()) {
        if (is_idle(pool_state, file)) {
            idle.emplace_back(std::max(file.deposits.written_ns, file.opens.opened_ns), &file);
        }
    }
    const std::size_t count = std::min(most, idle.size());
    std::ranges::partial_sort(idle, idle.begin() + static_cast<std::ptrdiff_t>(count));
    for (std::size_t i = 0; i < count; ++i) {
        pool_state.files.leave(*idle[i].second, ThroughReason::no_descriptor);
    }
    return count;
}

}  // namespace forebay::pool
