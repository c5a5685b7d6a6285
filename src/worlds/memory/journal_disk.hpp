// A JournalDevice in memory for crash tests: it may lose writes that are not durable, any subset of
// their sectors. It does its operations in sequence, so that a test can crash between any two.
#pragma once

#include "foundation/ports/journal_device.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace forebay::adapters {

class JournalDisk final : public ports::JournalDevice {
public:
    static constexpr std::size_t sector_bytes = 512;

    // The disk's content by segment number, including the head.
    using Image = std::map<std::uint32_t, std::vector<std::byte>>;

    struct Options {
        std::int64_t segment_bytes = std::int64_t{4} << 20;
        std::size_t segments_max = 1000;  // more segments fail with ENOSPC
        ports::JournalKey key{std::byte{7}};
        // Schedules the completion of an operation. Empty: operations complete at once.
        std::function<void(std::function<void()>)> later{};
    };
    struct Done {
        enum class Kind { adds, writes, removes } kind = Kind::writes;
        std::uint32_t segment = 0;
        std::int64_t at = 0;
        std::vector<std::byte> bytes{};
    };

    explicit JournalDisk(Options options, Image image = {});

    // From now on each write and each new segment fails with this errno; 0: they succeed again.
    void set_error(int error) noexcept { error_ = error; }
    void set_segments_max(std::size_t most) noexcept { options_.segments_max = most; }
    [[nodiscard]] const Image& image() const noexcept { return image_; }
    // Calls `watcher` for each operation, when it begins (`durable` false) and when it is durable.
    void watch(std::function<void(const Done&, bool durable)> watcher) {
        watcher_ = std::move(watcher);
    }
    // Applies an operation to an image: those sectors for which `keeps` returns true.
    static void apply(Image& image, const Done& done, std::int64_t segment_bytes,
                      const std::function<bool(std::size_t)>& keeps);

    [[nodiscard]] std::int64_t segment_bytes() const noexcept override {
        return options_.segment_bytes;
    }
    [[nodiscard]] const ports::JournalKey& key() const noexcept override { return options_.key; }
    [[nodiscard]] std::vector<std::uint32_t> segments() override;
    [[nodiscard]] Result<std::span<const std::byte>> look(std::uint32_t segment) override;
    [[nodiscard]] int settle() override;
    void begin_writing(const Write& write) override;
    [[nodiscard]] std::optional<int> ended() override { return ended(writes_); }
    [[nodiscard]] int wait() override { return wait(writes_); }
    void begin_adding(std::uint32_t segment) override;
    [[nodiscard]] std::optional<int> added() override { return ended(adds_); }
    [[nodiscard]] int wait_until_added() override { return wait(adds_); }
    [[nodiscard]] int remove(std::uint32_t segment) override;

private:
    // Operations that are done in sequence.
    struct Queue {
        std::deque<Done> waiting;  // the first of them is in progress
        std::uint64_t begun = 0;
        std::deque<int> answers;
    };
    void add(Queue& queue, Done done);
    void begin(Queue& queue);
    void end(Queue& queue);
    [[nodiscard]] std::int64_t bytes_of(std::uint32_t segment) const noexcept {
        return segment == head ? head_bytes : options_.segment_bytes;
    }
    [[nodiscard]] static std::optional<int> ended(Queue& queue);
    [[nodiscard]] int wait(Queue& queue);

    Options options_;
    Image image_;
    int error_ = 0;
    Queue writes_;
    Queue adds_;
    std::function<void(const Done&, bool)> watcher_;
};

}  // namespace forebay::adapters
