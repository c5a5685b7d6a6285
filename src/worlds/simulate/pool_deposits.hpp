// A program's side of the pool without its bytes: the protocol of pool/client/log_writer.hpp on a
// real log, where copying is charged instead of done. It skips only cases that one thread without
// signals cannot meet.
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
    // The client is admitted; `ports` are those of the rank that it is.
    ImaginedLogWriter(PoolNode& node, std::uint32_t client, pool::Log log,
                      adapters::RankPorts& ports)
        : node_{node}, client_{client}, log_{log}, ports_{ports} {}

    // Bytes that are acknowledged; fewer where the file is not in the pool (any more): the rest
    // goes to the file system directly, once settle() has returned.
    [[nodiscard]] std::int64_t write(pool::FileId file, const Extent& what);
    // Until the file may be written directly.
    void settle(pool::FileId file);

    // Seconds in which it waited for room: for the file's window, or for memory of the cap.
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
    std::int64_t committed_bytes_ = 0;  // since the daemon last had taken all
    double waited_ = 0;
};

}  // namespace forebay::sim
