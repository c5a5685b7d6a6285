// See phase.hpp.
#include "bench/ior/program/phase.hpp"

#include <ctime>
#include <fmt/format.h>

namespace forebay::bench {

namespace {

constexpr std::size_t mismatches_max = 5;

// In nanoseconds, less the time that it has stood still.
class PhaseClock {
public:
    explicit PhaseClock(const measure::TransferClock& clock) : clock_(clock) {}
    [[nodiscard]] std::int64_t now() const noexcept { return clock_.now_ns() - stood_; }
    // What was done since the reading `since` is not counted.
    void resume_at(std::int64_t since) noexcept { stood_ = clock_.now_ns() - since; }
    [[nodiscard]] std::int64_t stood() const noexcept { return stood_; }

private:
    measure::TransferClock clock_;
    std::int64_t stood_ = 0;
};

class PhaseRun {
public:
    PhaseRun(const PhaseContext& context, const PhaseRequest& request)
        : context_(context),
          request_(request),
          o_(*context.options),
          offsets_(context.geometry, request.task),
          writes_(request.purpose == Purpose::write),
          together_(context.backend->together() || (syncs_each() && syncs_together())),
          clock_(*context.clock) {}

    PhaseOutcome run() {
        context_.session->barrier();
        begin_ = clock_.now();
        // Otherwise a moment of the scheduler's would count.
        out_.times.began_ns = context_.session->shares_cores() ? measure::now_ns() : 0;
        out_.times.began = calendar_seconds();
        working(1);
        open();
        out_.times.open_end = since_begin();
        if (o_.barriers) {
            meet();
        }
        out_.times.transfers_begin = since_begin();
        if (can_go_on()) {
            transfers();
            if (writes_ && o_.fsync) {
                keep(context_.backend->sync());
            }
        } else if (!together_ && wears_out()) {
            goal_of_all(0);  // the others wait for this rank's word
        }
        out_.times.transfers_end = since_begin();
        if (o_.barriers) {
            meet();
        }
        out_.times.close_begin = since_begin();
        keep(context_.backend->close());
        out_.times.close_end = since_begin();
        out_.times.data = measure::seconds_of(clock_.stood());
        working(0);
        out_.times.node = context_.session->node_of(context_.session->rank());
        out_.times.short_transfers = context_.backend->short_transfers();
        return std::move(out_);
    }

private:
    [[nodiscard]] double since_begin() const noexcept {
        return measure::seconds_of(clock_.now() - begin_);
    }
    static double calendar_seconds() noexcept {
        timespec now{};
        ::clock_gettime(CLOCK_REALTIME, &now);
        return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
    }
    void working(int on) const noexcept { context_.session->slot().working.store(on); }

    // A barrier is waiting for others, which the watchdog does not count as standing still.
    void meet() const {
        working(0);
        context_.session->barrier();
        working(1);
    }

    template <class Value>
    void keep(const Result<Value>& done) {
        if (!done && !out_.error) {
            out_.error = done.error();
        }
    }

    void open() {
        OpenRequest request;
        request.path = request_.path;
        request.access = writes_ ? Access::write : Access::read;
        request.task = request_.task;
        request.comm = context_.geometry.sharing == ior::FileSharing::shared
                           ? context_.session->comm()
                           : MPI_COMM_SELF;
        keep(context_.backend->open(request));
        opened_ = !out_.error;
    }

    [[nodiscard]] bool syncs_each() const noexcept { return writes_ && o_.fsync_per_write; }
    [[nodiscard]] bool syncs_together() const noexcept {
        return context_.backend->syncs_together() &&
               context_.geometry.sharing == ior::FileSharing::shared;
    }

    // Collective transfers need all ranks: when one could not open, none begins.
    [[nodiscard]] bool can_go_on() const {
        if (!together_) {
            return opened_;
        }
        return context_.session->sum(opened_ ? 0 : 1) == 0;
    }

    [[nodiscard]] std::int64_t planned() const noexcept {
        return o_.wear_out_iterations > 0 && writes_
                   ? std::min(o_.wear_out_iterations, request_.transfers_max)
                   : request_.transfers_max;
    }

    [[nodiscard]] bool is_walled() const noexcept {
        return o_.stonewall_seconds > 0 && request_.purpose != Purpose::check;
    }
    [[nodiscard]] bool wears_out() const noexcept { return is_walled() && o_.wear_out; }

    void transfers() {
        find_repetition();
        first_ = clock_.now();
        if (is_walled()) {
            wall_ = first_ + o_.stonewall_seconds * 1'000'000'000;
        }
        const std::int64_t count = planned();
        std::int64_t done = run_to(0, count);
        if (is_walled()) {
            done = wear_out(done, count);
        }
        while (o_.duration_min_seconds > 0 && request_.purpose != Purpose::check &&
               repeats_again(done)) {
            run_to(0, done);
        }
        out_.wall_transfers = done;
    }

    // Which repetition of an earlier run wrote this file, by its first transfer.
    void find_repetition() {
        if (request_.repetitions_of_data <= 0 || request_.data == nullptr) {
            return;
        }
        const std::int64_t since = clock_.now();
        const Offset at = offsets_(0);
        const auto got = context_.backend->read(at, bytes());
        if (got && *got > 0) {
            const auto found = request_.data->repetition_of(
                at, bytes().first(static_cast<std::size_t>(*got)),
                static_cast<std::uint64_t>(request_.repetitions_of_data));
            request_.data->set_repetition(found.value_or(0));
        }
        clock_.resume_at(since);
    }

