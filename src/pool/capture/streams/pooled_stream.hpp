// C streams whose bytes go through the pool. libc's own streams make their system calls inside of
// libc, where nobody sees it. So a captured descriptor gets a stream of fopencookie(3), which asks
// the captured calls instead, and is made to look like the one that libc would have made: with its
// descriptor, its buffer, and no orientation yet. libc does what such a stream cannot (wide
// characters, freopen): the FILE that the program has is then turned into a stream of libc's.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdio>

namespace forebay::capture {

// Belongs to the process; fixed tables of atomics.
class PooledStreams {
public:
    static constexpr std::size_t turned_max = 64;
    static constexpr std::size_t calls_count = 4;  // read, write, seek, close

    constexpr PooledStreams() noexcept = default;
    PooledStreams(const PooledStreams&) = delete;
    PooledStreams& operator=(const PooledStreams&) = delete;
    ~PooledStreams() = default;

    // By which libc knows all streams of fopencookie; null until there is one of ours.
    std::atomic<const void*> table;
    // Our functions, as libc keeps them in a stream of ours; there before the table is.
    std::array<std::atomic<const void*>, calls_count> calls{};
    // libc's fopencookie; looked for once.
    std::atomic<void*> maker;

    // A stream that was turned, and the one whose parts it uses from then on. Where there is no
    // room, the latter stays until the end.
    void add(FILE* turned, FILE* model) noexcept;
    // The model to be closed behind the stream; null: none.
    [[nodiscard]] FILE* remove(const FILE* turned) noexcept;

private:
    struct Turned {
        std::atomic<const FILE*> stream;
        std::atomic<FILE*> model;
    };
    std::array<Turned, turned_max> all_{};
    std::atomic<std::size_t> count_{0};
};

// Holds a stream's lock, as libc's functions on it do: not where callers do so (__fsetlocking).
// Meanwhile the thread is not cancelled: a cancelled one runs no destructors of ours, and the lock
// would stay taken.
class StreamLock {
public:
    explicit StreamLock(FILE& stream) noexcept;
    StreamLock(const StreamLock&) = delete;
    StreamLock& operator=(const StreamLock&) = delete;
    ~StreamLock();

private:
    FILE& stream_;
    bool locks_;
    int added_ = 0;  // flags that flockfile sets
    int cancelling_ = 0;
};

// A stream for a captured descriptor. `mode` is r or w, maybe with +. Null and errno as of fdopen;
// the descriptor is open then. Where there is none of ours to be had, the file leaves the pool, and
// the stream is libc's.
[[nodiscard]] FILE* stream_over(int fd, const char* mode) noexcept;
[[nodiscard]] bool is_pooled(const FILE* stream) noexcept;
// The same FILE, with what is in its buffer, is a stream of libc's from now on. The caller sees to
// its file.
void make_plain(FILE* stream) noexcept;
// Closes the model that a turned stream used, once the stream is closed; null: there is none.
void close_model(FILE* model) noexcept;

}  // namespace forebay::capture
