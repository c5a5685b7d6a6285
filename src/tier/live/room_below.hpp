// The room of the parallel file system for what waits in fast storage. It is asked for by a thread
// of its own, so that a file system that hangs holds up no write to fast storage for long.
#pragma once

#include "foundation/base/own_fd.hpp"

#include <chrono>
#include <cstdint>
#include <memory>

namespace forebay::tier {

class RoomBelow {
public:
    // How old an answer may be that says that there is room: others use it, too.
    static constexpr auto valid = std::chrono::seconds{1};
    // An answer that says no is asked for again, and waited for so long.
    static constexpr auto patience = std::chrono::milliseconds{200};
    // So much has to be left, for writes that come before the next answer.
    static constexpr std::int64_t margin_bytes = std::int64_t{1} << 20;

    // `folder` is one of the file system.
    explicit RoomBelow(OwnFd folder);
    RoomBelow(const RoomBelow&) = delete;
    RoomBelow& operator=(const RoomBelow&) = delete;
    ~RoomBelow();

    // Whether there is room for so many bytes, those that wait included; true where the file system
    // does not tell.
    [[nodiscard]] bool holds(std::int64_t bytes);
    // So many bytes were moved there.
    void note_moved(std::int64_t bytes);

private:
    struct Shared;
    // Shared with the thread, which outlives this where the file system hangs.
    std::shared_ptr<Shared> shared_;
};

}  // namespace forebay::tier
