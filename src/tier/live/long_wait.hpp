// A thread that serves programs' calls waits, maybe for minutes: another one serves meanwhile.
#pragma once

#include <functional>

namespace forebay::tier {

// Announces once that this thread waits, and at the end that it does not any more.
class LongWait {
public:
    // `announce` (LiveOptions::waits_for_peer) outlives this.
    explicit LongWait(const std::function<void(int)>& announce) : announce_{announce} {}
    LongWait(const LongWait&) = delete;
    LongWait& operator=(const LongWait&) = delete;
    ~LongWait() {
        if (begun_) {
            announce_(-1);
        }
    }
    void begin() {
        if (!begun_ && announce_) {
            begun_ = true;
            announce_(1);
        }
    }

private:
    const std::function<void(int)>& announce_;
    bool begun_ = false;
};

}  // namespace forebay::tier
