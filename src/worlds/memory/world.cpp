// The scheduler. It runs on the thread's own stack; actors return to it at steps and waits.
#include "worlds/memory/world.hpp"

#include "foundation/base/contracts.hpp"
#include "worlds/memory/fiber.hpp"
#include "worlds/memory/file.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <string_view>

// NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier): LeakSanitizer's names
extern "C" {
[[gnu::weak]] void __lsan_disable();
[[gnu::weak]] void __lsan_enable();
}
// NOLINTEND(readability-identifier-naming,bugprone-reserved-identifier)

namespace forebay::adapters {

namespace {

constexpr std::int64_t step_ns_min = 50;
constexpr std::int64_t step_ns_range = 400;
// The fastest actor is chosen this many times as often as the slowest.
constexpr std::int64_t weight_max = 8;

// Chances that an actor goes on after a step: from a switch at every step to hardly any; each finds
// other bugs.
constexpr std::int64_t stays_percents[] = {0, 50, 90, 98};

std::uint64_t hash_of(std::string_view text) noexcept {
    std::uint64_t hash = 0;
    for (const char one : text) {
        hash = hash * 131 + static_cast<unsigned char>(one);
    }
    return hash;
}

}  // namespace

struct MemoryWorld::Actor {
    enum class State { can_go_on, waits, ended, dead };

