// C streams (FILE) over pooled files. libc's own streams make system calls internally, past the
// capture. So a captured descriptor gets a stream of fopencookie(3), whose callbacks are the
// captured calls, and which is made to look like libc's own: descriptor, buffer, no orientation
// yet. For operations that such a stream cannot do (wide characters, freopen), the program's FILE
// is turned into a stream of libc's.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdio>

namespace forebay::capture {

// State of the process: fixed tables of atomics.
class PooledStreams {
public:
    static constexpr std::size_t streams_max = 64;
    static constexpr std::size_t calls_count = 4;  // read, write, seek, close

    constexpr PooledStreams() noexcept = default;
    PooledStreams(const PooledStreams&) = delete;
    PooledStreams& operator=(const PooledStreams&) = delete;
    ~PooledStreams() = default;

    // The table of functions (vtable) by which libc recognises fopencookie streams; null until one
    // is made.
    std::atomic<const void*> table;
    // Our callbacks as libc stores them in a stream (mangled); written before `table` is.
    std::array<std::atomic<const void*>, calls_count> calls{};
    // libc's fopencookie; null until it is looked up.
    std::atomic<void*> maker;

    // Remembers that the stream `turned` uses parts of `model` from now on. If the table is full,
    // the model is never closed.
    void add(FILE* turned, FILE* model) noexcept;
    // Forgets the stream. Returns its model, to be closed after the stream; null if there is none.
    [[nodiscard]] FILE* remove(const FILE* turned) noexcept;

private:
    struct Turned {
        std::atomic<const FILE*> stream;
        std::atomic<FILE*> model;
    };
    std::array<Turned, streams_max> all_{};
    std::atomic<std::size_t> count_{0};
};

// RAII guard: holds the stream's lock as libc's functions do, unless the caller does the locking
// (__fsetlocking). The thread cannot be cancelled meanwhile: cancellation would skip this
// destructor and leave the lock taken.
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

// Makes a stream for the captured descriptor; `mode` is r or w, maybe with +. Returns null and
// errno as fdopen does, with `fd` still open. If no pooled stream can be made, the file leaves the
// pool, and the stream is libc's.
[[nodiscard]] FILE* stream_over(int fd, const char* mode) noexcept;
// Whether the stream is one of ours, whose bytes go through the pool.
[[nodiscard]] bool is_pooled(const FILE* stream) noexcept;
// Turns the FILE, with what is in its buffer, into a stream of libc's. The caller makes the file
// leave the pool.
void make_plain(FILE* stream) noexcept;
// Closes the model of a turned stream after the stream itself; null: there is none.
void close_model(FILE* model) noexcept;

}  // namespace forebay::capture
