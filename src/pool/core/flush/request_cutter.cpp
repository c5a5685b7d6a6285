// Cuts requests greedily: a request takes pieces in order until it is full or its stripe ends. It
// may span holes between pieces, which are not written, but only within one stripe.
#include "pool/core/flush/request_cutter.hpp"

#include "foundation/base/contracts.hpp"
#include "storage/policy/domain.hpp"
#include "storage/transfer/cut_limits.hpp"

#include <algorithm>
#include <utility>

namespace forebay::pool {

RequestCutter::RequestCutter(std::vector<ports::Piece> pieces, const FileStripes& stripes,
                             std::int64_t request_bytes_max)
    : pieces_{std::move(pieces)}, stripes_{stripes}, request_bytes_max_{request_bytes_max} {
    expects(request_bytes_max > 0, "a request has bytes");
}

std::optional<TargetId> RequestCutter::next(std::vector<ports::Piece>& pieces) {
    pieces.clear();
    if (next_ == pieces_.size()) {
        return std::nullopt;
    }
    Offset end = pieces_[next_].at;
    const TargetId target = plan::target_at(stripes_, end);
    std::int64_t room = request_bytes_max_;
    std::int64_t stripe = plan::rest_of_stripe(stripes_, end);
    while (next_ < pieces_.size() && room > 0 && stripe > 0 &&
           pieces.size() < transfer::CutLimits::pieces_max) {
        ports::Piece& piece = pieces_[next_];
        const std::int64_t gap = (piece.at - end).bytes();
        invariant(gap >= 0, "pieces ascend");
        if (gap >= stripe) {
            break;
        }
        const auto size = static_cast<std::int64_t>(piece.bytes.size());
        const std::int64_t length = std::min({size, room, stripe - gap});
        const auto count = static_cast<std::size_t>(length);
        pieces.push_back({piece.at, piece.bytes.first(count)});
        room -= length;
        stripe -= gap + length;
        piece.at += Length{length};
        piece.bytes = piece.bytes.subspan(count);
        end = piece.at;
        next_ += piece.bytes.empty() ? 1 : 0;
    }
    ensures(!pieces.empty(), "a request has a piece");
    return target;
}

}  // namespace forebay::pool
