// Misuse of offsets, lengths and numbers of things that must not compile; see
// tools/checks/wrong.py.
#include "foundation/base/units.hpp"

#include <string>

namespace forebay {

// RIGHT: a length on top of an offset
Offset right_sum() { return Offset{1} + Length{2}; }

// WRONG: the sum of two offsets
auto wrong_sum() { return Offset{1} + Offset{2}; }

// RIGHT: between two offsets lies a length
Length right_difference() { return Offset{3} - Offset{2}; }

// WRONG: between two offsets lies no offset
Offset wrong_difference() { return Offset{3} - Offset{2}; }

// RIGHT: twice a length
Length right_product() { return Length{3} * 2; }

// WRONG: twice an offset
auto wrong_product() { return Offset{3} * 2; }

// WRONG: a length times a length
auto wrong_square() { return Length{3} * Length{3}; }

// WRONG: an offset is no length
auto wrong_order() { return Offset{1} < Length{2}; }

// WRONG: a bare number as an offset
Offset wrong_offset() { return 5; }

// WRONG: a bare number as a length
Length wrong_length() { return 5; }

// RIGHT: an extent
Extent right_extent() { return {Offset{1}, Length{2}}; }

// WRONG: an extent the wrong way round
Extent wrong_extent() { return {Length{2}, Offset{1}}; }

// RIGHT: a rank
Rank right_rank() { return Rank{1}; }

// WRONG: a local rank is no rank of the communicator
Rank wrong_rank() { return LocalRank{1}; }

// WRONG: a target is no node
NodeId wrong_node() { return TargetId{1}; }

// WRONG: ranks and nodes are not compared
auto wrong_comparison() { return Rank{1} == NodeId{1}; }

// WRONG: a bare number as a rank
AggregatorId wrong_aggregator() { return 1; }

}  // namespace forebay
