// Receives the bytes that other nodes pass on to this one. Where few nodes read a file for all, the
// rest get its bytes from each other, and read the file themselves where that fails.
#pragma once

#include "foundation/ports/stamp.hpp"
#include "foundation/ports/storage.hpp"
#include "pool/cluster/tokens/token.hpp"
#include "pool/cluster/transport/peer_transport.hpp"
#include "pool/core/prefetch/peer_storage.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace forebay::cluster {

// Everything that this node has asked others for.
class PeerReadClient final : public pool::PassedBytes {
public:
    // The node that passes a file on to this one; grant 0: none.
    using Parents = std::function<tokens::Parent(tokens::FileKey)>;

    // The transport outlives it.
    PeerReadClient(PeerTransport& post, Parents parents)
        : post_{post}, parents_{std::move(parents)} {}

    struct TokenWish {
        tokens::FileKey file;
        ports::ChangeStamp seen;  // the file's stamp when it was opened
        ports::Piece piece;
    };
    // A number for it; nullopt: nobody passes the file on to this node. The memory must live until
    // take() or forget().
    [[nodiscard]] std::optional<std::uint64_t> ask(const TokenWish& wish);
    [[nodiscard]] std::optional<Outcome> take(std::uint64_t number) override;
    void forget(std::uint64_t number) override { asked_.erase(number); }

    // Takes what has come. True when anything was done.
    bool run_once();
    // Bytes that have come.
    [[nodiscard]] std::int64_t bytes() const noexcept { return bytes_; }

private:
    struct Asked {
        tokens::Node of = 0;
        std::span<std::byte> to;
        std::size_t got = 0;
        std::optional<Outcome> outcome;
    };
    void take_part(tokens::Node from, const protocol::PeerReadPart& part);

    PeerTransport& post_;
    Parents parents_;
    std::map<std::uint64_t, Asked> asked_;
    std::uint64_t next_ = 1;
    std::int64_t bytes_ = 0;
};

// The file, by what others pass on, and by itself. `passed` outlives it.
[[nodiscard]] std::unique_ptr<ports::FileStorage> read_by(
    std::unique_ptr<ports::FileStorage> own, PeerReadClient& passed, tokens::FileKey file,
    std::shared_ptr<const ports::ChangeStamp> seen);

}  // namespace forebay::cluster
