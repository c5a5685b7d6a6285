// Wide characters: libc has no streams of fopencookie for them. The first one that a program asks
// of a stream of ours turns that stream into one of libc's; its file leaves the pool. A stream that
// was used for bytes before is left as it is: libc refuses wide characters on it.
#include "capture/captured.hpp"
#include "capture/real.hpp"
#include "entry/posix/files.hpp"
#include "entry/posix/pooled_stream.hpp"

#include <cerrno>
#include <cstdio>
#include <cwchar>

namespace forebay::entry {

namespace {

// 0 or an errno.
int left_to_libc(FILE* stream) noexcept {
    const int error = leave_if_captured(stream->_fileno, pool::Reason::stream);
    if (error == 0) {
        turn(stream);
    }
    return error;
}

// True: libc may have wide characters of it. Else with errno.
bool ready(FILE* stream) noexcept {
    if (!is_pooled(stream) || stream->_mode != 0) [[likely]] {
        return true;
    }
    const Locked locked{*stream};
    const bool still = is_pooled(stream) && stream->_mode == 0;
    const int error = still ? left_to_libc(stream) : 0;
    if (error != 0) {
        stream->_flags |= _IO_ERR_SEEN;
        errno = error;
    }
    return error == 0;
}

}  // namespace

namespace captured {

int fwide(FILE* stream, int orientation) noexcept {
    return orientation <= 0 || ready(stream) ? real::fwide(stream, orientation) : 0;
}

wint_t fputwc(wchar_t one, FILE* stream) noexcept {
    return ready(stream) ? real::fputwc(one, stream) : WEOF;
}

wint_t fputwc_unlocked(wchar_t one, FILE* stream) noexcept {
    return ready(stream) ? real::fputwc_unlocked(one, stream) : WEOF;
}

int fputws(const wchar_t* all, FILE* stream) noexcept {
    return ready(stream) ? real::fputws(all, stream) : EOF;
}

int fputws_unlocked(const wchar_t* all, FILE* stream) noexcept {
    return ready(stream) ? real::fputws_unlocked(all, stream) : EOF;
}

wint_t fgetwc(FILE* stream) noexcept { return ready(stream) ? real::fgetwc(stream) : WEOF; }

wint_t fgetwc_unlocked(FILE* stream) noexcept {
    return ready(stream) ? real::fgetwc_unlocked(stream) : WEOF;
}

wchar_t* fgetws(wchar_t* to, int count, FILE* stream) noexcept {
    return ready(stream) ? real::fgetws(to, count, stream) : nullptr;
}

wchar_t* fgetws_unlocked(wchar_t* to, int count, FILE* stream) noexcept {
    return ready(stream) ? real::fgetws_unlocked(to, count, stream) : nullptr;
}

wchar_t* fgetws_chk(wchar_t* to, size_t room, int count, FILE* stream) noexcept {
    return ready(stream) ? real::fgetws_chk(to, room, count, stream) : nullptr;
}

wchar_t* fgetws_unlocked_chk(wchar_t* to, size_t room, int count, FILE* stream) noexcept {
    return ready(stream) ? real::fgetws_unlocked_chk(to, room, count, stream) : nullptr;
}

wint_t ungetwc(wint_t one, FILE* stream) noexcept {
    return ready(stream) ? real::ungetwc(one, stream) : WEOF;
}

int fwprintf(FILE* stream, const wchar_t* format, va_list rest) noexcept {
    return captured::vfwprintf(stream, format, rest);
}

int vfwprintf(FILE* stream, const wchar_t* format, va_list rest) noexcept {
    return ready(stream) ? real::vfwprintf(stream, format, rest) : -1;
}

int fwprintf_chk(FILE* stream, int checks, const wchar_t* format, va_list rest) noexcept {
    return captured::vfwprintf_chk(stream, checks, format, rest);
}

int vfwprintf_chk(FILE* stream, int checks, const wchar_t* format, va_list rest) noexcept {
    return ready(stream) ? real::vfwprintf_chk(stream, checks, format, rest) : -1;
}

int fwscanf(FILE* stream, const wchar_t* format, va_list rest) noexcept {
    return captured::vfwscanf(stream, format, rest);
}

int vfwscanf(FILE* stream, const wchar_t* format, va_list rest) noexcept {
    return ready(stream) ? real::vfwscanf(stream, format, rest) : EOF;
}

int fwscanf_99(FILE* stream, const wchar_t* format, va_list rest) noexcept {
    return captured::vfwscanf_99(stream, format, rest);
}

int vfwscanf_99(FILE* stream, const wchar_t* format, va_list rest) noexcept {
    return ready(stream) ? real::vfwscanf_99(stream, format, rest) : EOF;
}

int fwscanf_23(FILE* stream, const wchar_t* format, va_list rest) noexcept {
    return captured::vfwscanf_23(stream, format, rest);
}

int vfwscanf_23(FILE* stream, const wchar_t* format, va_list rest) noexcept {
    return ready(stream) ? real::vfwscanf_23(stream, format, rest) : EOF;
}

// -- of the standard streams ---------------------------------------------------------------------

wint_t putwchar(wchar_t one) noexcept { return ready(::stdout) ? real::putwchar(one) : WEOF; }

wint_t putwchar_unlocked(wchar_t one) noexcept {
    return ready(::stdout) ? real::putwchar_unlocked(one) : WEOF;
}

wint_t getwchar() noexcept { return ready(::stdin) ? real::getwchar() : WEOF; }

wint_t getwchar_unlocked() noexcept { return ready(::stdin) ? real::getwchar_unlocked() : WEOF; }

int wprintf(const wchar_t* format, va_list rest) noexcept {
    return captured::vwprintf(format, rest);
}

int vwprintf(const wchar_t* format, va_list rest) noexcept {
    return ready(::stdout) ? real::vwprintf(format, rest) : -1;
}

int wprintf_chk(int checks, const wchar_t* format, va_list rest) noexcept {
    return captured::vwprintf_chk(checks, format, rest);
}

int vwprintf_chk(int checks, const wchar_t* format, va_list rest) noexcept {
    return ready(::stdout) ? real::vwprintf_chk(checks, format, rest) : -1;
}

int wscanf(const wchar_t* format, va_list rest) noexcept { return captured::vwscanf(format, rest); }

int vwscanf(const wchar_t* format, va_list rest) noexcept {
    return ready(::stdin) ? real::vwscanf(format, rest) : EOF;
}

int wscanf_99(const wchar_t* format, va_list rest) noexcept {
    return captured::vwscanf_99(format, rest);
}

int vwscanf_99(const wchar_t* format, va_list rest) noexcept {
    return ready(::stdin) ? real::vwscanf_99(format, rest) : EOF;
}

int wscanf_23(const wchar_t* format, va_list rest) noexcept {
    return captured::vwscanf_23(format, rest);
}

int vwscanf_23(const wchar_t* format, va_list rest) noexcept {
    return ready(::stdin) ? real::vwscanf_23(format, rest) : EOF;
}

}  // namespace captured

}  // namespace forebay::entry
