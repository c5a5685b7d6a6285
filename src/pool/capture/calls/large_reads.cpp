// fread of at least a buffer. libc's own streams read such bytes straight into the caller's memory,
// a stream of fopencookie buffer by buffer. So for pooled streams it is done here, as libc does it:
// whole buffers in one read, and also after an end of file was seen, since the file may have grown.
#include "capture/captured.hpp"
#include "capture/real.hpp"
#include "foundation/kernel/older_libc.hpp"
#include "pool/capture/streams/pooled_stream.hpp"

#include <cstdio>
#include <optional>

namespace forebay::capture {

namespace {

std::size_t buffer_of(const FILE& stream) noexcept {
    return static_cast<std::size_t>(stream._IO_buf_end - stream._IO_buf_base);
}

std::size_t ready_in(const FILE& stream) noexcept {
    return static_cast<std::size_t>(stream._IO_read_end - stream._IO_read_ptr);
}

// Bytes that were pushed back (ungetc) lie in another buffer; then the read pointer does, too.
bool was_pushed_back(const FILE& stream) noexcept {
    const char* const at = stream._IO_read_ptr;
    return at != nullptr && (at < stream._IO_buf_base || at > stream._IO_buf_end);
}

// Empties the buffer; bytes written and not flushed are lost, as in libc.
void forget_buffer(FILE& stream) noexcept {
    char* const begin = stream._IO_buf_base;
    stream._IO_read_base = stream._IO_read_ptr = stream._IO_read_end = begin;
    stream._IO_write_base = stream._IO_write_ptr = stream._IO_write_end = begin;
}

// Returns bytes read: fewer than whole buffers at the end of the file, or after an error.
std::size_t read_whole_buffers(FILE& stream, char* to, std::size_t want) noexcept {
    constexpr std::size_t least = 128;  // libc's limit, below which it reads any number of bytes
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

// Bytes wanted; nullopt if libc's fread is to do it.
std::optional<std::size_t> large(const FILE* stream, std::size_t size, std::size_t count) noexcept {
    std::size_t bytes = 0;
    if (!is_pooled(stream) || __builtin_mul_overflow(size, count, &bytes) || bytes == 0 ||
        bytes < buffer_of(*stream)) {
        return std::nullopt;
    }
    return bytes;
}

bool fits(std::size_t size, std::size_t count, std::size_t room) noexcept {
    std::size_t bytes = 0;
    return !__builtin_mul_overflow(size, count, &bytes) && bytes <= room;
}

}  // namespace

namespace captured {

std::size_t fread(void* to, std::size_t size, std::size_t count, FILE* stream) noexcept {
    if (!large(stream, size, count)) [[likely]] {
        return real::fread(to, size, count, stream);
    }
    kernel::test_cancel();  // a cancellation point, as libc's fread is
    const StreamLock locked{*stream};
    // Again: another thread may have turned the stream into libc's.
    const std::optional<std::size_t> bytes = large(stream, size, count);
    return bytes ? take(*stream, static_cast<char*>(to), *bytes) / size
                 : real::fread(to, size, count, stream);
}

std::size_t fread_unlocked(void* to, std::size_t size, std::size_t count, FILE* stream) noexcept {
    const std::optional<std::size_t> bytes = large(stream, size, count);
    return bytes ? take(*stream, static_cast<char*>(to), *bytes) / size
                 : real::fread_unlocked(to, size, count, stream);
}

// With _FORTIFY_SOURCE, libc aborts a program that reads more than its buffer holds.
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

}  // namespace forebay::capture
