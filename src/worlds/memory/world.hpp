// A discrete-event world for tests, in one thread. Its actors (ranks, daemons, anything with a
// name) are fibers; at every step a seed draws which one goes on. One seed gives one run, to the
// byte and the nanosecond, so a failing seed fails again.
//
//   MemoryWorld world{{.seed = seed}};
//   WorldCluster cluster{world, {{2, 1}}};              // worlds/memory/world_cluster.hpp
//   MemoryFile file{faults};
//   cluster.spawn([&](ports::Communicator& communicator) {         // "rank 0", "rank 1", …
//       auto storage = open_memory(world, file, IoDirection::write);  // …/world_storage.hpp
//       …                                                           // the clock is `world`
//   });
//   world.spawn("daemon", [&] { … });
//   world.kill("daemon", 17);                 // it dies before its step 17
//   const WorldEnding ending = world.run();        // until all have ended, or all are blocked
//   EXPECT_EQ(ending.kind, WorldEnding::Kind::ended) << ending.report;
//
// An actor's steps are its calls of ports (and of step() and sleep() below). Between two steps no
// other actor runs, so data races cannot be found here, but by ThreadSanitizer on threads
// (communicator.hpp). Time passes only by steps, and, when all actors are blocked, up to the next
// event.
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

// Whether LeakSanitizer checks the actors' allocations. An actor that is killed, or blocks for
// ever, frees nothing; kill() and stop() therefore switch the check off.
enum class LeakReports { reported, ignored };

struct MemoryWorldOptions {
    std::uint64_t seed = 1;
    std::int64_t steps_max = 4'000'000;  // after more steps the world counts as stuck
    // As it does after this time with nothing but time-outs.
    std::int64_t quiet_ns_max = 1'000'000'000;
    std::size_t stack_bytes = std::size_t{256} << 10;  // of each actor
    LeakReports leaks = LeakReports::reported;
};

// How a world ended.
struct WorldEnding {
    enum class Kind {
        ended,    // every actor has ended or was killed
        stuck,    // an actor is blocked for ever
        stopped,  // by stop()
    };
    Kind kind = Kind::ended;
    std::int64_t steps = 0;
    std::int64_t now_ns = 0;
    std::uint64_t trace = 0;  // hash of all steps: equal for equal runs
    std::string report;       // the ending, and a line for each actor with what it waits for
};

class MemoryWorld final : public ports::TimeSource {
public:
    explicit MemoryWorld(const MemoryWorldOptions& options = {});
    MemoryWorld(const MemoryWorld&) = delete;
    MemoryWorld& operator=(const MemoryWorld&) = delete;
    ~MemoryWorld() override;

    // Adds an actor, before run() or from an actor. A name may be used again after its actor has
    // ended or died, as for a restarted daemon.
    void spawn(const std::string& name, std::function<void()> body);
    // Kills the actor of this name, or the next one that gets it, in place of its step number
    // `step`, counted from 0. For each of its requests in flight, the seed decides whether it is
    // done. If the actor ends before that step, nothing happens.
    void kill(const std::string& name, std::int64_t step);
    // As kill(), but the actor goes on after `nanoseconds`, as after SIGSTOP and SIGCONT.
    void suspend(const std::string& name, std::int64_t step, std::int64_t nanoseconds);
    [[nodiscard]] bool suspended(const std::string& name) const;
    // Kills all actors at this step of the world, as a power failure does.
    void stop(std::int64_t step);
    // Runs until the world ends; may be called again after further spawns.
    WorldEnding run();

    [[nodiscard]] std::int64_t now_ns() const noexcept override { return now_; }
    [[nodiscard]] bool alive(const std::string& name) const;
    // The number of steps of the last actor of this name: a test may kill it at each of them.
    [[nodiscard]] std::int64_t steps(const std::string& name) const;
    // A random number below `end`, from the seed.
    [[nodiscard]] std::int64_t draw(std::int64_t end);

    // The primitives on which ports are built. Each acts for the calling actor. A call from outside
    // of run(), to prepare or check something, lets no actor run.

    // The name of a step or wait in traces and reports. `number` distinguishes its object; it must
    // not differ from run to run, as an address would.
    struct Doing {
        const char* what = "";
        std::int64_t number = -1;  // -1: none
    };
    // Lets other actors run first. Does not return if the actor is killed.
    void step(const Doing& doing);
    // Blocks until `key` is woken; outside of run() only until the next event. To be called in a
    // loop that checks the condition; no other actor runs between the check and the wait.
    void wait(const void* key, const Doing& doing);
    // As wait(), with a time-out.
    void wait_for(const void* key, std::int64_t nanoseconds, const Doing& doing);
    void wake(const void* key);
    void sleep(std::int64_t nanoseconds);
    // Schedules `event` after `nanoseconds`; it is dropped if the actor is dead by then. Takes no
    // step.
    void after(std::int64_t nanoseconds, std::function<void()> event);
    [[nodiscard]] bool something_comes() const noexcept { return !events_.empty(); }

private:
    struct Actor;
    struct Event {
        std::function<void()> happen;
        Actor* owner = nullptr;
        bool runs_out = false;  // a time-out of wait_for()
    };
    // By time, then by number.
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
    std::int64_t stays_percent_;  // chance that an actor goes on after its step
    std::int64_t now_ = 0;
    std::int64_t news_ = 0;  // time of the last event other than a time-out
    std::int64_t steps_ = 0;
    std::int64_t made_ = 0;  // events so far
    std::uint64_t trace_ = 0;
    std::optional<std::int64_t> stop_;
    std::vector<std::pair<std::string, std::int64_t>> kills_;  // still to come
    struct Suspension {
        std::string name;
        std::int64_t step = 0;
        std::int64_t nanoseconds = 0;
    };
    std::vector<Suspension> suspensions_;  // still to come
    std::vector<std::unique_ptr<Actor>> actors_;
    Actor* current_ = nullptr;
    Events events_;
};

}  // namespace forebay::adapters
