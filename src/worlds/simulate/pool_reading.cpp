// Reads of a file, past the pool and through it.
#include "worlds/simulate/pool_reading.hpp"

#include <algorithm>
#include <array>

namespace forebay::sim {

// As pread: one synchronous request.
std::int64_t DirectReads::read(std::int64_t offset, std::span<std::byte> into) noexcept {
    const std::int64_t length =
        std::clamp<std::int64_t>(bytes_ - offset, 0, static_cast<std::int64_t>(into.size()));
    if (length == 0) {
        return 0;
    }
    const std::array pieces{
        ports::Piece{Offset{offset}, into.first(static_cast<std::size_t>(length))}};
    ports::Request request;
    request.direction = IoDirection::read;
    request.pieces = pieces;
    storage_.submit(request);
    std::array<ports::RequestCompletion, 1> done;
    storage_.wait(done);
    ++requests_;
    moved_ += length;
    return length;
}

ImaginedReader::ImaginedReader(PoolNode& node, std::uint32_t client, pool::Log log,
                               adapters::RankPorts& ports)
    : ports_{ports},
      daemon_{node, ports},
      wishes_{node.directory(), log, client, daemon_},
      reader_{node.directory(),
              daemon_,
              {.hint_writer = &wishes_, .client = client, .blocks = node.clean_memory()}} {}

void ImaginedReader::read(pool::FileId file, std::int64_t bytes, DirectReads& direct,
                          std::span<std::byte> scratch) {
    for (std::int64_t at = 0; at < bytes;) {
        const std::int64_t before = direct.moved();
        const std::int64_t got = reader_.read(file, direct, &guess_, at, scratch);
        expects(got > 0, "the file is as long as it was");
        const std::int64_t copied = got - (direct.moved() - before);
        ports_.imagined->copied({copied, 1});
        at += got;
    }
}

}  // namespace forebay::sim
