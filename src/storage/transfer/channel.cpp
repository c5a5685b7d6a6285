// Requests start in the order of their windows; completions come in any order.
#include "storage/transfer/channel.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

namespace forebay::transfer {

Channel::Channel(ports::FileStorage& storage, Gate& gate, const ports::TimeSource& clock,
                 const ChannelOptions& options)
    : storage_{storage}, gate_{gate}, clock_{clock}, options_{options}, jobs_(options.jobs) {
    order_.reserve(options.jobs);
    entries_.resize(
        std::clamp<std::size_t>(static_cast<std::size_t>(storage.depth()), 1, requests_max));
}

void Channel::begin(std::size_t job, std::unique_ptr<RequestSource> source) {
    Job& one = jobs_.at(job);
    expects(!one.open, "a job begins when its last window is finished");
    one.bytes = 0;
    one.whole = !failure_.happened();
    if (failure_.happened()) {
        return;
    }
    one.source = std::move(source);
    one.open = true;
    order_.push_back(job);
}

bool Channel::run_once() {
    const bool collected = in_flight_ > 0 && collect();
    return start() || collected;
}

bool Channel::collect() {
    std::array<ports::RequestCompletion, requests_max> done;
    const std::size_t count = storage_.poll(done);
    for (std::size_t i = 0; i < count; ++i) {
        complete(done[i]);
    }
    return count > 0;
}

void Channel::block() {
    expects(in_flight_ > 0, "only what is in flight can complete");
    std::array<ports::RequestCompletion, requests_max> done;
    const std::size_t count = storage_.wait(done);
    for (std::size_t i = 0; i < count; ++i) {
        complete(done[i]);
    }
}

bool Channel::start() {
    bool any = false;
    while (hold_next()) {
        Entry& entry = entries_[*held_];
        entry.service.in_flight = gate_.try_enter(entry.target);
        if (entry.service.in_flight == 0) {
            return any;
        }
        entry.begin_ns = clock_.now_ns();
        entry.service.bytes = 0;
        for (const ports::Piece& piece : entry.pieces) {
            entry.service.bytes += static_cast<std::int64_t>(piece.bytes.size());
        }
        const std::size_t number = *held_;
        held_.reset();
        ++requests_;
        submit(number);
        any = true;
        if (options_.pace == ChannelPace::at_once) {
            collect();  // the request is done: the next one may pass the gate
        }
    }
    return any;
}

// The job whose request is next: the oldest that may have one more in flight.
std::vector<std::size_t>::iterator Channel::next_job() {
    if (options_.per_job == PerJob::any) {
        return order_.begin();
    }
    return std::ranges::find_if(order_,
                                [this](std::size_t job) { return jobs_[job].outstanding == 0; });
}

// Takes the next request from its source, unless one is held. False: there is none, or all entries
// are in use.
bool Channel::hold_next() {
    while (!held_) {
        const auto next = next_job();
        if (next == order_.end()) {
            return false;
        }
        const auto free = std::find_if(entries_.begin(), entries_.end(),
                                       [](const Entry& entry) { return !entry.used; });
        if (free == entries_.end()) {
            return false;
        }
        const std::size_t job = *next;
        const auto target =
            failure_.happened() ? std::nullopt : jobs_[job].source->next(free->pieces);
        if (!target) {
            jobs_[job].whole = jobs_[job].whole && !failure_.happened();
            order_.erase(next);
            jobs_[job].source.reset();
            close_if_done(job);
            continue;
        }
        free->used = true;
        free->first = 0;
        free->job = job;
        free->target = *target;
        ++jobs_[job].outstanding;
        held_ = static_cast<std::size_t>(free - entries_.begin());
    }
    return true;
}

void Channel::submit(std::size_t number) {
    const Entry& entry = entries_[number];
    if (in_flight_++ == 0) {
        busy_since_ = clock_.now_ns();
    }
    storage_.submit({options_.direction, number,
                     std::span<const ports::Piece>{entry.pieces}.subspan(entry.first),
                     options_.pace == ChannelPace::at_once});
}

void Channel::complete(const ports::RequestCompletion& completion) {
    const auto number = static_cast<std::size_t>(completion.ticket);
    Entry& entry = entries_.at(number);
    if (--in_flight_ == 0) {
        busy_ns_ += clock_.now_ns() - busy_since_;
    }
    const bool again = completion.system == EINTR || completion.system == EAGAIN;
    const std::int64_t left = trim(entry, completion.bytes.bytes());
    const bool moved = completion.bytes.bytes() > 0;
    // Resubmits the rest even after another request has failed: bytes below that failure are
    // acknowledged, so they must all be moved.
    if (left > 0 && (again || (completion.system == 0 && moved))) {
        submit(number);
        return;
    }
    if (left > 0) {
        // The duration of an incomplete request says nothing of the target's speed.
        entry.service.bytes = 0;
    }
    if (left > 0 && options_.direction == IoDirection::read && completion.system == 0) {
        end_of_file_ = std::min(end_of_file_, entry.pieces[entry.first].at.bytes());
    } else if (left > 0) {
        fail(entry.pieces[entry.first].at, completion.system == 0 ? EIO : completion.system);
    }
    release(number);
}

// Removes the first `bytes` bytes from the entry's pieces; returns the number of bytes left.
std::int64_t Channel::trim(Entry& entry, std::int64_t bytes) {
    while (bytes > 0 && entry.first < entry.pieces.size()) {
        ports::Piece& piece = entry.pieces[entry.first];
        const auto size = static_cast<std::int64_t>(piece.bytes.size());
        if (bytes < size) {
            piece.at += Length{bytes};
            piece.bytes = piece.bytes.subspan(static_cast<std::size_t>(bytes));
            break;
        }
        bytes -= size;
        ++entry.first;
    }
    std::int64_t left = 0;
    for (std::size_t i = entry.first; i < entry.pieces.size(); ++i) {
        left += static_cast<std::int64_t>(entry.pieces[i].bytes.size());
    }
    return left;
}

void Channel::release(std::size_t number) {
    Entry& entry = entries_[number];
    entry.service.nanoseconds = clock_.now_ns() - entry.begin_ns;
    gate_.leave(entry.target, entry.service);
    entry.used = false;
    Job& job = jobs_[entry.job];
    --job.outstanding;
    job.bytes += entry.service.bytes;
    job.whole = job.whole && entry.service.bytes > 0;
    close_if_done(entry.job);
}

void Channel::close_if_done(std::size_t job) {
    Job& one = jobs_[job];
    if (!one.source && one.outstanding == 0) {
        one.open = false;
    }
}

void Channel::fail(Offset at, int system) {
    const plan::FirstFailure now{at.bytes(), static_cast<std::uint32_t>(error_code_of(system)),
                                 system};
    failure_ = plan::first_of(failure_, now);
    if (held_) {
        const std::size_t held = *held_;
        held_.reset();
        entries_[held].used = false;
        --jobs_[entries_[held].job].outstanding;
        close_if_done(entries_[held].job);
    }
}

}  // namespace forebay::transfer
