// Cuts a staged window into the requests that storage gets: contiguous runs of covered bytes,
// never across a stripe's end, at most so many bytes and pieces each.
#pragma once

#include "collective/plan/plan.hpp"
#include "foundation/pattern/coverage.hpp"
#include "foundation/ports/storage.hpp"
#include "storage/policy/domain.hpp"
#include "storage/transfer/channel.hpp"
#include "storage/transfer/cut_limits.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace forebay::transfer {

class Cutter final : public RequestSource {
public:
    // Without coverage every byte of the window is wanted (reads). The window must outlive it.
    Cutter(const plan::Window& window, std::span<std::byte> image,
           std::optional<pattern::Coverage> coverage, const CutLimits& limits);

    std::optional<TargetId> next(std::vector<ports::Piece>& pieces) override;

private:
    struct Run {
        Offset at;
        std::int64_t image = 0;
        std::int64_t length = 0;
    };
    bool load_run();
    [[nodiscard]] std::int64_t covered_until(std::int64_t from, std::int64_t end);

    const plan::Window* window_;
    std::span<std::byte> image_;
    std::optional<pattern::Coverage> coverage_;
    CutLimits limits_;
    std::size_t extent_ = 0;         // the one being cut
    std::int64_t extent_image_ = 0;  // where it begins in the image
    std::int64_t position_ = 0;      // in the image: everything below is cut
    Run run_;                        // what is left of the present run
};

}  // namespace forebay::transfer
