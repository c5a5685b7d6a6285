// One rank's part of a collective call in the form that the engine takes, decoded from the
// arguments of the program's call.
#pragma once

#include "collective/engine/file.hpp"
#include "collective/mpi/access.hpp"
#include "collective/mpi/datatype.hpp"
#include "collective/mpi/file_view.hpp"

#include <cstdint>
#include <mpi.h>

namespace forebay::interposer {

class RankRequest {
public:
    // The request of a rank that cannot take part. `view` outlives the request, with both
    // constructors.
    RankRequest(const FileView& view, engine::Refusal refusal) noexcept;
    // `first`: where the access starts, in etypes. The request refuses the call if the engine
    // cannot do what the arguments ask for. Contract: the view is not refused.
    RankRequest(const FileView& view, const AccessCall& access, MPI_Offset first,
                const LargeCountInquiry& inquiry);

    [[nodiscard]] engine::Refusal refusal() const noexcept { return call_.refusal; }
    [[nodiscard]] const pattern::View& view() const noexcept { return *call_.view; }
    [[nodiscard]] const pattern::ViewRange& range() const noexcept { return call_.request; }
    // Both results refer to the datatype in this object, which must outlive them.
    [[nodiscard]] engine::CollectiveCall call() const noexcept;
    [[nodiscard]] pattern::RankMemory memory() const noexcept;

private:
    engine::CollectiveCall call_;
    DecodedType memory_;
};

}  // namespace forebay::interposer
