// Relies on <bits/types/struct_FILE.h>, and on the words after it in libc's streams: the table of
// functions (vtable), and in streams of fopencookie the cookie and the callbacks, mangled with one
// key in the whole process. Each use checks by the cookie that these words are where they are
// expected.
#include "pool/capture/streams/pooled_stream.hpp"

#include "capture/captured.hpp"
#include "capture/real.hpp"
#include "foundation/base/atomics.hpp"
#include "pool/capture/files/files.hpp"
#include "pool/capture/processes/process.hpp"

#include <cerrno>
#include <pthread.h>
#include <utility>

namespace forebay::capture {

namespace {

struct CookieStream {
    FILE file;
    const void* table;
    void* cookie;
    std::array<const void*, PooledStreams::calls_count> calls;
};

CookieStream& whole(FILE* stream) noexcept { return *reinterpret_cast<CookieStream*>(stream); }
const CookieStream& whole(const FILE* stream) noexcept {
    return *reinterpret_cast<const CookieStream*>(stream);
}

// Every stream has a table of functions.
const void* table_of(const FILE* stream) noexcept { return whole(stream).table; }

// The cookie of a pooled stream is its model: a stream that libc made for the same descriptor, and
// that nobody uses. The model's `_freeres_buf` points to the pooled stream: libc keeps there the
// buffer that it frees at the end of the process, and an unbuffered stream, as the model is, has
// none.
FILE* stream_of(const void* model) noexcept {
    return static_cast<FILE*>(static_cast<const FILE*>(model)->_freeres_buf);
}

// The stream's descriptor, which the program may have changed.
int descriptor_of(const void* model) noexcept { return stream_of(model)->_fileno; }

// -- what libc calls -----------------------------------------------------------------------------

ssize_t read_by(void* model, char* to, std::size_t bytes) noexcept {
    return captured::read(descriptor_of(model), to, bytes);
}

// Writes all bytes unless a write fails, as libc's streams do. Returns the bytes written, never -1:
// libc recognises a failure by fewer bytes. Also advances the offset that libc has cached, which
// libc does not do in a fopencookie stream; fseek relative to it would then go to a wrong place.
ssize_t write_by(void* model, const char* from, std::size_t bytes) noexcept {
    std::size_t done = 0;
    while (done < bytes) {
        const ssize_t moved = captured::write(descriptor_of(model), from + done, bytes - done);
        if (moved < 0) {
            break;
        }
        done += static_cast<std::size_t>(moved);
    }
    FILE* const stream = stream_of(model);
    if (stream->_offset >= 0) {
        stream->_offset += static_cast<off64_t>(done);
    }
    return static_cast<ssize_t>(done);
}

int seek_by(void* model, off64_t* at, int whence) noexcept {
    const off_t reached = captured::lseek(descriptor_of(model), *at, whence);
    if (reached < 0) {
        return -1;
    }
    *at = reached;
    return 0;
}

int close_by(void* model) noexcept {
    const int closed = captured::close(descriptor_of(model));
    close_model(static_cast<FILE*>(model));
    return closed;
}

// -- making one ----------------------------------------------------------------------------------

FILE* made_with(FILE* model, const char* mode) noexcept {
    using Make = FILE* (*)(void*, const char*, cookie_io_functions_t);
    void* maker = state.streams.maker.load(relaxed);
    if (maker == nullptr) {
        maker = real_function("fopencookie");
        state.streams.maker.store(maker, relaxed);
    }
    return maker == nullptr
               ? nullptr
               : reinterpret_cast<Make>(maker)(
                     model, mode,
                     {.read = read_by, .write = write_by, .seek = seek_by, .close = close_by});
}

// Allocates the model's buffer as libc would at the first use, and in the size that libc chooses
// for the file; a fopencookie stream would choose another.
bool buffered(FILE* model) noexcept { return ::setvbuf(model, nullptr, _IOFBF, 0) == 0; }

// Whether the stream's callbacks are ours.
bool calls_ours(const CookieStream& stream) noexcept {
    const PooledStreams& streams = state.streams;
    for (std::size_t i = 0; i < stream.calls.size(); ++i) {
        if (stream.calls[i] != streams.calls[i].load(relaxed)) {
            return false;
        }
    }
    return stream.table == streams.table.load(std::memory_order_acquire);
}

// Checks that libc laid out the stream as we expect. The first pooled stream shows how libc makes
// all of them; if two threads make a first one at the same time, both record the same.
bool is_as_known(const CookieStream& stream, const FILE* model) noexcept {
    if (stream.cookie != model || stream.table == nullptr || stream.table == table_of(model)) {
        return false;
    }
    PooledStreams& streams = state.streams;
    if (streams.table.load(std::memory_order_acquire) == nullptr) {
        for (std::size_t i = 0; i < stream.calls.size(); ++i) {
            streams.calls[i].store(stream.calls[i], relaxed);
        }
        streams.table.store(stream.table, std::memory_order_release);
    }
    return calls_ours(stream);
}

// Moves the model's buffer to the stream, and makes the model unbuffered.
void take_buffer(FILE& stream, FILE* model) noexcept {
    stream._IO_buf_base = std::exchange(model->_IO_buf_base, nullptr);
    stream._IO_buf_end = std::exchange(model->_IO_buf_end, nullptr);
    ::setvbuf(model, nullptr, _IONBF, 0);
}

// Makes a pooled stream over `model`, which it then owns. Returns null, with the model closed, if
// libc's layout is unknown or no memory is left.
FILE* like(FILE* model, const char* mode) noexcept {
    FILE* const stream = buffered(model) ? made_with(model, mode) : nullptr;
    if (stream == nullptr) {
        close_model(model);
        return nullptr;
    }
    model->_freeres_buf = stream;
    if (!is_as_known(whole(stream), model)) {
        real::fclose(stream);  // closes neither file nor descriptor: it has none yet
        return nullptr;
    }
    stream->_fileno = model->_fileno;
    take_buffer(*stream, model);
    stream->_wide_data = model->_wide_data;
    stream->_mode = model->_mode;
    // libc's own streams lock only if there are threads; those of fopencookie always.
    stream->_flags2 = model->_flags2;
    return stream;
}

}  // namespace

void PooledStreams::add(FILE* turned, FILE* model) noexcept {
    for (Turned& one : all_) {
        const FILE* nobody = nullptr;
        if (one.stream.compare_exchange_strong(nobody, turned, std::memory_order_acq_rel)) {
            one.model.store(model, std::memory_order_release);
            count_.fetch_add(1, std::memory_order_release);
            return;
        }
    }
}

FILE* PooledStreams::remove(const FILE* turned) noexcept {
    if (count_.load(std::memory_order_acquire) == 0) {
        return nullptr;
    }
    for (Turned& one : all_) {
        if (turned != nullptr && one.stream.load(std::memory_order_acquire) == turned) {
            FILE* const model = one.model.load(std::memory_order_acquire);
            one.stream.store(nullptr, std::memory_order_release);
            count_.fetch_sub(1, std::memory_order_release);
            return model;
        }
    }
    return nullptr;
}

StreamLock::StreamLock(FILE& stream) noexcept
    : stream_{stream}, locks_{(stream._flags & _IO_USER_LOCK) == 0} {
    ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling_);
    if (locks_) {
        const int before = stream._flags2;
        ::flockfile(&stream);
        added_ = stream._flags2 & ~before;
    }
}

