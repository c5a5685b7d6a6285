// Requests bytes of files from other nodes, instead of the file system. Where few nodes read a file
// for all (setting pool_readers), the others get its bytes along a tree of nodes; where that fails,
// they read the file themselves.
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

// The requests of this node to others.
class PeerReadClient final : public pool::PeerBytes {
public:
    // Returns the node that passes a file on to this one, its parent in the tree; grant 0: there is
    // none.
    using Parents = std::function<tokens::Parent(tokens::FileKey)>;

    // The transport outlives this object.
    PeerReadClient(PeerTransport& post, Parents parents)
        : post_{post}, parents_{std::move(parents)} {}

    struct ReadWish {
        tokens::FileKey file;
        ports::ChangeStamp seen;  // length and times of the file when it was opened
        ports::Piece piece;
    };
    // Requests the bytes of one piece, and returns a number for take() and forget(). nullopt: no
    // node passes the file on to this one. The piece's memory must live until take() has returned
    // an outcome, or forget() is called.
    [[nodiscard]] std::optional<std::uint64_t> ask(const ReadWish& wish);
    [[nodiscard]] std::optional<Outcome> take(std::uint64_t number) override;
    void forget(std::uint64_t number) override { asked_.erase(number); }

    // Takes parts that have arrived. True when anything was done.
    bool run_once();
    // How many bytes have arrived.
    [[nodiscard]] std::int64_t bytes() const noexcept { return bytes_; }

private:
    struct Asked {
        // The parent, the memory for the bytes, and how many of them have arrived.
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

// A storage that reads the file through other nodes where possible, and else from `own`. `passed`
// outlives it.
[[nodiscard]] std::unique_ptr<ports::FileStorage> read_by(
    std::unique_ptr<ports::FileStorage> own, PeerReadClient& passed, tokens::FileKey file,
    std::shared_ptr<const ports::ChangeStamp> seen);

}  // namespace forebay::cluster
