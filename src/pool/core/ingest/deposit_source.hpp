// Cuts deposits into the requests that storage gets: never across a stripe's end, at most so many
// bytes and pieces each.
#pragma once

#include "foundation/base/stripes.hpp"
#include "storage/transfer/channel.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace forebay::pool {

class DepositSource final : public transfer::RequestSource {
public:
    // The pieces ascend and do not overlap.
    DepositSource(std::vector<ports::Piece> pieces, const FileStripes& stripes,
                  std::int64_t request_bytes_max);

    std::optional<TargetId> next(std::vector<ports::Piece>& pieces) override;

private:
    std::vector<ports::Piece> pieces_;
    FileStripes stripes_;
    std::int64_t request_bytes_max_;
    std::size_t next_ = 0;  // piece; what is left of it
};

}  // namespace forebay::pool
