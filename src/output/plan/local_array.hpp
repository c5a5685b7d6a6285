// A program's array in memory, halo and all, and the elements of it that go to the file: packed,
// they are neighbours in the order of the file, so that what one writer needs is one message.
#pragma once

#include "output/plan/patch.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace forebay::output {

class LocalArray {
public:
    LocalArray() = default;
    // A patch of `count` elements within a halo of halo[i] elements on both sides of dimension i.
    // Fails if a halo is negative, or the array is too large. Contract: equal numbers of
    // dimensions, count[i] >= 0.
    [[nodiscard]] static Result<LocalArray> with_halo(std::span<const std::int64_t> count,
                                                      std::span<const std::int64_t> halo);
    // A list of `elements` elements, of which those at order[0], order[1] … go to the file.
    [[nodiscard]] static LocalArray mapped(std::int64_t elements, std::vector<std::int64_t> order);

    // Elements of the program's array, halo included; 0 if nothing of it goes to the file.
    [[nodiscard]] std::int64_t elements() const noexcept { return elements_; }
    // Elements that go to the file.
    [[nodiscard]] std::int64_t packed_elements() const noexcept {
        return mapped_ ? static_cast<std::int64_t>(order_.size()) : inner_.elements();
    }
    // Contract for both: `array` has elements() elements of `element_bytes` bytes, `packed` has
    // packed_elements().
    void pack(const std::byte* array, std::size_t element_bytes, std::span<std::byte> packed) const;
    // Leaves the halo as it is.
    void unpack(std::span<const std::byte> packed, std::size_t element_bytes,
                std::byte* array) const;

private:
    std::int64_t elements_ = 0;
    bool mapped_ = false;
    RankPatch inner_;  // of the program's array
    std::vector<std::int64_t> order_;
};

}  // namespace forebay::output