    // Not after the wall, and not nothing: the clock would stand still.
    [[nodiscard]] bool repeats_again(std::int64_t done) {
        const bool mine =
            done > 0 && !hit_wall_ && !out_.error &&
            measure::seconds_of(last_ - first_) < static_cast<double>(o_.duration_min_seconds);
        return together_ ? context_.session->from_first(mine ? 1 : 0) != 0 : mine;
    }

    // All go on to what the fastest did before the wall, so that what was written can be read.
    std::int64_t wear_out(std::int64_t done, std::int64_t count) {
        out_.times.stonewall_seconds = measure::seconds_of(last_ - first_);
        out_.times.stonewall_transfers = done;
        if (!o_.wear_out) {
            return done;
        }
        wall_ = 0;
        return run_to(done, std::min(goal_of_all(done), count));
    }

    std::int64_t goal_of_all(std::int64_t done) const {
        working(0);
        const std::int64_t goal = context_.session->most(done);
        working(1);
        return goal;
    }

    [[nodiscard]] std::span<std::byte> bytes() const noexcept { return context_.buffer->bytes(); }

    // The next transfer's place and data. From the end of the last transfer on, nothing is timed.
    void prepare(std::int64_t index, std::int64_t count) {
        if (index < count) {
            at_ = offsets_(index);
            if (writes_ && request_.data != nullptr) {
                request_.data->fill(at_, bytes());
            }
        }
        clock_.resume_at(last_);
    }

    // From transfer `done` up to `count`, the wall or the first error; what was reached.
    std::int64_t run_to(std::int64_t done, std::int64_t count) {
        last_ = clock_.now();
        for (prepare(done, count); done < count; prepare(++done, count)) {
            if (wall_ != 0 && stops_here()) {
                hit_wall_ = true;
                break;
            }
            const auto moved = writes_ ? write_one() : read_one();
            if (syncs_each() && (moved || together_)) {
                keep(context_.backend->sync());
            }
            note_end();
            if (o_.delay_between_transfers_us > 0) {
                delay();
            }
            if (!moved) [[unlikely]] {
                keep(moved);
                if (!together_) {
                    break;
                }
                continue;
            }
            out_.times.bytes += *moved;
            ++out_.times.transfers;
            context_.session->slot().did(*moved);
            if (!writes_ && request_.data != nullptr) {
                compare();
            }
            if (out_.wrong > 0 && o_.quit_on_error && !together_) {
                break;
            }
        }
        return done;
    }

    void note_end() {
        const std::int64_t now = clock_.now();
        out_.latency.record(now - last_);
        if (!o_.operations_prefix.empty()) {
            note_operation(now);
        }
        last_ = now;
    }

    [[nodiscard]] bool stops_here() const {
        const bool mine = last_ >= wall_;
        return together_ ? context_.session->from_first(mine ? 1 : 0) != 0 : mine;
    }

    Result<std::int64_t> write_one() {
        auto moved = context_.backend->write(at_, bytes());
        if (moved && *moved < context_.geometry.transfer_bytes) [[unlikely]] {
            return failure({ErrorCode::no_space, 0,
                            fmt::format("cannot write {} at offset {} (only {} of {} bytes were "
                                        "taken). Free space there or write to another directory.",
                                        request_.path, at_.bytes(), *moved,
                                        context_.geometry.transfer_bytes)});
        }
        return moved;
    }

    Result<std::int64_t> read_one() {
        auto moved = context_.backend->read(at_, bytes());
        if (moved && *moved < static_cast<std::int64_t>(bytes().size())) {
            return failure({ErrorCode::input_output, 0,
                            fmt::format("cannot read {} at offset {} (the file ends {} bytes "
                                        "later). Write it with the same -b, -s, -t and -N, or "
                                        "with stoneWallingWearOut.",
                                        request_.path, at_.bytes(), *moved)});
        }
        return moved;
    }

    void compare() {
        if (const auto mismatch = request_.data->check(at_, bytes())) {
            ++out_.wrong;
            if (out_.mismatches.size() < mismatches_max) {
                out_.mismatches.push_back(
                    fmt::format("{}, {}", request_.path, measure::describe(*mismatch)));
            }
        }
    }

    // Part of the phase, of no transfer.
    void delay() {
        const timespec wait{o_.delay_between_transfers_us / 1'000'000,
                            (o_.delay_between_transfers_us % 1'000'000) * 1000};
        ::clock_nanosleep(CLOCK_MONOTONIC, 0, &wait, nullptr);
        last_ = clock_.now();
    }

    void note_operation(std::int64_t now) {
        const double seconds = measure::seconds_of(now - last_);
        out_.operation_lines.push_back(
            fmt::format("{:.9f},{:.9f},{:.3f}", measure::seconds_of(last_ - begin_), seconds,
                        seconds > 0 ? static_cast<double>(o_.transfer_bytes) / seconds : 0.0));
    }

    const PhaseContext& context_;
    const PhaseRequest& request_;
    const ior::Options& o_;
    ior::Offsets offsets_;
    bool writes_;
    bool together_;  // every rank makes the same calls, come what may
    bool opened_ = false;
    PhaseOutcome out_;
    PhaseClock clock_;
    Offset at_;
    std::int64_t begin_ = 0;
    std::int64_t first_ = 0;
    std::int64_t last_ = 0;  // when the last transfer and its delay ended
    std::int64_t wall_ = 0;
    bool hit_wall_ = false;
};

}  // namespace

PhaseOutcome run_phase(const PhaseContext& context, const PhaseRequest& request) {
    return PhaseRun(context, request).run();
}

}  // namespace forebay::bench
