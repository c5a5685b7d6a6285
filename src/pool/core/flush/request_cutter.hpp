// Cuts deposits (or ranges to be read ahead) into requests for storage: none crosses a stripe
// boundary, and each has a bounded number of bytes and of pieces (iovec entries).
#pragma once

#include "foundation/base/stripes.hpp"
#include "storage/transfer/channel.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace forebay::pool {

class RequestCutter final : public transfer::RequestSource {
public:
    // `pieces` ascend by offset and do not overlap. `request_bytes_max` bounds a request's bytes.
    RequestCutter(std::vector<ports::Piece> pieces, const FileStripes& stripes,
                  std::int64_t request_bytes_max);

    // Fills `pieces` with the next request and returns its target (OST); nullopt: there is none
    // left.
    std::optional<TargetId> next(std::vector<ports::Piece>& pieces) override;

private:
    std::vector<ports::Piece> pieces_;
    FileStripes stripes_;
    std::int64_t request_bytes_max_;
    // Index of the piece that comes next; its beginning has been cut off if a part was used.
    std::size_t next_ = 0;
};

}  // namespace forebay::pool
