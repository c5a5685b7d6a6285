// This uses only what <bits/types/struct_FILE.h> shows of libc's FILE, and the words behind it: the
// table of functions that every stream has, and, in streams that fopencookie makes, the cookie and
// the functions that it was given, mangled in the same way in the whole process. The cookie shows,
// each time, that they are there.
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

// All streams have one.
const void* table_of(const FILE* stream) noexcept { return whole(stream).table; }

// The cookie of a stream of ours is its model: the stream that libc made for the same descriptor,
// and which nobody uses. Whose model it is: kept where libc keeps the buffer that it takes away
// from a stream at the end of a process. The model is unbuffered, and libc takes nothing from it.
FILE* stream_of(const void* model) noexcept {
    return static_cast<FILE*>(static_cast<const FILE*>(model)->_freeres_buf);
}

// The stream's, which a program may have changed.
int descriptor_of(const void* model) noexcept { return stream_of(model)->_fileno; }

// -- what libc calls -----------------------------------------------------------------------------

ssize_t read_by(void* model, char* to, std::size_t bytes) noexcept {
    return captured::read(descriptor_of(model), to, bytes);
}

// As libc's streams do: all of it, until a write fails. Returns the bytes written, without a sign
// of failure: libc sees the failure from fewer bytes. The offset that it may know of the file goes
// on: libc itself does not see to that in a stream of fopencookie, and fseek from where it stands
// would then go to a wrong place.
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

// The buffer that libc would take when it first needs one, of a size that it chooses: a stream of
// fopencookie would take another.
bool buffered(FILE* model) noexcept { return ::setvbuf(model, nullptr, _IOFBF, 0) == 0; }

// Whether libc calls our functions for it.
bool calls_ours(const CookieStream& stream) noexcept {
    const PooledStreams& streams = state.streams;
    for (std::size_t i = 0; i < stream.calls.size(); ++i) {
        if (stream.calls[i] != streams.calls[i].load(relaxed)) {
            return false;
        }
    }
    return stream.table == streams.table.load(std::memory_order_acquire);
}

// Checks the stream that libc has made of a model: false where it is not as we know it. The first
// stream of ours shows how libc makes all of them; two threads may both make a first one, without
// harm.
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

// The model's buffer, with none left there.
void take_buffer(FILE& stream, FILE* model) noexcept {
    stream._IO_buf_base = std::exchange(model->_IO_buf_base, nullptr);
    stream._IO_buf_end = std::exchange(model->_IO_buf_end, nullptr);
    ::setvbuf(model, nullptr, _IONBF, 0);
}

// Takes the model over. Null where libc is not as we know it, or has no memory.
FILE* like(FILE* model, const char* mode) noexcept {
    FILE* const stream = buffered(model) ? made_with(model, mode) : nullptr;
    if (stream == nullptr) {
        close_model(model);
        return nullptr;
    }
    model->_freeres_buf = stream;
    if (!is_as_known(whole(stream), model)) {
        real::fclose(stream);  // it has no descriptor yet
        return nullptr;
    }
    stream->_fileno = model->_fileno;
    take_buffer(*stream, model);
    stream->_wide_data = model->_wide_data;
    stream->_mode = model->_mode;
    // The usual streams take their lock only where there are threads; those of fopencookie always.
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

// flockfile has the stream take its lock each time from then on, which a process of one thread does
// without: that is undone.
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
