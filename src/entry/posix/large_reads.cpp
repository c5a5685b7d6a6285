// fread of a buffer or more: libc's own streams read it to where it is wanted, a stream of
// fopencookie buffer by buffer. So what a stream of ours is asked for is read here, as libc would:
// whole buffers at once, also behind an end of file that was seen before (the file may have grown).
#include "capture/captured.hpp"
#include "capture/real.hpp"
#include "entry/posix/pooled_stream.hpp"

#include <cstdio>

namespace forebay::entry {

namespace {

std::size_t buffer_of(const FILE& stream) noexcept {
    return static_cast<std::size_t>(stream._IO_buf_end - stream._IO_buf_base);
}

std::size_t ready_in(const FILE& stream) noexcept {
    return static_cast<std::size_t>(stream._IO_read_end - stream._IO_read_ptr);
}

// What was pushed back (ungetc) lies elsewhere, and the buffer behind it.
bool was_pushed_back(const FILE& stream) noexcept {
    const char* const at = stream._IO_read_ptr;
    return at != nullptr && (at < stream._IO_buf_base || at > stream._IO_buf_end);
}

// The buffer is empty from now on; what was written and not flushed is lost, as in libc.
void forget_buffer(FILE& stream) noexcept {
    char* const begin = stream._IO_buf_base;
    stream._IO_read_base = stream._IO_read_ptr = stream._IO_read_end = begin;
    stream._IO_write_base = stream._IO_write_ptr = stream._IO_write_end = begin;
}

// Bytes that were read: fewer than whole buffers where the file ends, or with an error.
std::size_t read_whole_buffers(FILE& stream, char* to, std::size_t want) noexcept {
    constexpr std::size_t least = 128;  // libc's: smaller ones are none worth to be kept whole
    const std::size_t whole = buffer_of(stream);
    forget_buffer(stream);
    const ssize_t got =
        captured::read(stream._fileno, to, want - (whole >= least ? want % whole : 0));
    if (got <= 0) {
        stream._flags |= got == 0 ? _IO_EOF_SEEN : _IO_ERR_SEEN;
        return 0;
    }
    if (stream._offset >= 0) {
        stream._offset += got;
    }
    return static_cast<std::size_t>(got);
}

std::size_t take(FILE& stream, char* to, std::size_t want) noexcept {
    std::size_t done = 0;
    while (done < want) {
        const std::size_t left = want - done;
        const std::size_t ready = ready_in(stream);
        std::size_t got = 0;
        if (ready > 0) {
            got = real::fread_unlocked(to + done, 1, ready < left ? ready : left, &stream);
        } else if (was_pushed_back(stream)) {
            got = real::fread_unlocked(to + done, 1, 1, &stream);
        } else if (left < buffer_of(stream)) {
            return done + real::fread_unlocked(to + done, 1, left, &stream);
        } else {
            got = read_whole_buffers(stream, to + done, left);
        }
        if (got == 0) {
            break;
        }
        done += got;
    }
    return done;
}

// Whether it is ours to do. `bytes`: all that is wanted.
bool is_large(const FILE* stream, std::size_t size, std::size_t count,
              std::size_t& bytes) noexcept {
    return is_pooled(stream) && !__builtin_mul_overflow(size, count, &bytes) && bytes > 0 &&
           bytes >= buffer_of(*stream);
}

std::size_t items(std::size_t got, std::size_t bytes, std::size_t size,
                  std::size_t count) noexcept {
    return got == bytes ? count : got / size;
}

bool fits(std::size_t size, std::size_t count, std::size_t room) noexcept {
    std::size_t bytes = 0;
    return !__builtin_mul_overflow(size, count, &bytes) && bytes <= room;
}

}  // namespace

namespace captured {

std::size_t fread(void* to, std::size_t size, std::size_t count, FILE* stream) noexcept {
    std::size_t bytes = 0;
    if (!is_large(stream, size, count, bytes)) [[likely]] {
        return real::fread(to, size, count, stream);
    }
    const Locked locked{*stream};
    return items(take(*stream, static_cast<char*>(to), bytes), bytes, size, count);
}

std::size_t fread_unlocked(void* to, std::size_t size, std::size_t count, FILE* stream) noexcept {
    std::size_t bytes = 0;
    if (!is_large(stream, size, count, bytes)) [[likely]] {
        return real::fread_unlocked(to, size, count, stream);
    }
    return items(take(*stream, static_cast<char*>(to), bytes), bytes, size, count);
}

// libc ends a program that reads more than it has room for.
std::size_t fread_chk(void* to, std::size_t room, std::size_t size, std::size_t count,
                      FILE* stream) noexcept {
    return fits(size, count, room) ? captured::fread(to, size, count, stream)
                                   : real::fread_chk(to, room, size, count, stream);
}

std::size_t fread_unlocked_chk(void* to, std::size_t room, std::size_t size, std::size_t count,
                               FILE* stream) noexcept {
    return fits(size, count, room) ? captured::fread_unlocked(to, size, count, stream)
                                   : real::fread_unlocked_chk(to, room, size, count, stream);
}

}  // namespace captured

}  // namespace forebay::entry
