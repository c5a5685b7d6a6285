// Hands what this node drains over to the node that writes for it (setting pool_writers). An offer
// is in one of three states:
//
//   offered ──accepted──▶ handed over ──written──▶ the caller is told
//      │ refused, wrong file, too late     │ the other daemon has ended
//      ▼                                   ▼
//   the caller writes the bytes itself ◀───┘
//
// Once the bytes were sent, only the other daemon's answer or its end
// (HandoverTransport::has_ended) says that it does not write them any more. Until then they are
// handed over, however long that takes: if they were written here as well, a late write there could
// overwrite newer bytes (docs/decisions/0058-few-nodes-write-for-all.md).
#pragma once

#include "foundation/ports/clock.hpp"
#include "foundation/ports/storage.hpp"
#include "pool/cluster/transport/handover_transport.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

namespace forebay::cluster {

// A file whose bytes are handed over, and the path by which the other node opens it.
struct FileForOthers {
    protocol::HandedFile identity;
    std::string path;
};

class HandoverClient {
public:
    // Offers at a time, of all files.
    static constexpr std::size_t offers_max = 48;
    // An offer that is not accepted for this long is taken back: the writer may hang at its file
    // system, or have more than it can write.
    static constexpr std::int64_t accepted_within_ns = 10'000'000'000;

    // The transport and the clock outlive this object. `writer` is another node.
    HandoverClient(HandoverTransport& post, tokens::Node writer, const ports::TimeSource& clock)
        : post_{post}, writer_{writer}, clock_{clock} {}

    struct Outcome {
        enum class Kind {
            written,     // the first `bytes` bytes; `error` (errno) stopped the rest
            not_now,     // nothing of it is or will be written there
            wrong_file,  // the same, and it is so with each offer of this file
        };
        Kind kind = Kind::not_now;
        Length bytes{};
        int error = 0;
    };

    // Whether the writer can be reached.
    [[nodiscard]] bool is_open() { return post_.reachable(writer_); }
    // False: there are as many offers as there may be.
    [[nodiscard]] bool has_place() const noexcept { return offers_.size() < offers_max; }
    // Offers the pieces, whose memory must live until take() has returned an outcome, or forget()
    // is called. Returns a number for both. Contract: is_open(), has_place(), and the pieces fit an
    // offer.
    [[nodiscard]] std::uint64_t offer(const FileForOthers& file,
                                      std::span<const ports::Piece> pieces);
    // The outcome, once.
    [[nodiscard]] std::optional<Outcome> take(std::uint64_t number);
    // Nobody wants the outcome any more, and the memory is used no longer.
    void forget(std::uint64_t number);

    // Takes what the writer has said. True if anything was done.
    bool run_once();

    // Bytes that the writer has written.
    [[nodiscard]] std::int64_t bytes() const noexcept { return bytes_; }
    // Bytes that were handed over to a writer that has been silent for too long.
    struct StuckBytes {
        std::string node;
        std::int64_t bytes = 0;
        std::string path{};  // of one of the files
    };
    [[nodiscard]] std::optional<StuckBytes> stuck();

private:
    struct Offer {
        std::string path;
        std::span<const ports::Piece> pieces;
        std::int64_t bytes = 0;
        std::int64_t since_ns = 0;
        bool handed_over = false;
        std::optional<Outcome> outcome;
    };
    void take_reply(const protocol::HandoverReply& reply);
    void hand_over(std::uint64_t number, Offer& offer);
    bool give_up_what_can_be();

    HandoverTransport& post_;
    tokens::Node writer_;
    const ports::TimeSource& clock_;
    std::map<std::uint64_t, Offer> offers_;
    std::uint64_t next_ = 1;
    std::int64_t bytes_ = 0;
};

}  // namespace forebay::cluster
