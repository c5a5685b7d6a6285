// Walks the list of a hash bucket that may change meanwhile: every number is checked before it is
// followed.
#include "pool/protocol/read_cache.hpp"

#include "foundation/base/atomics.hpp"

namespace forebay::pool {

namespace {

constexpr int steps_max = 64;  // a longer list has most likely changed meanwhile: a miss is allowed

}  // namespace

std::size_t clean_bucket(std::uint32_t file, std::int64_t block) noexcept {
    const std::uint64_t mixed =
        (static_cast<std::uint64_t>(block) + (std::uint64_t{file} << 40U)) * 0x9e3779b97f4a7c15ULL;
    return static_cast<std::size_t>(mixed >> 32U) % clean_buckets;
}

CleanFound find_clean(const Directory& directory, const CleanName& name) noexcept {
    const std::size_t bucket = clean_bucket(name.file, name.block);
    std::uint32_t number = directory.clean_heads[bucket].load(std::memory_order_acquire);
    for (int step = 0; step < steps_max && number != no_clean && number <= clean_max; ++step) {
        const CleanSlot& slot = directory.clean[number];
        const std::uint32_t word = slot.state.load(std::memory_order_acquire);
        if (slot.block.load(relaxed) == name.block && slot.file.load(relaxed) == name.file &&
            slot.generation.load(relaxed) == name.generation &&
            clean_state(word) != CleanState::free) {
            return {number, word};
        }
        number = slot.next.load(relaxed);
    }
    return {};
}

}  // namespace forebay::pool