    std::string name;
    std::int64_t number = 0;
    std::int64_t weight = 1;
    std::optional<std::int64_t> dies_at;
    std::function<void()> body;
    std::unique_ptr<ActorFiber> fiber;
    State state = State::can_go_on;
    const void* key = nullptr;                 // waited on
    std::optional<Events::key_type> runs_out;  // the time-out's event, if it waits with one
    Doing doing;
    std::int64_t steps = 0;
    bool suspended = false;
};

MemoryWorld::MemoryWorld(const MemoryWorldOptions& options)
    : options_{options}, dice_{scramble(options.seed, 0, 0)} {
    stays_percent_ = stays_percents[draw(std::ssize(stays_percents))];
}

MemoryWorld::~MemoryWorld() = default;

std::int64_t MemoryWorld::draw(std::int64_t end) {
    expects(end > 0, "something can be drawn");
    dice_ = scramble(dice_, 1, 0);
    return static_cast<std::int64_t>(dice_ % static_cast<std::uint64_t>(end));
}

void MemoryWorld::spawn(const std::string& name, std::function<void()> body) {
    expects(!alive(name), "two who are alive are not called the same");
    auto actor = std::make_unique<Actor>();
    actor->name = name;
    actor->number = std::ssize(actors_);
    actor->weight = 1 + draw(weight_max);
    actor->body = std::move(body);
    const auto kill =
        std::ranges::find_if(kills_, [&](const auto& one) { return one.first == name; });
    if (kill != kills_.end()) {
        actor->dies_at = kill->second;
        kills_.erase(kill);
    }
    actors_.push_back(std::move(actor));
    news_ = now_;
}

void MemoryWorld::kill(const std::string& name, std::int64_t step) {
    options_.leaks = LeakReports::ignored;
    for (const std::unique_ptr<Actor>& actor : actors_) {
        if (actor->name == name && alive(name)) {
            actor->dies_at = step;
        }
    }
    if (!alive(name)) {
        kills_.emplace_back(name, step);
    }
}

void MemoryWorld::suspend(const std::string& name, std::int64_t step, std::int64_t nanoseconds) {
    suspensions_.push_back({name, step, nanoseconds});
}

bool MemoryWorld::suspended(const std::string& name) const {
    const Actor* actor = find(name);
    return actor != nullptr && actor->suspended;
}

void MemoryWorld::stop(std::int64_t step) {
    options_.leaks = LeakReports::ignored;
    stop_ = step;
}

const MemoryWorld::Actor* MemoryWorld::find(const std::string& name) const {
    const auto found = std::find_if(actors_.rbegin(), actors_.rend(),
                                    [&](const auto& one) { return one->name == name; });
    return found == actors_.rend() ? nullptr : found->get();
}

bool MemoryWorld::alive(const std::string& name) const {
    const Actor* actor = find(name);
    return actor != nullptr && actor->state != Actor::State::ended &&
           actor->state != Actor::State::dead;
}

std::int64_t MemoryWorld::steps(const std::string& name) const {
    const Actor* actor = find(name);
    expects(actor != nullptr, "somebody was called so");
    return actor->steps;
}

MemoryWorld::Events::key_type MemoryWorld::add(std::int64_t nanoseconds, Event event) {
    const Events::key_type key{now_ + nanoseconds, made_++};
    events_.emplace(key, std::move(event));
    return key;
}

void MemoryWorld::after(std::int64_t nanoseconds, std::function<void()> event) {
    add(nanoseconds, {std::move(event), current_, false});
}

void MemoryWorld::happen_due() {
    while (!events_.empty() && events_.begin()->first.first <= now_) {
        const Event event = std::move(events_.begin()->second);
        events_.erase(events_.begin());
        news_ = event.runs_out ? news_ : now_;
        event.happen();
    }
}

// False if there are no events.
bool MemoryWorld::advance_to_next() {
    if (events_.empty()) {
        return false;
    }
    now_ = std::max(now_, events_.begin()->first.first);
    happen_due();
    return true;
}

void MemoryWorld::note(const Doing& doing) noexcept {
    const auto who = static_cast<std::uint64_t>(current_ == nullptr ? -1 : current_->number);
    trace_ = scramble(trace_, static_cast<std::uint64_t>(now_), who);
    trace_ = scramble(trace_, hash_of(doing.what), static_cast<std::uint64_t>(doing.number));
}

void MemoryWorld::step(const Doing& doing) {
    note(doing);
    now_ += step_ns_min + draw(step_ns_range);
    if (current_ == nullptr) {
        happen_due();
        return;
    }
    Actor& actor = *current_;
    actor.doing = doing;
    const bool stays = draw(100) < stays_percent_;
    if ((actor.dies_at && actor.steps >= *actor.dies_at) || stop_ == steps_) {
        die(actor);
    }
    const auto suspension = std::ranges::find_if(suspensions_, [&](const Suspension& one) {
        return one.name == actor.name && one.step <= actor.steps;
    });
    if (suspension != suspensions_.end()) {
        const std::int64_t nanoseconds = suspension->nanoseconds;
        suspensions_.erase(suspension);
        actor.suspended = true;
        news_ = now_;
        block(nullptr, nanoseconds, {"being continued"});
        actor.suspended = false;
    }
    ++actor.steps;
    ++steps_;
    if (!stays || steps_ >= options_.steps_max || quiet()) {
        actor.fiber->suspend();
    }
}

void MemoryWorld::block(const void* key, std::optional<std::int64_t> nanoseconds,
                        const Doing& doing) {
    note(doing);
    if (current_ == nullptr) {
        expects(advance_to_next(), "who waits outside of a world waits for something to come");
        return;
    }
    Actor& actor = *current_;
    actor.doing = doing;
    actor.key = key;
    actor.state = Actor::State::waits;
    if (nanoseconds) {
        const auto go_on = [&actor] {
            actor.state = Actor::State::can_go_on;
            actor.runs_out.reset();
        };
        actor.runs_out = add(*nanoseconds, {go_on, &actor, key != nullptr});
    }
    actor.fiber->suspend();
}

void MemoryWorld::wait(const void* key, const Doing& doing) { block(key, std::nullopt, doing); }

void MemoryWorld::wait_for(const void* key, std::int64_t nanoseconds, const Doing& doing) {
    block(key, nanoseconds, doing);
}

void MemoryWorld::sleep(std::int64_t nanoseconds) {
    step({"a while"});
    block(nullptr, nanoseconds, {"a while"});
}

void MemoryWorld::wake(const void* key) {
    for (const std::unique_ptr<Actor>& actor : actors_) {
        if (actor->state != Actor::State::waits || actor->key != key || key == nullptr) {
            continue;
        }
        actor->state = Actor::State::can_go_on;
        if (actor->runs_out) {
            events_.erase(*actor->runs_out);
            actor->runs_out.reset();
        }
        news_ = now_;
    }
}

// Does not return.
void MemoryWorld::die(Actor& actor) {
    settle_requests(actor);
    actor.state = Actor::State::dead;
    actor.fiber->suspend();
}

void MemoryWorld::settle_requests(const Actor& actor) {
    std::vector<Event> under_way;
    for (auto one = events_.begin(); one != events_.end();) {
        if (one->second.owner != &actor) {
            ++one;
            continue;
        }
        if (!one->second.runs_out) {
            under_way.push_back(std::move(one->second));
        }
        one = events_.erase(one);
    }
    for (const Event& event : under_way) {
        if (draw(2) == 0) {
            event.happen();
        }
    }
}

MemoryWorld::Actor* MemoryWorld::choose() {
    std::int64_t weights = 0;
    for (const std::unique_ptr<Actor>& actor : actors_) {
        weights += actor->state == Actor::State::can_go_on ? actor->weight : 0;
    }
    if (weights == 0) {
        return nullptr;
    }
    std::int64_t left = draw(weights);
    for (const std::unique_ptr<Actor>& actor : actors_) {
        left -= actor->state == Actor::State::can_go_on ? actor->weight : 0;
        if (left < 0) {
            return actor.get();
        }
    }
    return nullptr;
}

void MemoryWorld::run_actor(Actor& actor) {
    current_ = &actor;
    const bool hides = options_.leaks == LeakReports::ignored && __lsan_disable != nullptr;
    if (hides) {
        __lsan_disable();
    }
    if (!actor.fiber) {
        actor.fiber = std::make_unique<ActorFiber>(options_.stack_bytes, actor.body);
    }
    actor.fiber->resume();
    if (hides) {
        __lsan_enable();
    }
    current_ = nullptr;
    if (actor.fiber->ended()) {
        actor.state = Actor::State::ended;
        actor.fiber.reset();
        actor.body = nullptr;
        news_ = now_;
    }
}

bool MemoryWorld::quiet() const noexcept { return now_ - news_ > options_.quiet_ns_max; }

WorldEnding MemoryWorld::run() {
    expects(current_ == nullptr, "a world is not run by its own actors");
    while (true) {
        happen_due();
        if (stop_ && steps_ >= *stop_) {
            for (const std::unique_ptr<Actor>& actor : actors_) {
                settle_requests(*actor);
                const bool over = actor->state == Actor::State::ended;
                actor->state = over ? actor->state : Actor::State::dead;
            }
            return ending(WorldEnding::Kind::stopped, "all died");
        }
        if (steps_ >= options_.steps_max) {
            return ending(WorldEnding::Kind::stuck, "so many steps, and no end");
        }
        if (quiet()) {
            return ending(WorldEnding::Kind::stuck, "nothing happens but that waits run out");
        }
        if (Actor* next = choose()) {
            run_actor(*next);
            continue;
        }
        const bool over = std::ranges::all_of(actors_, [](const auto& actor) {
            return actor->state == Actor::State::ended || actor->state == Actor::State::dead;
        });
        if (over) {
            return ending(WorldEnding::Kind::ended, "all have ended");
        }
        if (!advance_to_next()) {
            return ending(WorldEnding::Kind::stuck, "nobody can go on");
        }
    }
}

WorldEnding MemoryWorld::ending(WorldEnding::Kind kind, const std::string& why) const {
    WorldEnding all{kind, steps_, now_, trace_, {}};
    const char* verb = kind == WorldEnding::Kind::stuck ? "is stuck" : "is over";
    all.report = fmt::format("the world of seed {} {} ({}; {} steps, {} ns). Its actors:\n",
                             options_.seed, verb, why, steps_, now_);
    for (const std::unique_ptr<Actor>& actor : actors_) {
        const Doing& doing = actor->doing;
        const std::string number = doing.number < 0 ? "" : fmt::format(" {}", doing.number);
        const char* state = "goes on after";
        switch (actor->state) {
            case Actor::State::waits: state = "waits on"; break;
            case Actor::State::dead: state = "died before"; break;
            case Actor::State::ended: state = "ended after"; break;
            case Actor::State::can_go_on: break;
        }
        all.report += fmt::format("  {}: {} {}{} (step {})\n", actor->name, state, doing.what,
                                  number, actor->steps);
    }
    return all;
}

}  // namespace forebay::adapters
