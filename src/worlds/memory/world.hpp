// A world of imagined time in one thread. Its actors (ranks, daemons, anything that has a name) are
// fibers; at every step one of them goes on, drawn from a seed. So the same seed gives the same
// run, to the byte and the nanosecond, and a failing seed fails again.
//
//   MemoryWorld world{{.seed = seed}};
//   WorldCluster cluster{world, {{2, 1}}};              // worlds/memory/world_cluster.hpp
//   MemoryFile file{faults};
//   cluster.spawn([&](ports::Communicator& communicator) {         // "rank 0", "rank 1", …
//       auto storage = open_memory(world, file, IoDirection::write);  // …/world_storage.hpp
//       …                                                           // the clock is `world`
//   });
//   world.spawn("daemon", [&] { … });
//   world.kill("daemon", 17);                 // it dies before it does its step 17
//   const WorldEnding ending = world.run();        // until all have ended, or nobody can go on
//   EXPECT_EQ(ending.kind, WorldEnding::Kind::ended) << ending.report;
//
// An actor's steps are its calls of ports (and of step() and sleep() below). Between two of them
// nobody else runs: data races are found by ThreadSanitizer on threads (communicator.hpp), not
// here. Time passes only by steps, and where nobody can go on before something is due.
#pragma once

#include "foundation/ports/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace forebay::adapters {

// Whether LeakSanitizer looks at what actors take. An actor that is killed, or waits for ever,
// gives nothing back; with a kill in sight it does not look by itself.
enum class LeakReports { reported, ignored };

struct MemoryWorldOptions {
    std::uint64_t seed = 1;
    std::int64_t steps_max = 4'000'000;         // more, and it is taken for stuck
    std::int64_t quiet_ns_max = 1'000'000'000;  // of nothing but waits that run out; more: stuck
    std::size_t stack_bytes = std::size_t{256} << 10;  // of an actor
    LeakReports leaks = LeakReports::reported;
};

// How a world ended.
struct WorldEnding {
    enum class Kind {
        ended,    // every actor has, or was killed
        stuck,    // somebody waits for ever
        stopped,  // by stop()
    };
    Kind kind = Kind::ended;
    std::int64_t steps = 0;
    std::int64_t now_ns = 0;
    std::uint64_t trace = 0;  // of every step; runs with the same one were the same
    std::string report;       // how it went, and a line an actor: who waits on what
};

class MemoryWorld final : public ports::TimeSource {
public:
    explicit MemoryWorld(const MemoryWorldOptions& options = {});
    MemoryWorld(const MemoryWorld&) = delete;
    MemoryWorld& operator=(const MemoryWorld&) = delete;
    ~MemoryWorld() override;

    // Before run(), or by an actor. A name may be used again when its actor has ended or died: a
    // daemon that is started again.
    void spawn(const std::string& name, std::function<void()> body);
    // The actor that is, or will first be, called so dies instead of doing its step number `step`,
    // counted from 0. Each request that it has under way is then done, or never will be, as the
    // seed says. Nothing happens where it ends before.
    void kill(const std::string& name, std::int64_t step);
    // The same, but it goes on so much later, as after SIGSTOP and SIGCONT.
    void suspend(const std::string& name, std::int64_t step, std::int64_t nanoseconds);
    [[nodiscard]] bool suspended(const std::string& name) const;
    // All die at this step of the world, as by a power failure.
    void stop(std::int64_t step);
    // Once; again after further spawns.
    WorldEnding run();

    [[nodiscard]] std::int64_t now_ns() const noexcept override { return now_; }
    [[nodiscard]] bool alive(const std::string& name) const;
    // Steps of the last actor of this name: a test may kill it at any of them.
    [[nodiscard]] std::int64_t steps(const std::string& name) const;
    // The world's dice: a number below `end`.
    [[nodiscard]] std::int64_t draw(std::int64_t end);

    // The calls that ports are built on. Each acts for the actor that calls; called from outside of
    // run(), as before it to prepare something, nobody else goes on meanwhile.

    // An actor's step or wait, as traces and reports name it; `number`: which one, and nothing that
    // differs from run to run, such as an address.
    struct Doing {
        const char* what = "";
        std::int64_t number = -1;  // -1: none
    };
    // The others may go on first. May not return: the actor was killed.
    void step(const Doing& doing);
    // Until somebody wakes `key`; maybe no longer than until something happens. To be called in a
    // loop that looks at what is waited for: nobody else goes on between that look and the wait.
    void wait(const void* key, const Doing& doing);
    // As wait, but so long at most.
    void wait_for(const void* key, std::int64_t nanoseconds, const Doing& doing);
    void wake(const void* key);
    void sleep(std::int64_t nanoseconds);
    // `event` happens so much later, unless the actor is dead by then. It takes no step.
    void after(std::int64_t nanoseconds, std::function<void()> event);
    [[nodiscard]] bool something_comes() const noexcept { return !events_.empty(); }

private:
    struct Actor;
    struct Event {
        std::function<void()> happen;
        Actor* owner = nullptr;
        bool runs_out = false;  // nothing but a wait that was long enough
    };
    // In the order of time, then of making.
    using Events = std::map<std::pair<std::int64_t, std::int64_t>, Event>;

    Events::key_type add(std::int64_t nanoseconds, Event event);
    void happen_due();
    [[nodiscard]] bool advance_to_next();
    [[nodiscard]] Actor* choose();
    void run_actor(Actor& actor);
    void block(const void* key, std::optional<std::int64_t> nanoseconds, const Doing& doing);
    void die(Actor& actor);
    void settle_requests(const Actor& actor);
    void note(const Doing& doing) noexcept;
    [[nodiscard]] bool quiet() const noexcept;
    [[nodiscard]] WorldEnding ending(WorldEnding::Kind kind, const std::string& why) const;
    [[nodiscard]] const Actor* find(const std::string& name) const;

    MemoryWorldOptions options_;
    std::uint64_t dice_;
    std::int64_t stays_percent_;  // chance that who took a step goes on
    std::int64_t now_ = 0;
    std::int64_t news_ = 0;  // when something last happened but waits that ran out
    std::int64_t steps_ = 0;
    std::int64_t made_ = 0;  // events
    std::uint64_t trace_ = 0;
    std::optional<std::int64_t> stop_;
    std::vector<std::pair<std::string, std::int64_t>> kills_;  // not met yet
    struct Suspension {
        std::string name;
        std::int64_t step = 0;
        std::int64_t nanoseconds = 0;
    };
    std::vector<Suspension> suspensions_;  // not met yet
    std::vector<std::unique_ptr<Actor>> actors_;
    Actor* current_ = nullptr;
    Events events_;
};

}  // namespace forebay::adapters
