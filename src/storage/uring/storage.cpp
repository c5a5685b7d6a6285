// A request is submitted in batches of up to four contiguous runs. The next batch follows when the
// last has completed, so that a completion can always say "the first n bytes were moved".
//
//   request   run run run run │ run run
//   ring      └──── batch ────┘ └batch┘
#include "storage/uring/storage.hpp"

#include "foundation/ports/completions.hpp"
#include "storage/posix/transfer.hpp"
#include "storage/uring/ring.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <sys/uio.h>
#include <unistd.h>
#include <vector>

namespace forebay::adapters {

namespace {

constexpr std::size_t requests_max = 16;
constexpr std::size_t batch_max = 4;
constexpr unsigned ring_entries = requests_max * batch_max;
// Requests whose runs are smaller than this on average are done synchronously.
constexpr std::size_t small_bytes = std::size_t{64} << 10U;
constexpr std::size_t run_pieces_max = 256;

// Whether the runs of a request are large enough on average for another thread to be worth it.
bool worth_the_ring(std::span<const ports::Piece> pieces) noexcept {
    std::size_t bytes = 0;
    std::size_t runs = 0;
    for (std::size_t first = 0; first < pieces.size(); ++runs) {
        const PieceRun run = run_from(pieces, first, run_pieces_max);
        bytes += run.bytes;
        first = run.last;
    }
    return runs > 0 && bytes / runs >= small_bytes;
}

}  // namespace

class UringStorage::Ring {
public:
    Ring(std::unique_ptr<KernelRing> kernel, int fd, SubmitterKind caller) noexcept
        : kernel_{std::move(kernel)}, fd_{fd}, caller_{caller}, owner_{::getpid()} {}
    Ring(const Ring&) = delete;
    Ring& operator=(const Ring&) = delete;
    ~Ring() {
        leave_if_forked();
        while (asked_ > 0) {
            answered(kernel_->wait());
        }
    }

    [[nodiscard]] std::size_t in_flight() {
        leave_if_forked();
        return in_flight_;
    }

    void submit(const ports::Request& request) {
        expects(in_flight() < requests_max, "the depth is not exceeded");
        ++in_flight_;
        const bool small = caller_ == SubmitterKind::may_wait &&
                           (request.at_once || !worth_the_ring(request.pieces));
        if (!kernel_ || small) {
            finished_.push_back(transfer(fd_, request));
            return;
        }
        const auto slot = std::ranges::find_if(slots_, [](const Slot& one) { return !one.used; });
        slot->used = true;
        slot->request = request;
        slot->next = 0;
        slot->moved = 0;
        start_batch(*slot);
    }

    std::size_t take(std::span<ports::RequestCompletion> out) {
        leave_if_forked();
        KernelRing::Answer answer;
        while (asked_ > 0 && kernel_->take(answer)) {
            answered(answer);
        }
        const std::size_t count = ports::take_oldest(finished_, out);
        in_flight_ -= count;
        return count;
    }

    std::size_t wait(std::span<ports::RequestCompletion> out) {
        expects(in_flight() > 0 && !out.empty(), "only what is in flight can complete");
        std::size_t count = take(out);
        while (count == 0) {
            answered(kernel_->wait());
            count = take(out);
        }
        return count;
    }

private:
    struct Step {
        PieceRun run;
        int result = 0;
    };
    struct Slot {
        ports::Request request;
        std::size_t next = 0;    // first piece that has not been in a batch
        std::int64_t moved = 0;  // by completed batches
        std::array<Step, batch_max> steps;
        std::size_t begun = 0;  // runs in this batch
        std::size_t outstanding = 0;
        std::vector<iovec> vectors;  // of this batch
        bool used = false;
    };

    // A forked child shares the ring's memory with its parent: a completion that the child took
    // would be lost to the parent. Requests in flight, and their completions, remain the parent's.
    // If the child goes on to use the file, it does so without a ring.
    void leave_if_forked() {
        if (owner_ != ::getpid()) {
            owner_ = ::getpid();
            kernel_.reset();
            finished_.clear();
            in_flight_ = 0;
            asked_ = 0;
        }
    }

    void start_batch(Slot& slot) {
        const std::span<const ports::Piece> pieces = slot.request.pieces;
        slot.begun = 0;
        slot.vectors.clear();
        // Must not reallocate: submitted entries point into it.
        slot.vectors.reserve(batch_max * run_pieces_max);
        while (slot.begun < batch_max && slot.next < pieces.size()) {
            const PieceRun run = run_from(pieces, slot.next, run_pieces_max);
            slot.steps.at(slot.begun) = {run, 0};
            enter(slot, slot.begun);
            slot.next = run.last;
            ++slot.begun;
        }
        slot.outstanding = slot.begun;
        asked_ += slot.begun;
        kernel_->submit();
    }

