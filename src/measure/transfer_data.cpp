// See transfer_data.hpp.
#include "measure/transfer_data.hpp"

#include "base/contracts.hpp"
#include "measure/mixing.hpp"

#include <algorithm>
#include <cstring>

namespace forebay::measure {

namespace {

constexpr std::size_t cache_line = 64;

}  // namespace

TransferData::TransferData(StreamKey key, Shape shape)
    : stream_(key),
      shape_(shape),
      windows_(shape.precision == Precision::quick && shape.transfer_bytes > exact_bytes_max),
      memory_(shape.transfer_bytes + (windows_ ? slack_bytes : 0)) {
    if (windows_) {
        // Noise that does not depend on the repetition: one pool serves all of them.
        DataStream({key.seed, key.file, ~std::uint64_t{0}}).fill(Offset{0}, memory_.bytes());
    }
    set_repetition(key.repetition);
}

void TransferData::set_repetition(std::uint64_t repetition) noexcept {
    stream_.set_repetition(repetition);
    base_ = mixed(mixed(stream_.key().seed, stream_.key().file), repetition);
}

void TransferData::put_back() noexcept {
    if (!stamped_) {
        return;
    }
    const std::size_t stride = shape_.transfer_bytes / stamps / sizeof(Stamp) * sizeof(Stamp);
    for (std::size_t i = 0; i < stamps; ++i) {
        std::memcpy(memory_.data() + begin_ + i * stride, &under_[i], sizeof(Stamp));
    }
    stamped_ = false;
}

std::span<const std::byte> TransferData::window_at(Offset at) noexcept {
    put_back();
    const auto position = static_cast<std::uint64_t>(at.bytes());
    const std::uint64_t key = mixed(base_, position);
    const std::size_t step =
        shape_.placement == Placement::page ? AlignedBytes::alignment : cache_line;
    begin_ = static_cast<std::size_t>(below(key, slack_bytes / step)) * step;
    std::byte* const window = memory_.data() + begin_;
    const std::size_t stride = shape_.transfer_bytes / stamps / sizeof(Stamp) * sizeof(Stamp);
    for (std::size_t i = 0; i < stamps; ++i) {
        const Stamp stamp{mixed(key + i), position ^ base_};
        std::memcpy(&under_[i], window + i * stride, sizeof stamp);
        std::memcpy(window + i * stride, &stamp, sizeof stamp);
    }
    stamped_ = true;
    return {window, shape_.transfer_bytes};
}

std::span<const std::byte> TransferData::at(Offset at) noexcept {
    if (windows_) {
        return window_at(at);
    }
    stream_.fill(at, memory_.bytes());
    return memory_.bytes();
}

std::optional<Mismatch> TransferData::check(Offset at, std::span<const std::byte> got) noexcept {
    expects(got.size() <= shape_.transfer_bytes, "no more is checked than a transfer");
    if (!windows_) {
        return stream_.check(at, got);
    }
    return first_mismatch(at, window_at(at).first(got.size()), got);
}

std::optional<std::uint64_t> TransferData::repetition_of(Offset at, std::span<const std::byte> got,
                                                         std::uint64_t count) noexcept {
    const std::uint64_t before = stream_.key().repetition;
    const std::span<const std::byte> head = got.first(std::min(got.size(), sizeof(Stamp)));
    std::optional<std::uint64_t> found;
    for (std::uint64_t repetition = 0; repetition < count && !found; ++repetition) {
        set_repetition(repetition);
        if (!check(at, head)) {
            found = repetition;
        }
    }
    set_repetition(before);
    return found;
}

}  // namespace forebay::measure
