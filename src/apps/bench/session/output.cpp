// See output.hpp.
#include "apps/bench/session/output.hpp"

#include <cerrno>
#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <unistd.h>

namespace forebay::bench {

void print(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
}

measure::ExitStatus complain(const std::string& message, measure::ExitStatus status) {
    std::fputs(fmt::format("forebay: {}\n", message).c_str(), stderr);
    std::fflush(stderr);
    return status;
}

Result<void> write_text(const std::string& path, const std::string& text) {
    if (path.empty()) {
        return {};
    }
    if (path == "-") {
        print(text);
        return {};
    }
    const std::string beside = fmt::format("{}.{}", path, ::getpid());
    std::FILE* const file = std::fopen(beside.c_str(), "we");
    if (file == nullptr) {
        return failure(system_error(errno, "write " + path));
    }
    const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    const bool closed = std::fclose(file) == 0;
    if (!written || !closed || std::rename(beside.c_str(), path.c_str()) != 0) {
        const int error = errno;
        ::unlink(beside.c_str());
        return failure(system_error(error, "write " + path));
    }
    return {};
}

}  // namespace forebay::bench
