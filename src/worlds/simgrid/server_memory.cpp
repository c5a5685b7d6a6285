// A map of blocks, and a queue with the order of their insertion.
#include "worlds/simgrid/server_memory.hpp"

namespace forebay::adapters {

std::optional<double> ServerReadCache::there(std::int64_t object, std::int64_t block) const {
    const auto found = until_.find({object, block});
    return found == until_.end() ? std::nullopt : std::optional{found->second};
}

void ServerReadCache::keep(std::int64_t object, std::int64_t block, double until) {
    if (blocks_max_ == 0) {
        return;
    }
    if (until_.insert_or_assign({object, block}, until).second) {
        order_.push_back({object, block});
    }
    if (std::ssize(order_) > blocks_max_) {
        until_.erase(order_.front());
        order_.pop_front();
    }
}

}  // namespace forebay::adapters
