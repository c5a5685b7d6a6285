// The loop of transfers, with its options, and the phase's clock.
#include "benchmarks/ior/program/phase.hpp"

#include "benchmarks/ior/program/queue.hpp"
#include "benchmarks/session/short_write.hpp"

#include <ctime>
#include <fmt/format.h>
#include <numeric>

namespace forebay::bench {

namespace {

constexpr std::size_t mismatches_max = 5;

// The phase's time in nanoseconds, without the intervals in which the clock is stopped.
class PhaseClock {
public:
    explicit PhaseClock(const measure::TransferClock& clock) : clock_(clock) {}
    [[nodiscard]] std::int64_t now() const noexcept { return clock_.now_ns() - stood_; }
    // Excludes the time since the reading `since`.
    void resume_at(std::int64_t since) noexcept { stood_ = clock_.now_ns() - since; }
    [[nodiscard]] std::int64_t stood() const noexcept { return stood_; }
    // Converts a time of this clock to the one that never stops.
    [[nodiscard]] std::int64_t real(std::int64_t now) const noexcept { return now + stood_; }

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
          writes_(request.purpose == PhasePurpose::write),
          together_(context.backend->together() || (syncs_each() && syncs_together())),
          clock_(*context.clock) {}

    PhaseOutcome run() {
        context_.session->barrier();
        begin_ = clock_.now();
        // Only needed if ranks share cores; else scheduling jitter of the reading would count.
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
            goal_of_all(0);  // the other ranks wait in this all-reduce
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

    // The watchdog does not count a barrier as a stall, since the rank waits for others.
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
        request.access = writes_ ? BackendAccess::write : BackendAccess::read;
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

    // Collective transfers need all ranks: none begins if one has failed to open the file.
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
        return o_.stonewall_seconds > 0 && request_.purpose != PhasePurpose::check;
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
        while (o_.duration_min_seconds > 0 && request_.purpose != PhasePurpose::check &&
               repeats_again(done)) {
            run_to(0, done);
        }
        out_.wall_transfers = done;
    }

    // Finds, by the first transfer, which repetition of an earlier run wrote this file.
    void find_repetition() {
        if (request_.repetitions_of_data <= 0 || request_.data == nullptr) {
            return;
        }
        const std::int64_t since = clock_.now();
        const Offset at = offsets_(0);
        const auto got = context_.backend->read(at, bytes());
        if (got && *got > 0) {
            request_.data->find_repetition(
                at, bytes().first(static_cast<std::size_t>(*got)),
                static_cast<std::uint64_t>(request_.repetitions_of_data));
        }
        clock_.resume_at(since);
    }

    // Whether to repeat the transfers for minTimeDuration. Not after the stonewall, and not if the
    // last pass moved nothing, since the clock would then not advance.
    [[nodiscard]] bool repeats_again(std::int64_t done) {
        const bool mine =
            done > 0 && !hit_wall_ && !out_.error && !quits() &&
            measure::seconds_of(last_ - first_) < static_cast<double>(o_.duration_min_seconds);
        return together_ ? context_.session->from_first(mine ? 1 : 0) != 0 : mine;
    }

    // -D with stoneWallingWearOut: every rank continues up to the number of transfers that the
    // fastest rank had done at the stonewall, so that the file can be read.
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

    // -q: ends after wrong data.
    [[nodiscard]] bool quits() const noexcept { return out_.wrong > 0 && o_.quit_on_error; }

    [[nodiscard]] std::size_t transfer_size() const noexcept {
        return static_cast<std::size_t>(context_.geometry.transfer_bytes);
    }
    [[nodiscard]] std::span<std::byte> bytes(std::size_t slot = 0) const noexcept {
        return context_.buffer->bytes().subspan(slot * transfer_size(), transfer_size());
    }

    // --rwmixpct: whether transfer `index` is a read; reads are spread evenly.
    [[nodiscard]] bool reads_instead(std::int64_t index) const noexcept {
        const std::int64_t percent = writes_ ? o_.own.read_percent : 0;
        const std::int64_t within = index % 100;
        return (within + 1) * percent / 100 != within * percent / 100;
    }

    // --limitwrite, --limitread: the earliest time, on the phase's clock, of the next transfer.
    [[nodiscard]] std::int64_t due_time(bool reads) const noexcept {
        const std::int64_t rate = reads ? o_.own.read_rate_max : o_.own.write_rate_max;
        if (rate <= 0 || request_.purpose == PhasePurpose::check) {
            return 0;
        }
        const double seconds =
            static_cast<double>(reads ? begun_read_ : begun_written_) / static_cast<double>(rate);
        const std::int64_t due = first_ + static_cast<std::int64_t>(seconds * 1e9);
        return wall_ != 0 ? std::min(due, wall_) : due;
    }
    void begins(bool reads) noexcept {
        (reads ? begun_read_ : begun_written_) += context_.geometry.transfer_bytes;
    }

