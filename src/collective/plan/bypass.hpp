// When ranks move their own pieces without an exchange: who may, when that may be done before
// anybody is asked (decision 0013), and how many requests may be in flight.
#pragma once

#include "collective/plan/agreement.hpp"
#include "collective/plan/plan.hpp"
#include "collective/plan/summary.hpp"
#include "storage/policy/tuning.hpp"

#include <cstdint>

namespace forebay::plan {

// Whether a rank that asks for `mine` may come to bypass, and needs the file open for it. A rank
// with nothing to move does not.
[[nodiscard]] bool may_bypass(const Summary& mine, const FileStripes& layout,
                              const NodeTopology& topology, const Tuning& tuning,
                              IoDirection direction);

// Whether anybody but this handle's readers may write the file.
enum class HandleAccess { may_write, only_reads };

// Whether the next call may be done before it is agreed on: this one, which all ranks said `all` of
// at its start, needs no exchange, of all that was asked for. Through a view with holes the MPI may
// do an independent write of another rank by reading and writing back what lies between its pieces;
// that must have ended before. Readers wait for who may have written just before by themselves.
[[nodiscard]] bool may_move_first(const AgreementVote& all, const FileStripes& layout,
                                  const NodeTopology& topology, const Tuning& tuning,
                                  IoDirection direction, HandleAccess handle);

// Requests of a node's ranks in flight at each target when they bypass. Reads where nothing is
// striped come from memory or from a device that queues them itself.
[[nodiscard]] std::int32_t bypassing_in_flight(const FileStripes& layout, const Tuning& tuning,
                                               IoDirection direction) noexcept;

}  // namespace forebay::plan
