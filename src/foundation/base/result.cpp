// The table from errno to error classes, and the advice that follows each error message.
#include "foundation/base/result.hpp"

#include <cerrno>
#include <fmt/format.h>
#include <system_error>

namespace forebay {

ErrorCode error_code_of(int system) noexcept {
    switch (system) {
        case ENOSPC: return ErrorCode::no_space;
        case EDQUOT: return ErrorCode::quota;
        case EROFS: return ErrorCode::read_only;
        case ENOENT: return ErrorCode::no_such_file;
        case EACCES:
        case EPERM: return ErrorCode::access;
        default: return ErrorCode::input_output;
    }
}

std::string_view advice_on(ErrorCode code) noexcept {
    switch (code) {
        case ErrorCode::no_space: return "Free space there or write to another directory.";
        case ErrorCode::quota: return "Remove files or ask for a larger quota.";
        case ErrorCode::read_only: return "Write to a directory that is mounted read-write.";
        case ErrorCode::no_such_file: return "Check the path; it may have been removed or renamed.";
        case ErrorCode::access: return "Check the owner and mode of the file and its directory.";
        default: return "Look at the file system's own log for the cause.";
    }
}

namespace {

// Advice for errnos that do not have a class of their own.
std::string_view advice_on_system(int system) noexcept {
    switch (system) {
        case EFBIG: return "Write less into one file, or to a file system that has larger ones.";
        case EISDIR: return "Name a file, not a directory.";
        case ENOTDIR: return "Check the path; a part of it is no directory.";
        default: return advice_on(error_code_of(system));
    }
}

}  // namespace

Error system_error(int system, std::string_view doing) {
    const ErrorCode code = error_code_of(system);
    return Error{code, system,
                 fmt::format("cannot {} ({}). {}", doing, std::generic_category().message(system),
                             advice_on_system(system))};
}

}  // namespace forebay
