// Counts and offsets are the program's, so all arithmetic on them is checked for overflow.
#include "collective/mpi/rank_request.hpp"

#include "collective/mpi/process.hpp"
#include "foundation/base/contracts.hpp"

#include <cstddef>
#include <utility>

namespace forebay::interposer {

RankRequest::RankRequest(const FileView& view, engine::Refusal refusal) noexcept {
    call_.view = &view.bytes;
    call_.refusal = refusal;
}

RankRequest::RankRequest(const FileView& view, const AccessCall& access, MPI_Offset first,
                         const LargeCountInquiry& inquiry)
    : RankRequest{view, view.refusal} {
    expects(refusal() == engine::Refusal::none, "a view that is refused places no bytes");
    auto memory = decode(access.datatype, inquiry);
    const bool fits = memory &&
                      !__builtin_mul_overflow(access.count, memory->size, &call_.request.length) &&
                      call_.request.length % view.etype_bytes == 0 &&
                      !__builtin_mul_overflow(first, view.etype_bytes, &call_.request.position);
    if (!fits || !view.reaches(call_.request.position, call_.request.length)) {
        call_.refusal =
            fits ? engine::Refusal::view_unsupported : engine::Refusal::memory_unsupported;
        call_.request = {};
        return;
    }
    if (call_.request.length > 0 && is_gpu_memory(access.buffer)) {
        call_.refusal = engine::Refusal::gpu_memory;
    }
    memory_ = std::move(*memory);
    call_.memory.base = static_cast<std::byte*>(access.buffer);
    call_.memory.extent = memory_.extent;
}

engine::CollectiveCall RankRequest::call() const noexcept {
    engine::CollectiveCall call = call_;
    call.memory = memory();
    return call;
}

pattern::RankMemory RankRequest::memory() const noexcept {
    pattern::RankMemory memory = call_.memory;
    memory.nest = &memory_.nest;
    return memory;
}

}  // namespace forebay::interposer
