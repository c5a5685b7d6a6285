// A walk over the slots that are in use.
#include "pool/client/known_file.hpp"

#include "foundation/base/atomics.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace forebay::pool {

std::optional<FileId> known_file(const Directory& directory, dev_t device, ino_t inode) noexcept {
    for (std::size_t word = 0; word < directory.files_known.size(); ++word) {
        std::uint64_t bits = directory.files_known[word].load(relaxed);
        for (; bits != 0; bits &= bits - 1) {
            const auto number = static_cast<std::uint32_t>(
                word * 64 + static_cast<unsigned>(std::countr_zero(bits)));
            const FileSlot& slot = directory.files[number];
            const std::uint32_t generation = slot.generation.load(std::memory_order_acquire);
            if (slot.inode.load(relaxed) == inode && slot.device.load(relaxed) == device &&
                slot.state.load(relaxed) != FileState::free) {
                return FileId{.slot = number, .generation = generation};
            }
        }
    }
    return std::nullopt;
}

}  // namespace forebay::pool