    // Sets IOSQE_ASYNC: without it, a buffered write is done synchronously in the submitting call.
    void enter(Slot& slot, std::size_t step) {
        const PieceRun& run = slot.steps.at(step).run;
        const auto pieces = slot.request.pieces.subspan(run.first, run.last - run.first);
        const auto at = static_cast<std::uint64_t>(pieces.front().at.bytes());
        const bool writes = slot.request.direction == IoDirection::write;
        const std::size_t begin = slot.vectors.size();
        for (const ports::Piece& piece : pieces) {
            slot.vectors.push_back({piece.bytes.data(), piece.bytes.size()});
        }
        io_uring_sqe& entry = kernel_->entry();
        const auto count = static_cast<unsigned>(pieces.size());
        if (writes) {
            ::io_uring_prep_writev(&entry, fd_, slot.vectors.data() + begin, count, at);
        } else {
            ::io_uring_prep_readv(&entry, fd_, slot.vectors.data() + begin, count, at);
        }
        ::io_uring_sqe_set_flags(&entry, IOSQE_ASYNC);
        const auto number = static_cast<std::size_t>(&slot - slots_.data());
        ::io_uring_sqe_set_data64(&entry, number * batch_max + step);
    }

    void answered(const KernelRing::Answer& answer) {
        --asked_;
        Slot& slot = slots_.at(answer.data / batch_max);
        slot.steps.at(answer.data % batch_max).result = answer.result;
        if (--slot.outstanding == 0) {
            end_batch(slot);
        }
    }

    // Counts the bytes up to the first incomplete run. Bytes of later runs may have been moved; the
    // caller's next request moves them again, which is harmless.
    void end_batch(Slot& slot) {
        int system = 0;
        bool whole = true;
        for (std::size_t i = 0; i < slot.begun && whole; ++i) {
            const Step& step = slot.steps.at(i);
            system = step.result < 0 ? -step.result : 0;
            slot.moved += std::max(step.result, 0);
            whole = step.result >= 0 && static_cast<std::size_t>(step.result) == step.run.bytes;
        }
        if (whole && slot.next < slot.request.pieces.size()) {
            start_batch(slot);
            return;
        }
        finished_.push_back({slot.request.ticket, Length{slot.moved}, system});
        slot.used = false;
    }

    std::unique_ptr<KernelRing> kernel_;  // null in a forked child
    int fd_;
    SubmitterKind caller_;
    pid_t owner_;  // the process whose requests are counted
    std::array<Slot, requests_max> slots_;
    std::vector<ports::RequestCompletion> finished_;
    std::size_t in_flight_ = 0;  // requests
    std::size_t asked_ = 0;      // entries submitted to the kernel
};

bool uring_allowed() {
    const auto ring = KernelRing::create(1);
    return ring.has_value() && (*ring)->knows_transfers();
}

Result<std::unique_ptr<UringStorage>> UringStorage::create(OwnFd& fd, std::string path,
                                                           SubmitterKind caller) {
    auto kernel = KernelRing::create(ring_entries);
    const int system = kernel ? (*kernel)->knows_transfers() ? 0 : ENOSYS : kernel.error();
    if (system != 0) {
        return failure(Error{ErrorCode::unsupported, system,
                             "cannot use io_uring (errno " + std::to_string(system) +
                                 ": old kernel, kernel.io_uring_disabled, a container's seccomp "
                                 "filter or the limit on locked memory). Set storage = "
                                 "\"automatic\" or \"posix\"."});
    }
    auto ring = std::make_unique<Ring>(std::move(*kernel), fd.get(), caller);
    return std::unique_ptr<UringStorage>{
        // NOLINTNEXTLINE(cppcoreguidelines-owning-memory): the constructor is private
        new UringStorage{std::move(fd), std::move(path), std::move(ring)}};
}

UringStorage::UringStorage(OwnFd fd, std::string path, std::unique_ptr<Ring> ring) noexcept
    : DescriptorStorage{std::move(fd), std::move(path)}, ring_{std::move(ring)} {}

UringStorage::~UringStorage() = default;

int UringStorage::depth() const noexcept { return requests_max; }

void UringStorage::submit(const ports::Request& request) { ring_->submit(request); }

std::size_t UringStorage::poll(std::span<ports::RequestCompletion> out) {
    return ring_->in_flight() == 0 ? 0 : ring_->take(out);
}

std::size_t UringStorage::wait(std::span<ports::RequestCompletion> out) { return ring_->wait(out); }

std::size_t UringStorage::in_flight() { return ring_->in_flight(); }

}  // namespace forebay::adapters
