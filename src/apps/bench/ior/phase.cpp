// See phase.hpp. The loop reads the clock once a transfer: the end of one is the beginning of the
// next, so a latency includes some 20 ns of making the data.
#include "apps/bench/ior/phase.hpp"

#include "measure/clock.hpp"

#include <ctime>
#include <fmt/format.h>

namespace forebay::bench {

namespace {

constexpr std::size_t mismatches_max = 5;

class PhaseRun {
public:
    PhaseRun(const PhaseContext& context, const PhaseRequest& request)
        : context_(context),
          request_(request),
          o_(*context.options),
          offsets_(context.geometry, request.task),
          writes_(request.purpose == Purpose::write),
          together_(context.backend->together()),
          plain_(o_.delay_between_transfers_us == 0 && o_.operations_prefix.empty() &&
                 !o_.fsync_per_write) {}

    PhaseOutcome run() {
        context_.session->barrier();
        begin_ = measure::now_ns();
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
        }
        out_.times.transfers_end = since_begin();
        if (o_.barriers) {
            meet();
        }
        out_.times.close_begin = since_begin();
        keep(context_.backend->close());
        out_.times.close_end = since_begin();
        working(0);
        out_.times.node = context_.session->node_of(context_.session->rank());
        out_.times.short_transfers = context_.backend->short_transfers();
        return std::move(out_);
    }

private:
    [[nodiscard]] double since_begin() const noexcept {
        return measure::seconds_of(measure::now_ns() - begin_);
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

    void transfers() {
        last_ = measure::now_ns();
        first_ = last_;
        if (o_.stonewall_seconds > 0 && request_.purpose != Purpose::check) {
            wall_ = first_ + o_.stonewall_seconds * 1'000'000'000;
        }
        find_repetition();
        const std::int64_t count = planned();
        std::int64_t done = run_to(0, count);
        if (o_.stonewall_seconds > 0 && request_.purpose != Purpose::check) {
            done = wear_out(done, count);
        }
        while (o_.duration_min_seconds > 0 && request_.purpose != Purpose::check &&
               repeats_again()) {
            run_to(0, done);
        }
        out_.wall_transfers = done;
    }

    // Which repetition of an earlier run wrote this file, by its first transfer.
    void find_repetition() {
        if (request_.repetitions_of_data <= 0 || request_.data == nullptr) {
            return;
        }
        const Offset at = offsets_(0);
        const auto got = context_.backend->read(at, context_.buffer->bytes());
        if (got && *got > 0) {
            const auto bytes = context_.buffer->bytes().first(static_cast<std::size_t>(*got));
            const auto found = request_.data->repetition_of(
                at, bytes, static_cast<std::uint64_t>(request_.repetitions_of_data));
            request_.data->set_repetition(found.value_or(0));
        }
    }

    [[nodiscard]] bool repeats_again() {
        const bool mine =
            measure::seconds_of(last_ - first_) < static_cast<double>(o_.duration_min_seconds);
        if (!together_) {
            return mine && !out_.error;
        }
        return context_.session->from_first(mine && !out_.error ? 1 : 0) != 0;
    }

    // All go on to what the fastest did before the wall, so that what was written can be read.
    std::int64_t wear_out(std::int64_t done, std::int64_t count) {
        out_.times.stonewall_seconds = measure::seconds_of(last_ - first_);
        out_.times.stonewall_transfers = done;
        if (!o_.wear_out) {
            return done;
        }
        wall_ = 0;
        working(0);
        const std::int64_t goal = std::min(context_.session->most(done), count);
        working(1);
        return run_to(done, goal);
    }

    // From transfer `done` up to `count`, the wall or the first error; what was reached.
    std::int64_t run_to(std::int64_t done, std::int64_t count) {
        for (; done < count; ++done) {
            if (wall_ != 0 && stops_here()) {
                break;
            }
            const Offset at = offsets_(done);
            const auto moved = writes_ ? write_one(at) : read_one(at);
            if (!plain_) {
                after(moved);
            }
            const std::int64_t now = measure::now_ns();
            out_.latency.record(now - last_);
            if (!o_.operations_prefix.empty()) {
                note_operation(now);
            }
            last_ = now;
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
            if (out_.wrong > 0 && o_.quit_on_error && !together_) {
                break;
            }
        }
        return done;
    }

    [[nodiscard]] bool stops_here() const {
        const bool mine = last_ >= wall_;
        return together_ ? context_.session->from_first(mine ? 1 : 0) != 0 : mine;
    }

    Result<std::int64_t> write_one(Offset at) {
        auto moved = context_.backend->write(at, request_.data->at(at));
        if (moved && *moved < context_.geometry.transfer_bytes) [[unlikely]] {
            return failure(
                {ErrorCode::no_space, 0,
                 fmt::format("cannot write {} at offset {} (only {} of {} bytes were "
                             "taken). Free space there or write to another directory.",
                             request_.path, at.bytes(), *moved, context_.geometry.transfer_bytes)});
        }
        return moved;
    }

    Result<std::int64_t> read_one(Offset at) {
        auto moved = context_.backend->read(at, context_.buffer->bytes());
        if (!moved) {
            return moved;
        }
        if (*moved < static_cast<std::int64_t>(context_.buffer->size())) {
            return failure({ErrorCode::input_output, 0,
                            fmt::format("cannot read {} at offset {} (the file ends {} bytes "
                                        "later). Write it with the same -b, -s, -t and -N, or "
                                        "with stoneWallingWearOut.",
                                        request_.path, at.bytes(), *moved)});
        }
        if (request_.data != nullptr) {
            compare(at, context_.buffer->bytes());
        }
        return moved;
    }

    void compare(Offset at, std::span<const std::byte> got) {
        if (const auto mismatch = request_.data->check(at, got)) {
            ++out_.wrong;
            if (out_.mismatches.size() < mismatches_max) {
                out_.mismatches.push_back(
                    fmt::format("{}, {}", request_.path, measure::describe(*mismatch)));
            }
        }
    }

    void after(const Result<std::int64_t>& moved) {
        if (moved && writes_ && o_.fsync_per_write) {
            keep(context_.backend->sync());
        }
        if (o_.delay_between_transfers_us > 0) {
            const timespec wait{o_.delay_between_transfers_us / 1'000'000,
                                (o_.delay_between_transfers_us % 1'000'000) * 1000};
            ::clock_nanosleep(CLOCK_MONOTONIC, 0, &wait, nullptr);
        }
    }

    void note_operation(std::int64_t now) {
        const double seconds = measure::seconds_of(now - last_);
        out_.operation_lines.push_back(
            fmt::format("{:.9f},{:.9f},{:.3f}\n", measure::seconds_of(last_ - begin_), seconds,
                        seconds > 0 ? static_cast<double>(o_.transfer_bytes) / seconds : 0.0));
    }

    const PhaseContext& context_;
    const PhaseRequest& request_;
    const ior::Options& o_;
    ior::Offsets offsets_;
    bool writes_;
    bool together_;
    bool plain_;
    bool opened_ = false;
    PhaseOutcome out_;
    std::int64_t begin_ = 0;
    std::int64_t first_ = 0;
    std::int64_t last_ = 0;
    std::int64_t wall_ = 0;
};

}  // namespace

PhaseOutcome run_phase(const PhaseContext& context, const PhaseRequest& request) {
    return PhaseRun(context, request).run();
}

}  // namespace forebay::bench