    // The wait counts for the phase, but not for a transfer.
    void wait_for_turn(bool reads) {
        const std::int64_t due = due_time(reads);
        if (due > last_) {
            sleep_ns(due - last_);
            last_ = clock_.now();
        }
    }
    // A sleep is not a stall, as in meet().
    void sleep_ns(std::int64_t duration) const {
        const timespec wait{duration / 1'000'000'000, duration % 1'000'000'000};
        working(0);
        ::clock_nanosleep(CLOCK_MONOTONIC, 0, &wait, nullptr);
        working(1);
    }

    // Prepares the next transfer's offset and data; the clock is stopped from the end of the last
    // transfer until this returns.
    void prepare(std::int64_t index, std::int64_t count) {
        if (index < count) {
            at_ = offsets_(index);
            reads_now_ = !writes_ || reads_instead(index);
            if (!reads_now_ && request_.data != nullptr) {
                request_.data->fill(at_, bytes());
            }
        }
        clock_.resume_at(last_);
    }

    // Runs transfers from `done` up to `count`, the stonewall or the first error. Returns how many
    // are done.
    std::int64_t run_to(std::int64_t done, std::int64_t count) {
        if (o_.own.queue_depth > 1) {
            return queued_to(done, count);
        }
        last_ = clock_.now();
        for (prepare(done, count); done < count; prepare(++done, count)) {
            wait_for_turn(reads_now_);
            if (wall_ != 0 && stops_here()) {
                hit_wall_ = true;
                break;
            }
            begins(reads_now_);
            const auto moved = reads_now_ ? read_one() : write_one();
            if (syncs_each() && (moved || together_)) {
                keep(context_.backend->sync());
            }
            note_end(clock_.now());
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
            count_one(reads_now_, *moved);
            if (!writes_ && request_.data != nullptr) {
                compare(at_, bytes());
            }
            if (quits() && !together_) {
                break;
            }
        }
        return done;
    }

    [[nodiscard]] bool is_mixed(bool reads) const noexcept { return writes_ && reads; }

    void count_one(bool reads, std::int64_t moved) {
        (is_mixed(reads) ? out_.reads.bytes : out_.times.bytes) += moved;
        ++(is_mixed(reads) ? out_.reads.transfers : out_.times.transfers);
        context_.session->slot().did(moved);
    }

    void note_end(std::int64_t now) {
        note_latency(reads_now_, last_, now);
        last_ = now;
    }

    void note_latency(bool reads, std::int64_t began, std::int64_t ended) {
        (is_mixed(reads) ? out_.reads.latency : out_.latency).record(ended - began);
        if (!o_.operations_prefix.empty()) {
            note_operation(reads, began, ended);
        }
    }

    // --iodepth. The clock does not stop while data is generated, because transfers are in flight.
    struct Slot {
        Offset at;
        std::int64_t began = 0;
        bool reads = false;
    };

    std::int64_t queued_to(std::int64_t done, std::int64_t count) {
        auto queue = TransferQueue::make(o_.own.queue_depth, context_.backend->descriptor(),
                                         *context_.clock);
        if (!queue) {
            keep(queue);
            return done;
        }
        slots_.assign(static_cast<std::size_t>(o_.own.queue_depth), {});
        std::vector<std::size_t> free(slots_.size());
        std::iota(free.begin(), free.end(), std::size_t{0});
        bool walled = false;  // a later call may continue after the stonewall
        for (;;) {
            last_ = clock_.now();
            walled = walled || (wall_ != 0 && last_ >= wall_);
            hit_wall_ = hit_wall_ || walled;
            const bool goes_on = done < count && !walled && !out_.error && !quits();
            if (!goes_on && free.size() == slots_.size()) {
                return done;
            }
            const bool reads = !writes_ || reads_instead(done);
            const std::int64_t due = goes_on ? due_time(reads) : 0;
            const bool may = goes_on && !free.empty() && due <= last_;
            if (may) {
                if (start(**queue, free.back(), done, reads)) {
                    free.pop_back();
                    ++done;
                }
                continue;
            }
            if (free.size() == slots_.size()) {
                wait_for_turn(reads);
                continue;
            }
            if (!wait_for_one(**queue, goes_on && !free.empty() ? clock_.real(due) : 0, free)) {
                return done;
            }
        }
    }

    // Waits until `until` at most (0: without a limit). False: waiting failed, and the error is
    // kept.
    bool wait_for_one(TransferQueue& queue, std::int64_t until, std::vector<std::size_t>& free) {
        const auto ended = queue.wait(until);
        if (!ended) {
            keep(ended);
            return false;
        }
        if (*ended) {
            end(**ended);
            free.push_back((*ended)->slot);
        }
        return true;
    }

