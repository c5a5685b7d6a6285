// st_mtime tells more than st_ctime, which rename() and link() change as well.
#include "pool/client/lost_deposits.hpp"

#include "foundation/base/atomics.hpp"

namespace forebay::pool {

namespace {

// A tick of the kernel's clock of file times: 10 ms at most. The directory has times of whole
// ticks, and the kernel sometimes finer ones.
constexpr std::int64_t tick_ns_max = 10'000'000;

}  // namespace

bool lacks_deposits(const Directory& directory, PoolReader* reader, FileId file) noexcept {
    const FileSlot& slot = directory.files[file.slot];
    const FileState now = slot.state.load(std::memory_order_acquire);
    if (slot.generation.load(relaxed) != file.generation || now == FileState::free ||
        now == FileState::through) {
        return false;
    }
    const bool all_taken = reader == nullptr || reader->deposited_size(file) >= 0;
    return !all_taken || slot.extents.load(relaxed) > 0 ||
           slot.taken.load(relaxed) > slot.drained.load(relaxed);
}

// A request of draining sets both times of the file to that of the request. If none was taken, the
// directory has no time to compare with.
bool is_untouched(const ChangeTimes& times, std::int64_t found_ns) noexcept {
    return times.modified_ns == 0 || found_ns <= times.modified_ns + tick_ns_max ||
           found_ns == times.stamped_ns || times.stamped_ns == ChangeTime::unsettled;
}

}  // namespace forebay::pool
