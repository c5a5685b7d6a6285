// A function with a stack of its own, which stops in the middle and goes on later, all in one
// thread. A MemoryWorld runs its actors on fibers.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace forebay::adapters {

class ActorFiber {
public:
    // `body` begins at the first resume(). It must not throw. Contract: there is memory for a stack
    // (an address range; pages are taken as they are touched).
    ActorFiber(std::size_t stack_bytes, std::function<void()> body);
    ActorFiber(const ActorFiber&) = delete;
    ActorFiber& operator=(const ActorFiber&) = delete;
    // A body that has not ended is dropped as a killed process is: no destructor of what lies on
    // its stack runs.
    ~ActorFiber();

    // From outside: runs the body until it suspends or ends. Contract: it has not ended.
    void resume();
    // From within: back to who resumed it.
    void suspend();
    [[nodiscard]] bool ended() const noexcept;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace forebay::adapters
