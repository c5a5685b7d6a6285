// When ranks move their own pieces without an exchange (two-phase I/O): which ranks may do so, when
// they may do so before the agreement at the start (decision 0013), and how many requests may be in
// flight.
#pragma once

#include "collective/plan/agreement.hpp"
#include "collective/plan/plan.hpp"
#include "collective/plan/summary.hpp"
#include "storage/policy/tuning.hpp"

#include <cstdint>

namespace forebay::plan {

// Whether a call in which this rank asks for `mine` may turn out to bypass, so that the rank needs
// the file open for it. A rank that has nothing to move does not need it.
[[nodiscard]] bool may_bypass(const Summary& mine, const FileStripes& layout,
                              const NodeTopology& topology, const Tuning& tuning,
                              IoDirection direction);

// Whether the program may write through the file handle, or opened it for reading only.
enum class HandleAccess { may_write, only_reads };

// Whether the ranks may move the bytes of the next call before they agree on it. `all` is the
// merged vote at the start of this call. It must show that this call needs no exchange for all that
// was asked for, including bytes that ranks moved before the vote. And the order must not matter:
// - A write: through a view with holes, the MPI may do an independent write of another rank as a
// read-modify-write of the range (data sieving), which must have ended before.
// - A read: unless the handle is read-only, the agreement makes readers wait for ranks that may
// have written just before.
[[nodiscard]] bool may_move_first(const AgreementVote& all, const FileStripes& layout,
                                  const NodeTopology& topology, const Tuning& tuning,
                                  IoDirection direction, HandleAccess handle);

// How many requests the bypassing ranks of a node may have in flight at each target. Reads of a
// file without stripes are not bounded: they come from the page cache, or from a device that queues
// requests itself.
[[nodiscard]] std::int32_t bypassing_in_flight(const FileStripes& layout, const Tuning& tuning,
                                               IoDirection direction) noexcept;

}  // namespace forebay::plan
