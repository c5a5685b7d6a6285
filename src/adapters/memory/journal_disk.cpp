#include "adapters/memory/journal_disk.hpp"

#include "base/contracts.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace forebay::adapters {

JournalDisk::JournalDisk(Options options, Image image)
    : options_{std::move(options)}, image_{std::move(image)} {}

void JournalDisk::apply(Image& image, const Done& done, std::int64_t segment_bytes,
                        const std::function<bool(std::size_t)>& keeps) {
    if (done.kind == Done::Kind::removes) {
        image.erase(done.segment);
        return;
    }
    auto& segment =
        image.try_emplace(done.segment, static_cast<std::size_t>(segment_bytes)).first->second;
    for (std::size_t at = 0; at < done.bytes.size(); at += sector_bytes) {
        if (keeps(at / sector_bytes)) {
            const std::size_t count = std::min(sector_bytes, done.bytes.size() - at);
            std::copy_n(done.bytes.begin() + static_cast<std::ptrdiff_t>(at), count,
                        segment.begin() + done.at + static_cast<std::ptrdiff_t>(at));
        }
    }
}

std::vector<std::uint32_t> JournalDisk::segments() {
    std::vector<std::uint32_t> numbers;
    for (const auto& [number, bytes] : image_) {
        numbers.push_back(number);
    }
    return numbers;
}

Result<std::span<const std::byte>> JournalDisk::look(std::uint32_t segment) {
    const auto found = image_.find(segment);
    if (found == image_.end()) {
        return failure(system_error(ENOENT, "read a segment"));
    }
    return std::span<const std::byte>{found->second};
}

void JournalDisk::begin(Done done) {
    expects(!under_way_ && !answer_, "one thing is under way at a time");
    if (watcher_ && error_ == 0) {
        watcher_(done, false);
    }
    under_way_ = std::move(done);
    const std::uint64_t number = ++begun_;
    if (options_.later) {
        options_.later([this, number] {
            if (number == begun_ && under_way_) {
                end();
            }
        });
    } else {
        end();
    }
}

void JournalDisk::end() {
    const Done done = *std::exchange(under_way_, std::nullopt);
    answer_ = error_;
    if (done.kind == Done::Kind::adds && image_.size() >= options_.segments_max) {
        answer_ = ENOSPC;
    }
    if (*answer_ == 0) {
        apply(image_, done, options_.segment_bytes, [](std::size_t) { return true; });
        if (watcher_) {
            watcher_(done, true);
        }
    }
}

void JournalDisk::begin_adding(std::uint32_t segment) {
    begin({.kind = Done::Kind::adds, .segment = segment});
}

void JournalDisk::begin_writing(const Write& write) {
    expects(image_.contains(write.segment) && write.at >= 0 &&
                write.at + static_cast<std::int64_t>(write.bytes.size()) <= options_.segment_bytes,
            "it is within a segment that is there");
    begin({.kind = Done::Kind::writes,
           .segment = write.segment,
           .at = write.at,
           .bytes = {write.bytes.begin(), write.bytes.end()}});
}

std::optional<int> JournalDisk::ended() { return std::exchange(answer_, std::nullopt); }

int JournalDisk::wait() {
    if (under_way_) {
        end();
    }
    expects(answer_.has_value(), "something is under way");
    return *std::exchange(answer_, std::nullopt);
}

int JournalDisk::remove(std::uint32_t segment) {
    const Done done{.kind = Done::Kind::removes, .segment = segment};
    if (watcher_) {
        watcher_(done, false);
    }
    apply(image_, done, options_.segment_bytes, [](std::size_t) { return true; });
    if (watcher_) {
        watcher_(done, true);
    }
    return 0;
}

}  // namespace forebay::adapters
