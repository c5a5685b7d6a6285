// A fiber (coroutine with its own stack): a function that suspends itself and is resumed later, on
// one thread. A MemoryWorld runs its actors on fibers.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace forebay::adapters {

class ActorFiber {
public:
    // The first resume() starts `body`, which must not throw. Contract: the stack's address range
    // can be mapped; pages are allocated when touched.
    ActorFiber(std::size_t stack_bytes, std::function<void()> body);
    ActorFiber(const ActorFiber&) = delete;
    ActorFiber& operator=(const ActorFiber&) = delete;
    // Drops a body that has not ended, like a killed process: no destructor on its stack runs.
    ~ActorFiber();

    // Called from outside: runs the body until it suspends or ends. Contract: it has not ended.
    void resume();
    // Called by the body: returns control to the caller of resume().
    void suspend();
    [[nodiscard]] bool ended() const noexcept;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace forebay::adapters
