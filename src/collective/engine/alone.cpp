// No piece costs an allocation: the channel uses its lists of pieces again.
#include "collective/engine/alone.hpp"

#include "collective/engine/cutter.hpp"
#include "collective/plan/agreement.hpp"
#include "collective/plan/plan.hpp"
#include "collective/plan/summary.hpp"

#include <algorithm>

namespace forebay::transfer {

namespace {

// A source of requests that name the program's memory itself, with many pieces in each request.
class PieceSource final : public RequestSource {
public:
    PieceSource(const pattern::WindowedTransfer& transfer, const Extent& span)
        : transfer_{transfer}, rest_{span} {}

    std::optional<TargetId> next(std::vector<ports::Piece>& pieces) override {
        pieces.clear();
        const std::size_t count = rest_.empty() ? 0 : transfer_.runs(rest_, runs_);
        if (count == 0) {
            return std::nullopt;
        }
        for (std::size_t i = 0; i < count; ++i) {
            const pattern::MemoryRun& run = runs_[i];
            pieces.push_back({run.at, {run.bytes, static_cast<std::size_t>(run.length)}});
        }
        const Offset end = rest_.end();
        const Offset begin = runs_[count - 1].at + Length{runs_[count - 1].length};
        rest_ = Extent{begin, end - begin};
        return TargetId{0};
    }

private:
    const pattern::WindowedTransfer& transfer_;
    Extent rest_;
    std::array<pattern::MemoryRun, CutLimits::pieces_max> runs_{};
};

// A source of a single request.
class OneRequest final : public RequestSource {
public:
    explicit OneRequest(const ports::Piece& piece) : piece_{piece} {}

    std::optional<TargetId> next(std::vector<ports::Piece>& pieces) override {
        pieces.clear();
        if (!piece_) {
            return std::nullopt;
        }
        pieces.push_back(*piece_);
        piece_.reset();
        return TargetId{0};
    }

private:
    std::optional<ports::Piece> piece_;
};

void finish(Channel& channel) {
    while (!channel.finished(0)) {
        if (!channel.run_once() && channel.in_flight() > 0) {
            channel.block();
        }
    }
}

OwnMove outcome(const Channel& channel, const OwnRequest& request) {
    OwnMove move;
    move.failure = channel.failure();
    move.requests = channel.requests();
    move.busy_ns = channel.busy_ns();
    plan::AgreementVote verdict;
    verdict.failure = move.failure;
    move.bytes = plan::bytes_moved(*request.view, request.range, verdict, channel.end_of_file());
    return move;
}

Extent span_of(const OwnRequest& request) noexcept {
    const Offset begin = request.view->offset_of(request.range.position);
    const Offset last = request.view->offset_of(request.range.position + request.range.length - 1);
    return {begin, last - begin + Length{1}};
}

}  // namespace

bool reads_by_windows(std::int64_t bytes, std::int64_t shortest, std::int64_t span) noexcept {
    return shortest < OwnMover::short_bytes && bytes > shortest &&
           span / OwnMover::sparsest <= bytes;
}

OwnMove OwnMover::by_pieces(const OwnRequest& request, IoDirection direction) {
    const pattern::WindowedTransfer transfer{*request.view, request.range, request.memory};
    FixedGate gate{1, plan::unlimited_requests_in_flight};
    Channel channel{storage_, gate, clock_, {direction, 1, ChannelPace::at_once}};
    channel.begin(0, std::make_unique<PieceSource>(transfer, span_of(request)));
    finish(channel);
    return outcome(channel, request);
}

// Data sieving: the bytes between the pieces are read, too, and dropped.
OwnMove OwnMover::by_windows(const OwnRequest& request, const Extent& span) {
    const pattern::WindowedTransfer transfer{*request.view, request.range, request.memory};
    FixedGate gate{1, plan::unlimited_requests_in_flight};
    Channel channel{storage_, gate, clock_, {IoDirection::read, 1, ChannelPace::at_once}};
    window_.resize(static_cast<std::size_t>(window_bytes));
    Offset at = span.begin;
    while (at < span.end() && !channel.failure().happened() &&
           channel.end_of_file() == plan::FirstFailure::nowhere) {
        const Length length{std::min(window_bytes, (span.end() - at).bytes())};
        const auto image = std::span{window_}.first(length.size());
        channel.begin(0, std::make_unique<OneRequest>(ports::Piece{at, image}));
        finish(channel);
        const std::int64_t good =
            std::min({(at + length).bytes(), channel.end_of_file(), channel.failure().at});
        transfer.scatter({at, length}, image.first(static_cast<std::size_t>(good - at.bytes())));
        at = request.view->next_at(at + length);
    }
    return outcome(channel, request);
}

OwnMove OwnMover::write(const OwnRequest& request) {
    expects(request.range.length > 0, "there is something to write");
    return by_pieces(request, IoDirection::write);
}

OwnMove OwnMover::read(const OwnRequest& request) {
    expects(request.range.length > 0, "there is something to read");
    const plan::Summary asked = plan::summarise(*request.view, request.range,
                                                plan::memory_piece(request.memory, request.range));
    const std::int64_t shortest =
        std::min(asked.shortest_piece, plan::memory_piece(request.memory, request.range));
    return reads_by_windows(asked.bytes, shortest, asked.span().length.bytes())
               ? by_windows(request, asked.span())
               : by_pieces(request, IoDirection::read);
}

}  // namespace forebay::transfer