    // True if the transfer is in flight; otherwise the error is kept.
    bool start(TransferQueue& queue, std::size_t slot, std::int64_t index, bool reads) {
        // Small, so that completions in between are noticed soon.
        constexpr std::size_t piece = 65536;
        Slot& one = slots_[slot];
        one.at = offsets_(index);
        one.reads = reads;
        if (!reads && request_.data != nullptr) {
            const std::size_t step = request_.data->in_pieces() ? piece : transfer_size();
            for (std::size_t at = 0; at < transfer_size(); at += step) {
                const std::size_t size = std::min(step, transfer_size() - at);
                request_.data->fill(one.at + Length{static_cast<std::int64_t>(at)},
                                    bytes(slot).subspan(at, size));
                queue.note();
            }
        }
        begins(reads);
        one.began = clock_.now();
        const auto way = reads ? TransferQueue::Way::read : TransferQueue::Way::write;
        const auto submitted = queue.submit(way, slot, one.at, bytes(slot));
        keep(submitted);
        return submitted.has_value();
    }

    void end(const TransferQueue::Finished& ended) {
        const Slot& one = slots_[ended.slot];
        note_latency(one.reads, one.began, ended.ended_ns - clock_.stood());
        const auto moved = rest_of(one, ended);
        if (!moved) {
            keep(moved);
            return;
        }
        count_one(one.reads, *moved);
        if (!writes_ && request_.data != nullptr) {
            compare(one.at, bytes(ended.slot));
        }
    }

    // Finishes a short transfer through the back end, which also reports an error.
    Result<std::int64_t> rest_of(const Slot& one, const TransferQueue::Finished& ended) {
        const auto size = static_cast<std::int64_t>(transfer_size());
        if (ended.result == size) [[likely]] {
            return size;
        }
        const std::int64_t done = std::max<std::int64_t>(ended.result, 0);
        const Offset at = one.at + Length{done};
        const auto left = bytes(ended.slot).subspan(static_cast<std::size_t>(done));
        const auto moved = one.reads ? read_part(at, left) : write_part(at, left);
        return moved.map([done](std::int64_t more) { return done + more; });
    }

    [[nodiscard]] bool stops_here() const {
        const bool mine = last_ >= wall_;
        return together_ ? context_.session->from_first(mine ? 1 : 0) != 0 : mine;
    }

    Result<std::int64_t> write_one() { return write_part(at_, bytes()); }
    Result<std::int64_t> read_one() { return read_part(at_, bytes()); }

    Result<std::int64_t> write_part(Offset at, std::span<const std::byte> from) {
        auto moved = context_.backend->write(at, from);
        if (moved && *moved < static_cast<std::int64_t>(from.size())) [[unlikely]] {
            return failure(short_write(request_.path, at.bytes(), *moved, from.size()));
        }
        return moved;
    }

    Result<std::int64_t> read_part(Offset at, std::span<std::byte> to) {
        auto moved = context_.backend->read(at, to);
        if (moved && *moved < static_cast<std::int64_t>(to.size())) {
            return failure({ErrorCode::input_output, 0,
                            fmt::format("cannot read {} at offset {} (the file ends {} bytes "
                                        "later). Write it with the same -b, -s, -t and -N, or "
                                        "with stoneWallingWearOut.",
                                        request_.path, at.bytes(), *moved)});
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
            if (out_.wrong == 1) {
                out_.origin = request_.data->origin(at, got);
            }
        }
    }

    // The delay counts for the phase, but not for a transfer.
    void delay() {
        sleep_ns(o_.delay_between_transfers_us * 1000);
        last_ = clock_.now();
    }

    void note_operation(bool reads, std::int64_t began, std::int64_t ended) {
        const double seconds = measure::seconds_of(ended - began);
        (is_mixed(reads) ? out_.reads.operation_lines : out_.operation_lines)
            .push_back(
                fmt::format("{:.9f},{:.9f},{:.3f}", measure::seconds_of(began - begin_), seconds,
                            seconds > 0 ? static_cast<double>(o_.transfer_bytes) / seconds : 0.0));
    }

    const PhaseContext& context_;
    const PhaseRequest& request_;
    const ior::IorOptions& o_;
    ior::TransferOffsets offsets_;
    bool writes_;
    bool together_;  // every rank makes the same calls, even after an error
    bool opened_ = false;
    PhaseOutcome out_;
    PhaseClock clock_;
    Offset at_;
    bool reads_now_ = false;
    std::vector<Slot> slots_;
    std::int64_t begun_read_ = 0;  // bytes of the transfers that have started
    std::int64_t begun_written_ = 0;
    std::int64_t begin_ = 0;
    std::int64_t first_ = 0;
    std::int64_t last_ = 0;  // end of the last transfer and its delay
    std::int64_t wall_ = 0;
    bool hit_wall_ = false;
};

}  // namespace

PhaseOutcome run_phase(const PhaseContext& context, const PhaseRequest& request) {
    return PhaseRun(context, request).run();
}

}  // namespace forebay::bench
