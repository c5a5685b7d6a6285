// A client's reads through the pool: the real reader and read-ahead policy. The bytes that it
// copies are zeros shared by all; the copying is charged as virtual time.
#pragma once

#include "pool/client/log_writer.hpp"
#include "pool/client/readahead/read_ahead_policy.hpp"
#include "pool/client/reader.hpp"
#include "worlds/simgrid/world.hpp"
#include "worlds/simulate/node_daemon.hpp"
#include "worlds/simulate/pool_node.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace forebay::sim {

// A rank's reads past the pool.
class DirectReads final : public pool::BackingFile {
public:
    // `bytes` is the size of the file.
    DirectReads(ports::FileStorage& storage, std::int64_t bytes)
        : storage_{storage}, bytes_{bytes} {}
    ~DirectReads() = default;
    std::int64_t read(std::int64_t offset, std::span<std::byte> into) noexcept override;

    [[nodiscard]] std::int64_t moved() const noexcept { return moved_; }
    [[nodiscard]] std::int64_t requests() const noexcept { return requests_; }

private:
    ports::FileStorage& storage_;
    std::int64_t bytes_;
    std::int64_t moved_ = 0;
    std::int64_t requests_ = 0;
};

class ImaginedReader {
public:
    // `client` has been admitted; `ports` are those of its rank.
    ImaginedReader(PoolNode& node, std::uint32_t client, pool::Log log, adapters::RankPorts& ports);

    // Reads the whole file in pieces of the size of `scratch`.
    void read(pool::FileId file, std::int64_t bytes, DirectReads& direct,
              std::span<std::byte> scratch);

private:
    adapters::RankPorts& ports_;
    NodeDaemon daemon_;
    pool::LogWriter wishes_;
    pool::PoolReader reader_;
    pool::ReadAheadPolicy guess_;
};

}  // namespace forebay::sim
