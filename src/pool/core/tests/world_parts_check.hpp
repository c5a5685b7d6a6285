// The parts of a node in simulated time, for tests: the FileControl of a file, background calls
// that take time, and a clock at which other actors may go on. The node itself: pool_check.hpp.
#pragma once

#include "foundation/ports/background_io.hpp"
#include "foundation/ports/clock.hpp"
#include "foundation/ports/file_control.hpp"
#include "foundation/ports/stamp.hpp"
#include "worlds/memory/world.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace forebay::pool {

// `count` bytes, all of this value.
inline std::vector<std::byte> bytes_of(std::size_t count, int value) {
    return std::vector<std::byte>(count, static_cast<std::byte>(value));
}

// Compares bytes; the message says where they differ, not all of the bytes.
inline testing::AssertionResult same(const std::vector<std::byte>& got,
                                     const std::vector<std::byte>& expected) {
    if (got.size() == expected.size() &&
        std::memcmp(got.data(), expected.data(), got.size()) == 0) {
        return testing::AssertionSuccess();
    }
    const auto [one, other] = std::ranges::mismatch(got, expected);
    const auto say = [](const auto& at, const auto& end) {
        return at == end ? std::string{"nothing"} : std::to_string(std::to_integer<int>(*at));
    };
    return testing::AssertionFailure()
           << "byte " << one - got.begin() << " is " << say(one, got.end()) << ", not "
           << say(other, expected.end()) << " (" << got.size() << " bytes of " << expected.size()
           << ")";
}

// A FileControl over plain data, which tests read and change.
class Control final : public ports::FileControl {
public:
    struct Facts {
        bool has_name = true;
        std::int64_t room = -1;
        std::int64_t modified_ns = 0;
        int truncate_error = 0;
        int sync_error = 0;
        std::size_t syncs = 0;  // not counting FileStorage::sync()
        std::function<void(Length)> truncate = [](Length) {};
        std::function<ports::ChangeStamp()> stamp = [] { return ports::ChangeStamp{}; };
        std::function<void()> touched = [] {};
        std::uint64_t inode = 0;  // 0: the memory file's own
    };
    explicit Control(Facts& facts) : facts_{facts} {}
    int truncate(Length bytes) override {
        if (facts_.truncate_error == 0) {
            facts_.truncate(bytes);
        }
        return facts_.truncate_error;
    }
    int sync() override {
        ++facts_.syncs;
        return facts_.sync_error;
    }
    int set_modified(std::int64_t time_ns) override {
        facts_.modified_ns = time_ns;
        facts_.touched();
        return 0;
    }
    bool has_name() override { return facts_.has_name; }
    std::optional<ports::ChangeStamp> stamp() override { return facts_.stamp(); }
    std::int64_t room() override { return facts_.room; }

private:
    Facts& facts_;
};

// Background calls that take simulated time, as those of threads take real time.
class SlowBackgroundIo final : public ports::BackgroundIo {
public:
    explicit SlowBackgroundIo(adapters::MemoryWorld& world) : world_{world} {}
    void begin(std::uint64_t ticket, std::function<std::int64_t()> call) override {
        world_.after(1'000 + world_.draw(range_ns), [this, ticket, call = std::move(call)] {
            const std::int64_t answer = call();
            world_.after(1'000 + world_.draw(range_ns),
                         [this, ticket, answer] { ended_.push_back({ticket, answer}); });
        });
    }
    [[nodiscard]] std::vector<Ended> ended() override { return std::exchange(ended_, {}); }

private:
    static constexpr std::int64_t range_ns = 300'000;
    adapters::MemoryWorld& world_;
    std::vector<Ended> ended_;
};

// A clock that lets other actors go on when it is read.
class CrowdedClock final : public ports::TimeSource {
public:
    explicit CrowdedClock(adapters::MemoryWorld& world) : world_{world} {}
    [[nodiscard]] std::int64_t now_ns() const noexcept override {
        world_.step({"look at the clock"});
        return world_.now_ns();
    }

private:
    adapters::MemoryWorld& world_;
};

}  // namespace forebay::pool
