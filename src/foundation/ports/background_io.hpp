// Port to background tasks: blocking calls without an asynchronous form, such as fsync, which run
// while the caller's event loop goes on.
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
    // Starts `call`, on any thread. Everything that it refers to must live until its answer has
    // been taken or this object is destroyed.
    virtual void begin(std::uint64_t ticket, std::function<std::int64_t()> call) = 0;
    // As begin(), for tasks that no one waits for: it starts within a few milliseconds, provided
    // that ended() is called, so that several tasks share one wake-up of a thread.
    virtual void begin_later(std::uint64_t ticket, std::function<std::int64_t()> call) {
        begin(ticket, std::move(call));
    }
    // Starts the tasks of begin_later() now: someone waits for them after all.
    virtual void hurry() {}
    // The answers that came since the last call, each one once. Does not block.
    [[nodiscard]] virtual std::vector<Ended> ended() = 0;
};

}  // namespace forebay::ports
