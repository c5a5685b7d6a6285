// The device's two queues of operations, and the effect of each operation on the image.
#include "worlds/memory/journal_disk.hpp"

#include "foundation/base/contracts.hpp"

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
    const std::int64_t bytes = done.segment == head ? head_bytes : segment_bytes;
    auto& segment = image.try_emplace(done.segment, static_cast<std::size_t>(bytes)).first->second;
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
        if (number != head) {
            numbers.push_back(number);
        }
    }
    return numbers;
}

Result<std::span<const std::byte>> JournalDisk::look(std::uint32_t segment) {
    const auto found = image_.find(segment);
    if (found == image_.end() && segment == head) {
        return std::span<const std::byte>{};
    }
    if (found == image_.end()) {
        return failure(system_error(ENOENT, "read a segment"));
    }
    // The segment must not move later, since the span points into it.
    found->second.reserve(static_cast<std::size_t>(bytes_of(segment)));
    return std::span<const std::byte>{found->second};
}

int JournalDisk::settle() {
    for (auto& [number, bytes] : image_) {
        bytes.resize(static_cast<std::size_t>(bytes_of(number)));
    }
    return error_;
}

void JournalDisk::add(Queue& queue, Done done) {
    queue.waiting.push_back(std::move(done));
    if (queue.waiting.size() == 1) {
        begin(queue);
    }
}

void JournalDisk::begin(Queue& queue) {
    if (watcher_ && error_ == 0) {
        watcher_(queue.waiting.front(), false);
    }
    const std::uint64_t number = ++queue.begun;
    if (options_.later) {
        options_.later([this, &queue, number] {
            if (number == queue.begun && !queue.waiting.empty()) {
                end(queue);
            }
        });
    } else {
        end(queue);
    }
}

void JournalDisk::end(Queue& queue) {
    const Done done = std::move(queue.waiting.front());
    queue.waiting.pop_front();
    int answer = error_;
    if (done.kind == Done::Kind::adds && done.segment != head &&
        segments().size() >= options_.segments_max) {
        answer = ENOSPC;
    }
    queue.answers.push_back(answer);
    if (answer == 0) {
        apply(image_, done, options_.segment_bytes, [](std::size_t) { return true; });
        if (watcher_) {
            watcher_(done, true);
        }
    } else {
        queue.answers.insert(queue.answers.end(), queue.waiting.size(), ECANCELED);
        queue.waiting.clear();
    }
    if (!queue.waiting.empty()) {
        begin(queue);
    }
}

void JournalDisk::begin_adding(std::uint32_t segment) {
    expects(adds_.waiting.empty() && adds_.answers.empty(), "one segment is made at a time");
    add(adds_, {.kind = Done::Kind::adds, .segment = segment});
}

void JournalDisk::begin_writing(const Write& write) {
    expects(image_.contains(write.segment) && write.at >= 0 &&
                write.at + static_cast<std::int64_t>(write.bytes.size()) <= bytes_of(write.segment),
            "it is within a segment that is there");
    expects(writes_.waiting.size() + writes_.answers.size() < writes_max, "so many may wait");
    add(writes_, {.kind = Done::Kind::writes,
                  .segment = write.segment,
                  .at = write.at,
                  .bytes = {write.bytes.begin(), write.bytes.end()}});
}

std::optional<int> JournalDisk::ended(Queue& queue) {
    if (queue.answers.empty()) {
        return std::nullopt;
    }
    const int answer = queue.answers.front();
    queue.answers.pop_front();
    return answer;
}

int JournalDisk::wait(Queue& queue) {
    if (queue.answers.empty() && !queue.waiting.empty()) {
        end(queue);
    }
    expects(!queue.answers.empty(), "something is under way");
    return *ended(queue);
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
