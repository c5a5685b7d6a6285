// Calls that may take long and have no other way of being waited for, such as making a file
// durable: done beside the caller's own work.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace forebay::ports {

class BackgroundIo {
public:
    struct Ended {
        std::uint64_t ticket = 0;
        std::int64_t answer = 0;
    };
    virtual ~BackgroundIo() = default;
    // Begins `call`, on whatever thread; what it needs lives until its answer came, or until these
    // background I/O are gone.
    virtual void begin(std::uint64_t ticket, std::function<std::int64_t()> call) = 0;
    // The same for what nobody waits for: it begins within a few milliseconds, if answers are
    // taken.
    virtual void begin_later(std::uint64_t ticket, std::function<std::int64_t()> call) {
        begin(ticket, std::move(call));
    }
    // Somebody waits for that after all.
    virtual void hurry() {}
    // Answers since the last time, each once. Does not block.
    [[nodiscard]] virtual std::vector<Ended> ended() = 0;
};

}  // namespace forebay::ports
