// The gate of a node, and requests without staging and exchange.
#include "collective/engine/bypass.hpp"

#include <algorithm>

namespace forebay::engine {

ports::Word& NodeGate::word(TargetId target) const noexcept {
    return team_.node_segment().gate(target.position() % SegmentHeader::gates_max);
}

std::int32_t NodeGate::try_enter(TargetId target) {
    ports::Word& count = word(target);
    std::uint32_t seen = count.load(std::memory_order_acquire);
    while (seen < static_cast<std::uint32_t>(most_)) {
        if (count.compare_exchange_weak(seen, seen + 1, std::memory_order_acq_rel)) {
            return static_cast<std::int32_t>(seen + 1);
        }
    }
    refused_ = &count;
    return 0;
}

void NodeGate::leave(TargetId target, const plan::ServedRequest& /*service*/) {
    ports::Word& count = word(target);
    count.fetch_sub(1, std::memory_order_acq_rel);
    team_.communicator().wake(count);
}

DirectSource::DirectSource(pattern::WindowedTransfer& transfer, const Extent& span,
                           const transfer::CutLimits& limits)
    : transfer_{transfer}, rest_{span}, limits_{limits} {}

// Loads more runs if the present ones are used up. Returns whether there is a run with bytes left.
bool DirectSource::load() {
    while (run_ < run_count_ && runs_[run_].length == 0) {
        ++run_;
    }
    if (run_ < run_count_) {
        return true;
    }
    run_ = 0;
    run_count_ = rest_.empty() ? 0 : transfer_.runs(rest_, runs_);
    if (run_count_ == 0) {
        return false;
    }
    const pattern::MemoryRun& last = runs_[run_count_ - 1];
    const Offset end = rest_.end();
    const Offset begin = last.at + Length{last.length};
    rest_ = Extent{begin, end - begin};
    return true;
}

std::optional<TargetId> DirectSource::next(std::vector<ports::Piece>& pieces) {
    pieces.clear();
    if (!load()) {
        return std::nullopt;
    }
    Offset end = runs_[run_].at;
    const TargetId target = plan::target_at(limits_.layout, end);
    std::int64_t room =
        std::min(limits_.request_bytes_max, plan::rest_of_stripe(limits_.layout, end));
    while (room > 0 && pieces.size() < transfer::CutLimits::pieces_max && load() &&
           runs_[run_].at == end) {
        pattern::MemoryRun& run = runs_[run_];
        const std::int64_t length = std::min(run.length, room);
        pieces.push_back({run.at, {run.bytes, static_cast<std::size_t>(length)}});
        run.at += Length{length};
        run.bytes += length;
        run.length -= length;
        room -= length;
        end = run.at;
    }
    return target;
}

void move_directly(CallTeam& team, transfer::Channel& channel, const NodeGate& gate,
                   std::unique_ptr<transfer::RequestSource> source) {
    channel.begin(0, std::move(source));
    while (!channel.finished(0)) {
        if (channel.run_once()) {
            continue;
        }
        if (channel.in_flight() > 0) {
            channel.block();
            continue;
        }
        const ports::Word& word = gate.refused_at();
        team.wait_briefly(word, word.load(std::memory_order_acquire));
    }
}

}  // namespace forebay::engine
