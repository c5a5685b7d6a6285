// Each window passes three counters: opened_, middle_, finished_. No function but block() blocks.
#include "collective/engine/progress_task.hpp"

#include "collective/engine/window_opening.hpp"
#include "foundation/base/contracts.hpp"

#include <algorithm>
#include <utility>

namespace forebay::engine {

namespace {

const plan::Summary& summary_of(CallTeam& team, LocalRank rank) {
    return team.node_segment().slot(rank).vote(VoteMoment::start).summary;
}

}  // namespace

AggregatorTask::AggregatorTask(AggregatorId id, CallTeam& team, const CallRounds& rounds,
                               const Staging& staging, transfer::Channel& channel,
                               const transfer::CutLimits& limits, TurnBlock* turns)
    : id_{id},
      team_{team},
      rounds_{rounds},
      staging_{staging},
      channel_{channel},
      limits_{limits},
      turns_{turns},
      stages_(static_cast<std::size_t>(rounds.plan().buffers)) {}

void AggregatorTask::tell_ready(std::int64_t round) {
    if (turns_ != nullptr && ready_ < round) {
        ready_ = round;
        turns_->filled.store(static_cast<std::uint32_t>(round), std::memory_order_release);
        team_.wake(turns_->filled);
    }
}

bool AggregatorTask::has_turn(std::int64_t round) const {
    return turns_ == nullptr ||
           std::cmp_greater(turns_->started.load(std::memory_order_acquire), round);
}

void AggregatorTask::start(std::int64_t round, std::unique_ptr<transfer::RequestSource> source) {
    if (turns_ != nullptr) {
        stage(round).begin_ns = team_.clock().now_ns();
    }
    channel_.begin(job_of(round), std::move(source));
}

void AggregatorTask::end(std::int64_t round) {
    if (turns_ == nullptr) {
        return;
    }
    const Stage& one = stage(round);
    plan::ServedRequest& service =
        turns_->services[static_cast<std::size_t>(round) % turns_->services.size()];
    service.bytes = one.expected > 0 ? channel_.bytes_moved(job_of(round)) : 0;
    service.nanoseconds = team_.clock().now_ns() - one.begin_ns;
    turns_->ended.store(static_cast<std::uint32_t>(round + 1), std::memory_order_release);
    team_.wake(turns_->ended);
}

// Every one of these counts up `parts` of the window's control block once.
std::uint32_t AggregatorTask::participants(const plan::Window& window) const {
    if (window.empty()) {
        return 0;
    }
    const Extent hull = window.hull();
    const ports::RankPlace& place = team_.place();
    std::uint32_t count = 0;
    for (std::int32_t i = 0; i < place.locals; ++i) {
        count += plan::touches(summary_of(team_, LocalRank{i}), hull) ? 1U : 0U;
    }
    for (std::int32_t n = 0; n < place.nodes; ++n) {
        const bool other = n != place.node.value();
        count += other && plan::touches(team_.node_segment().node(NodeId{n}), hull) ? 1U : 0U;
    }
    return count;
}

// The window takes over the buffer, and the place in the ring, of the window `buffers` rounds
// before.
void AggregatorTask::load(std::int64_t round) {
    expects(round >= finished_ && round - finished_ < static_cast<std::int64_t>(stages_.size()),
            "storage is through with the window that had the buffer before");
    Stage& one = stage(round);
    rounds_.window(round, id_, one.window);
    one.index = rounds_.window_index(id_, round);
    one.expected = participants(one.window);
}

void AggregatorTask::announce(std::int64_t round, std::int64_t end_of_file) {
    const Stage& one = stage(round);
    if (one.expected == 0) {
        return;
    }
    WindowControl& control = team_.node_segment().control(one.index);
    open_window(control, {.tag = window_tag(team_.call_number(), round),
                          .expected = one.expected,
                          .end_of_file = end_of_file,
                          .lender = one.loan ? one.loan->lender : 0,
                          .place = one.loan ? one.loan->place : 0});
    team_.wake(control.bell);
}

bool AggregatorTask::done_by_all(std::int64_t round) {
    const Stage& one = stage(round);
    return one.expected == 0 || team_.node_segment().control(one.index).parts.load(
                                    std::memory_order_acquire) == one.expected;
}

std::span<std::byte> AggregatorTask::image(const Stage& stage) const {
    return stage.loan
               ? stage.loan->bytes
               : staging_.image(stage.index).first(static_cast<std::size_t>(stage.window.bytes));
}

bool AggregatorTask::marks_nothing() const noexcept {
    return team_.imagined() != nullptr && rounds_.plan().gapless();
}

std::optional<pattern::Coverage> AggregatorTask::given(const Stage& stage) const {
    if (marks_nothing()) {
        const WindowControl& control = team_.node_segment().control(stage.index);
        ensures(control.imagined.load(std::memory_order_relaxed) == stage.window.bytes,
                "a window without gaps has been given whole");
        return std::nullopt;
    }
    return staging_.coverage(stage.index, stage.window.bytes);
}

bool WriteTask::reached_by_all() {
    const auto number = static_cast<std::size_t>(rounds_.aggregator(id_).on_node);
    if (reached_ || number >= RankSlot::lenders_max) {
        return reached_;
    }
    for (std::int32_t i = 0; i < team_.place().locals; ++i) {
        const RankSlot& slot = team_.node_segment().slot(LocalRank{i});
        if (slot.reaches[number].load(std::memory_order_acquire) != lender_->name()) {
            return false;
        }
    }
    reached_ = true;
    return true;
}

void WriteTask::find_memory(Stage& stage) {
    if (lender_ != nullptr && stage.expected > 0 && reached_by_all()) {
        stage.loan = lender_->lend(static_cast<std::size_t>(stage.window.bytes));
        lent_ += Length{stage.loan ? stage.window.bytes : 0};
    }
}

void WriteTask::give_back(Stage& stage) {
    if (stage.loan) {
        lender_->take_back(*stage.loan);
        stage.loan.reset();
    }
}

bool WriteTask::attend() {
    bool any = channel_.run_once();
    const auto buffers = static_cast<std::int64_t>(stages_.size());
    while (finished_ < middle_ && channel_.finished(job_of(finished_))) {
        give_back(stage(finished_));
        end(finished_++);
        any = true;
    }
    while (turns_ != nullptr && ready_ < opened_ && done_by_all(ready_)) {
        tell_ready(ready_ + 1);
        any = true;
    }
    while (middle_ < opened_ && done_by_all(middle_) && has_turn(middle_)) {
        const Stage& one = stage(middle_);
        if (one.expected > 0) {
            start(middle_,
                  std::make_unique<transfer::Cutter>(one.window, image(one), given(one), limits_));
        }
        ++middle_;
        any = channel_.run_once() || true;
    }
    while (opened_ < rounds_.known() && opened_ < finished_ + buffers) {
        load(opened_);
        Stage& one = stage(opened_);
        find_memory(one);
        if (one.expected > 0 && !marks_nothing()) {
            staging_.coverage(one.index, one.window.bytes).clear();
        }
        announce(opened_++, plan::FirstFailure::nowhere);
        any = true;
    }
    return any;
}

// Ranks have filled every window that is open to them, so only storage can go on.
bool WriteTask::block() {
    if (middle_ < opened_ || channel_.in_flight() == 0) {
        return false;
    }
    channel_.block();
    return true;
}

const ports::Word* WriteTask::concern() {
    if (turns_ != nullptr && middle_ < ready_) {
        return &turns_->started;
    }
    return middle_ < opened_ ? &team_.node_segment().control(stage(middle_).index).parts : nullptr;
}

bool ReadTask::attend() {
    bool any = channel_.run_once();
    const auto buffers = static_cast<std::int64_t>(stages_.size());
    while (middle_ < opened_ && channel_.finished(job_of(middle_))) {
        end(middle_);
        // Bytes below both the file's end and the first error are valid, and count as moved.
        announce(middle_++, std::min(channel_.end_of_file(), channel_.failure().at));
        any = true;
    }
    while (finished_ < middle_ && done_by_all(finished_)) {
        ++finished_;
        any = true;
    }
    const std::int64_t room = std::min(rounds_.known(), finished_ + buffers);
    tell_ready(room);
    while (opened_ < room && has_turn(opened_)) {
        load(opened_);
        const Stage& one = stage(opened_);
        if (one.expected > 0) {
            start(opened_, std::make_unique<transfer::Cutter>(one.window, image(one), std::nullopt,
                                                              limits_));
        }
        ++opened_;
        any = channel_.run_once() || true;
    }
    return any;
}

// Ranks are done with every window that has been read, so only storage can go on.
bool ReadTask::block() {
    const bool has_room = turns_ != nullptr && opened_ < ready_;
    if (finished_ < middle_ || has_room || channel_.in_flight() == 0) {
        return false;
    }
    channel_.block();
    return true;
}

const ports::Word* ReadTask::concern() {
    if (finished_ < middle_) {
        return &team_.node_segment().control(stage(finished_).index).parts;
    }
    return turns_ != nullptr && opened_ < ready_ ? &turns_->started : nullptr;
}

}  // namespace forebay::engine
