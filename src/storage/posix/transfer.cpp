// Each system call covers one run without gaps: holes between pieces are never written.
#include "storage/posix/transfer.hpp"

#include "foundation/kernel/calls.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

namespace forebay::adapters {

namespace {

constexpr std::size_t vector_max = 64;  // pieces (iovec entries) of one pwritev

ssize_t move_one(int fd, IoDirection direction, const ports::Piece& piece) noexcept {
    return direction == IoDirection::write
               ? kernel::pwrite(fd, piece.bytes.data(), piece.bytes.size(), piece.at.bytes())
               : kernel::pread(fd, piece.bytes.data(), piece.bytes.size(), piece.at.bytes());
}

ssize_t move_many(int fd, IoDirection direction, std::span<const ports::Piece> pieces) noexcept {
    std::array<iovec, vector_max> vectors;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        vectors[i] = {pieces[i].bytes.data(), pieces[i].bytes.size()};
    }
    const auto count = static_cast<int>(pieces.size());
    const off_t at = pieces.front().at.bytes();
    return direction == IoDirection::write ? kernel::pwritev(fd, vectors.data(), count, at)
                                           : kernel::preadv(fd, vectors.data(), count, at);
}

}  // namespace

PieceRun run_from(std::span<const ports::Piece> pieces, std::size_t first,
                  std::size_t pieces_max) noexcept {
    PieceRun run{first, first + 1, pieces[first].bytes.size()};
    while (run.last < pieces.size() && run.last - first < pieces_max) {
        const ports::Piece& before = pieces[run.last - 1];
        const auto size = static_cast<std::int64_t>(before.bytes.size());
        if (before.at.bytes() + size != pieces[run.last].at.bytes()) {
            break;
        }
        run.bytes += pieces[run.last++].bytes.size();
    }
    return run;
}

ports::RequestCompletion transfer(int fd, const ports::Request& request) noexcept {
    std::int64_t total = 0;
    for (std::size_t first = 0; first < request.pieces.size();) {
        const PieceRun run = run_from(request.pieces, first, vector_max);
        const ssize_t moved =
            run.last - run.first == 1
                ? move_one(fd, request.direction, request.pieces[first])
                : move_many(fd, request.direction,
                            request.pieces.subspan(run.first, run.last - run.first));
        if (moved < 0) {
            return {request.ticket, Length{total}, errno};
        }
        total += moved;
        if (static_cast<std::size_t>(moved) < run.bytes) {
            break;
        }
        first = run.last;
    }
    return {request.ticket, Length{total}, 0};
}

ports::RequestCompletion write_out(int fd, const ports::Request& request) noexcept {
    const ports::RequestCompletion moved = transfer(fd, request);
    if (request.direction != IoDirection::write || moved.bytes.bytes() == 0) {
        return moved;
    }
    constexpr unsigned whole =
        SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
    const off_t begin = request.pieces.front().at.bytes();
    const ports::Piece& last = request.pieces.back();
    const off_t end = last.at.bytes() + static_cast<off_t>(last.bytes.size());
    const bool failed = kernel::sync_file_range(fd, begin, end - begin, whole) != 0;
    if (failed && (errno == EIO || errno == ENOSPC || errno == EDQUOT)) {
        return {request.ticket, Length{0}, errno};
    }
    return moved;
}

}  // namespace forebay::adapters
