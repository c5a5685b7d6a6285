// Cuts a staged window into requests to storage. A request consists of runs of covered bytes; it
// does not cross a stripe boundary, and has at most CutLimits' numbers of bytes and pieces.
//
// In namespace `transfer`, because it is a source of requests for transfer::Channel. It is in this
// folder, because it knows windows and coverage.
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
    // `coverage`: nullopt if every byte of the window is wanted (reads). The window and its image
    // must outlive the cutter.
    Cutter(const plan::Window& window, std::span<std::byte> image,
           std::optional<pattern::Coverage> coverage, const CutLimits& limits);

    // Sets `pieces` to the pieces of the next request (iovecs with file offsets), and returns the
    // target that they are on; nullopt: the whole window has been cut.
    std::optional<TargetId> next(std::vector<ports::Piece>& pieces) override;

private:
    // The rest of a run of wanted bytes: `at` in the file, and `image` in the window's image.
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
    std::size_t extent_ = 0;         // the extent that is being cut
    std::int64_t extent_image_ = 0;  // where it begins in the image
    std::int64_t position_ = 0;      // in the image: every byte below has been cut
    Run run_;                        // the rest of the present run
};

}  // namespace forebay::transfer
