// A client's writes into the pool without data: the protocol of pool/client/log_writer.hpp on a
// real log, with copying charged as virtual time. It omits only the cases that need several threads
// or signals.
#pragma once

#include "pool/client/daemon.hpp"
#include "pool/protocol/directory.hpp"
#include "pool/protocol/log.hpp"
#include "worlds/simgrid/world.hpp"
#include "worlds/simulate/pool_node.hpp"

#include <cstdint>
#include <optional>

namespace forebay::sim {

class ImaginedLogWriter {
public:
    // `client` has been admitted; `ports` are those of its rank.
    ImaginedLogWriter(PoolNode& node, std::uint32_t client, pool::Log log,
                      adapters::RankPorts& ports)
        : node_{node}, client_{client}, log_{log}, ports_{ports} {}

    // Returns the number of bytes acknowledged. If the file is not in the pool any more, that is
    // fewer; the rest must be written to the file system directly, after settle() has returned.
    [[nodiscard]] std::int64_t write(pool::FileId file, const Extent& what);
    // Waits until the file may be written directly.
    void settle(pool::FileId file);

    // Seconds spent waiting for room: for the file's window, or for memory under the pool's limit.
    [[nodiscard]] double waited() const noexcept { return waited_; }

private:
    struct Piece {
        Extent extent;
        std::uint64_t position = 0;
        std::int64_t time_ns = 0;
        std::int64_t waited_ns = 0;
    };
    [[nodiscard]] bool pooled(pool::FileId file) const;
    [[nodiscard]] bool wait_for_window(pool::FileId file, std::int64_t bytes, Piece& piece);
    [[nodiscard]] std::int64_t uncounted_bytes();
    [[nodiscard]] std::optional<std::uint64_t> begin_entry(pool::FileId file, const Piece& piece);
    [[nodiscard]] bool deposit(pool::FileId file, const Piece& piece);
    void abandon(pool::FileId file, const Piece& piece);
    [[nodiscard]] std::int64_t sleep(const ports::Word& word, std::uint32_t seen);

    PoolNode& node_;
    std::uint32_t client_;
    pool::Log log_;
    adapters::RankPorts& ports_;
    std::int64_t committed_bytes_ = 0;  // since the daemon last had taken all entries
    double waited_ = 0;
};

}  // namespace forebay::sim