// flockfile makes the stream take its lock in each later call, which a process with one thread does
// without: its flags are restored.
StreamLock::~StreamLock() {
    if (locks_) {
        stream_._flags2 &= ~added_;
        ::funlockfile(&stream_);
    }
    ::pthread_setcancelstate(cancelling_, nullptr);
}

FILE* stream_over(int fd, const char* mode) noexcept {
    FILE* const model = real::fdopen(fd, mode);
    FILE* const stream = model == nullptr ? nullptr : like(model, mode);
    if (model == nullptr || stream != nullptr) {
        return stream;
    }
    const int error = leave_if_captured(fd, pool::ThroughReason::stream);
    if (error != 0) {
        errno = error;
        return nullptr;
    }
    return real::fdopen(fd, mode);
}

bool is_pooled(const FILE* stream) noexcept {
    const void* const table = state.streams.table.load(std::memory_order_acquire);
    return table != nullptr && stream != nullptr && table_of(stream) == table &&
           calls_ours(whole(stream));
}

void make_plain(FILE* stream) noexcept {
    FILE* const model = static_cast<FILE*>(whole(stream).cookie);
    whole(stream).table = table_of(model);
    state.streams.add(stream, model);
}

void close_model(FILE* model) noexcept {
    if (model != nullptr) {
        const int before = errno;
        model->_fileno = -1;
        real::fclose(model);
        errno = before;
    }
}

}  // namespace forebay::capture
